"""HTTP connections that end: uvicorn's protocol with a bound on waiting for a request.

What uvicorn answers by itself, before the application hears of a request, is a problem detail too.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Final, cast

import h11
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http import h11_impl
from uvicorn.protocols.http.h11_impl import H11Protocol

from schemas.errors import GatewayBusy
from schemas.http import problem, problem_of
from schemas.request_context import HEADER, answering, request_id_of

IDLE_SECONDS_MAX: Final = 10.0
"""How long a connection may keep the server waiting: while the head of a request is sent, or the
rest of a body that was refused, or while nothing is fetched of an answer."""

CONNECTIONS_MAX: Final = 1_024
"""The most connections at one time; whoever comes then is answered with 503. Each may hold 64 KiB
of a body that nobody has read yet."""

HEAD_BYTES_MAX: Final = 65_536
"""From how many bytes on the head of a request is refused whose end has not come."""


async def _too_many_connections(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request for which there is no connection left."""
    with answering(request_id_of(None)) as context:
        refusal: Response = problem_of(
            GatewayBusy("there are as many connections as can be served: try again in a second")
        )
        refusal.headers["Connection"] = "close"
        refusal.headers[HEADER] = context.request_id
        await refusal(scope, receive, send)


# uvicorn takes this application in place of ours, by its name in that module.
setattr(h11_impl, "service_unavailable", _too_many_connections)  # noqa: B010 - it declares no type


class BoundedProtocol(H11Protocol):
    """Ends connections that keep the server waiting.

    uvicorn's own timer runs between two requests only, and ends with the first byte: a head that
    never is complete, a body that goes on after its refusal, or an answer that nobody fetches would
    hold a connection for ever.
    """

    idle_seconds_max: float = IDLE_SECONDS_MAX
    _idle: asyncio.TimerHandle | None = None
    _unfetched: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn does
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Take in a part of a request."""
        super().data_received(data)
        self._watch()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002 - uvicorn's own signature
        """Refuse what is no HTTP request: nothing of it can be named."""
        with answering(request_id_of(None)) as context:
            refusal = problem(
                HTTPStatus.BAD_REQUEST,
                HTTPStatus.BAD_REQUEST.phrase,
                "this is no HTTP request: send one as RFC 9112 describes it",
                headers={"Connection": "close", HEADER: context.request_id},
                code="bad_request",
            )
        event = h11.Response(
            status_code=refusal.status_code,
            headers=refusal.raw_headers,
            reason=HTTPStatus.BAD_REQUEST.phrase.encode(),
        )
        for part in (event, h11.Data(data=bytes(refusal.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """Begin to wait for the next request."""
        super().on_response_complete()
        self._watch()

    def pause_writing(self) -> None:
        """Begin to wait for the answer to be fetched, also while a request is in work."""
        super().pause_writing()
        self._watch()

    def resume_writing(self) -> None:
        """Note that the answer was fetched, but for a little."""
        super().resume_writing()
        self._stop_watching()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._stop_watching()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if not self._waits_for_client():
            self._stop_watching()
        elif self._idle is None:
            self._unfetched = self.transport.get_write_buffer_size()
            self._idle = self.loop.call_later(self.idle_seconds_max, self._on_idle)

    def _waits_for_client(self) -> bool:
        if self.flow.write_paused or self.transport.is_closing():
            # The answer to a request in work cannot go on; one that closes goes on until it ends.
            return self.transport.get_write_buffer_size() > 0
        # uvicorn declares what is None before the first request as if it never were.
        cycle = cast("object | None", self.cycle)
        return cycle is None or self.cycle.response_complete

    def _stop_watching(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _on_idle(self) -> None:
        self._idle = None
        unfetched = self.transport.get_write_buffer_size()
        if 0 < unfetched < self._unfetched:
            self._watch()  # the answer is being fetched, if slowly
        else:
            self.transport.abort()
