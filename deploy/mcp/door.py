"""``/mcp`` at the gateway: the tools over streamable HTTP, for who shows a user token."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Final

import httpx
from mcp.server.auth.middleware.auth_context import AuthContextMiddleware, get_access_token
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from deploy.mcp.client import TIMEOUT_S, Caller, GatewayClient
from deploy.mcp.tools import memory_server
from deploy.processes.mcp_door import InProcessCalls
from deploy.processes.user_tokens import UserTokenHolders
from schemas.errors import InputTooLarge, MemledgerError
from schemas.http import bearer_token, problem_of
from schemas.user_tokens import Audience

PATH: Final = "/mcp"
REQUEST_BYTES_MAX: Final = 256 * 1024
"""The most bytes of one request: the longest fact with every character escaped, and its frame."""

_BASE_URL: Final = "http://gateway.invalid"  # RFC 6761: no such host; requests stay in the process


class McpDoor:
    """The MCP server over HTTP.

    A request is answered by itself: there is no session, so any gateway can answer any request, and
    the token is looked at each time. Whoever reaches it in a browser has no token that the browser
    would send along, so hosts and origins need not be compared.

    Args:
        app: the gateway's application, which answers what the tools ask.
        holders: tells who holds a user token.
        calls: lends what the application is shown.
        admit: counts a request of a tenant, or raises ``RateLimited``.
    """

    def __init__(
        self,
        app: ASGIApp,
        holders: UserTokenHolders,
        calls: InProcessCalls,
        admit: Callable[[str], None],
    ) -> None:
        self._holders = holders
        self._admit = admit
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app, raise_app_exceptions=False),
            base_url=_BASE_URL,
            timeout=TIMEOUT_S,
        )
        self._server = memory_server(GatewayClient(self._http), partial(_caller, calls))
        # Makes the session manager; its own application, which knows no user tokens, is not used.
        self._server.streamable_http_app(
            streamable_http_path=PATH,
            json_response=True,
            stateless_http=True,
            max_request_body_size=REQUEST_BYTES_MAX,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._answering = AuthContextMiddleware(self._server.session_manager.handle_request)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Be ready for requests until it is left."""
        async with self._http, self._server.session_manager.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            request = Request(scope)
            said = await self._holders.holder(token := bearer_token(request), Audience.MCP)
            self._admit(said.tenant)
            _require_small(request)
        except MemledgerError as error:
            await problem_of(error)(scope, receive, send)
            return
        access = AccessToken(token=token, client_id=said.tenant, subject=said.user_id, scopes=[])
        scope["user"] = AuthenticatedUser(access)
        await self._answering(scope, receive, send)


def _require_small(request: Request) -> None:
    """Refuse a body that says that it is too large; the SDK ends one that only is."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced[:20]) > REQUEST_BYTES_MAX:
        raise InputTooLarge(
            field="body", problem=f"has more than {REQUEST_BYTES_MAX} bytes", remedy="send less"
        )


def _caller(calls: InProcessCalls) -> Caller:
    """Return whose token the request that is being answered carries."""
    access = get_access_token()
    if access is None or access.subject is None:
        raise ToolError("memory is closed to this connection: it has to be connected anew")
    return Caller(user_id=access.subject, bearer=partial(calls.lend, access.client_id))
