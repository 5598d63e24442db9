"""How the gateway takes in the MCP server, whose package need not be installed."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module

from fastapi import FastAPI
from starlette.routing import Route

from deploy.processes.user_tokens import UserTokenHolders
from schemas.errors import ConfigurationError


class InProcessCalls:
    """Lends tokens for requests that the gateway makes of itself, each good until it is given back.

    They are 256 random bits, are in no store and leave the process in no message.
    """

    def __init__(self) -> None:
        self._tenants: dict[str, str] = {}

    @contextmanager
    def lend(self, tenant: str) -> Iterator[str]:
        """Lend a token of a tenant."""
        token = f"mli_{secrets.token_hex(32)}"
        self._tenants[token] = tenant
        try:
            yield token
        finally:
            del self._tenants[token]

    def tenant(self, token: str) -> str | None:
        """Return the tenant of a token that is lent now; ``None`` of any other."""
        return self._tenants.get(token)


def add_mcp_door(
    app: FastAPI,
    holders: UserTokenHolders,
    calls: InProcessCalls,
    admit: Callable[[str], None],
) -> None:
    """Serve the MCP server at ``/mcp`` of an application.

    Args:
        app: the gateway's application.
        holders: tells who holds a user token.
        calls: lends what the application is shown by the tools.
        admit: counts a request of a tenant, or raises ``RateLimited``.

    Raises:
        ConfigurationError: the extra that it needs is not installed.
    """
    try:
        door = import_module("deploy.mcp.door")
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"MEMLEDGER_MCP needs the package {error.name}, which cannot be imported: "
            'pip install "memledger[mcp]", or leave it out'
        ) from None
    app.state.mcp_door = door.McpDoor(app, holders, calls, admit)
    app.routes.append(Route(door.PATH, app.state.mcp_door))


@asynccontextmanager
async def running_doors(app: FastAPI) -> AsyncIterator[None]:
    """Keep the MCP server of an application ready until it is left, if it has one."""
    door = getattr(app.state, "mcp_door", None)
    if door is None:
        yield
        return
    async with door.running():
        yield
