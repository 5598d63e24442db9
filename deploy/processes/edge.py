"""The outermost layer of the gateway: each request has an id, and one meaning only."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from schemas.http import problem, unexpected_problem
from schemas.request_context import HEADER, RequestContext, answering, request_id_of

_LOGGER: Final = logging.getLogger(__name__)
_ID: Final = HEADER.lower().encode()


class RequestEdge:
    """Gives every request its id, in its answer as well, and refuses ambiguous ones.

    Two readers of one message must not understand two messages: with a length told in two ways the
    one in front may see another body than the gateway, with two keys another tenant.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = [value for name, value in scope["headers"] if name == _ID]
        told = sent[0].decode("latin-1") if len(sent) == 1 else None
        with answering(request_id_of(told)) as context:
            await self._answer(scope, receive, send, context)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, context: RequestContext
    ) -> None:
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers[HEADER] = context.request_id
                for name, value in context.headers.items():
                    headers[name] = value
                if scope["path"].startswith("/v1/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        ambiguous = _ambiguity(scope)
        if ambiguous is not None:
            refusal = problem(
                HTTPStatus.BAD_REQUEST,
                HTTPStatus.BAD_REQUEST.phrase,
                ambiguous,
                headers={"Connection": "close"},
                code="bad_request",
            )
            await refusal(scope, receive, sending)
            return
        try:
            await self._app(scope, receive, sending)
        except Exception as error:
            # The server logs it with its traceback; this line says which request it was.
            _LOGGER.error("the request failed by %s", type(error).__name__)  # noqa: TRY400 - as above
            if not started:
                await unexpected_problem()(scope, receive, sending)
            raise


def _ambiguity(scope: Scope) -> str | None:
    """Return why a request could be understood in two ways, or ``None``."""
    names = [name for name, _ in scope["headers"]]
    if b"content-length" in names and b"transfer-encoding" in names:
        return "the length of the body is told in two ways: send Content-Length alone"
    if names.count(b"authorization") > 1:
        return "there are several Authorization headers: send one"
    return None
