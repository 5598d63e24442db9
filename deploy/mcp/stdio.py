"""The MCP server over standard input and output, for one user."""

from __future__ import annotations

import httpx

from deploy.mcp.client import TIMEOUT_S, GatewayClient, caller_with_key
from deploy.mcp.tools import memory_server


async def serve(url: str, api_key: str, user_id: str) -> None:
    """Serve until standard input ends.

    Args:
        url: the gateway's.
        api_key: of the user's tenant.
        user_id: the user whom every tool is about.
    """
    caller = caller_with_key(user_id, api_key)
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S) as http:
        await memory_server(GatewayClient(http), lambda: caller).run_stdio_async()
