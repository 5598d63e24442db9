"""A connection that keeps the server waiting is ended, and one that works is not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import cast
from unittest.mock import Mock

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from deploy.processes.connections import BoundedProtocol
from deploy.processes.serving import serving

IDLE_S = 0.2
GET = b"GET / HTTP/1.1\r\nHost: test\r\n"


async def _slow(_: Request) -> Response:
    await asyncio.sleep(2 * IDLE_S)
    return PlainTextResponse("late")


async def _medium(_: Request) -> Response:
    return PlainTextResponse("a" * 60_000)


async def _large(_: Request) -> Response:
    return PlainTextResponse("a" * 20_000_000)


async def _unread(_: Request) -> Response:
    return PlainTextResponse("refused", status_code=413)


Act = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def _connected(
    sent: bytes,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    app = Starlette(
        routes=[
            Route("/", _slow),
            Route("/medium", _medium),
            Route("/large", _large),
            Route("/unread", _unread, methods=["POST"]),
        ]
    )
    async with serving(app, host="127.0.0.1", port=0, variable="MEMLEDGER_GATEWAY_PORT") as port:
        # Blocking, so that it is sent before the server, in this thread too, begins to wait for it.
        client = socket.create_connection(("127.0.0.1", port))
        client.sendall(sent)
        reader, writer = await asyncio.open_connection(sock=client, limit=2**16)
        try:
            yield reader, writer
        finally:
            writer.transport.abort()


def _play(monkeypatch: pytest.MonkeyPatch, act: Act, *, sent: bytes = b"") -> None:
    """Let a client act that has sent something before the server looks for the first time."""
    monkeypatch.setattr(BoundedProtocol, "idle_seconds_max", IDLE_S)

    async def play() -> None:
        async with asyncio.timeout(20), _connected(sent) as (reader, writer):
            await act(reader, writer)

    asyncio.run(play())


async def _ended(reader: asyncio.StreamReader) -> bool:
    """Wait until the server has ended the connection."""
    try:
        while await reader.read(65_536):
            pass
    except ConnectionResetError:
        pass
    return True


@pytest.mark.parametrize("head", [b"", b"G", GET, GET + b"X: "])
def test_a_head_that_never_is_complete_ends(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        assert await _ended(reader)

    _play(monkeypatch, act)


def test_a_head_that_comes_byte_by_byte_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async def trickle() -> None:
            writer.write(GET)
            while True:
                writer.write(b"X: 1\r\n")
                await asyncio.sleep(IDLE_S / 10)

        trickling = asyncio.create_task(trickle())
        assert await _ended(reader)
        trickling.cancel()
        await asyncio.wait([trickling])

    _play(monkeypatch, act)


def test_a_request_in_work_may_take_its_time_and_another_one_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    complete = BoundedProtocol.on_response_complete

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        following = [GET + b"\r\n"]

        def on_response_complete(connection: BoundedProtocol) -> None:
            complete(connection)
            # Sent at once: on a busy machine the reader may come to it too late.
            if following:
                writer.write(following.pop())

        monkeypatch.setattr(BoundedProtocol, "on_response_complete", on_response_complete)
        for _ in range(2):
            assert (await reader.readuntil(b"late")).startswith(b"HTTP/1.1 200")
        assert await _ended(reader)

    _play(monkeypatch, act, sent=GET + b"\r\n")


def test_a_body_that_goes_on_after_its_refusal_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"POST /unread HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n")
        assert (await reader.readuntil(b"refused")).startswith(b"HTTP/1.1 413")

        async def trickle() -> None:
            while True:
                writer.write(b"1\r\na\r\n")
                await asyncio.sleep(IDLE_S / 10)

        trickling = asyncio.create_task(trickle())
        assert await _ended(reader)
        trickling.cancel()
        await asyncio.wait([trickling])

    _play(monkeypatch, act)


@pytest.mark.parametrize(
    "requests",
    [
        b"GET /large HTTP/1.1\r\nHost: test\r\n\r\n",
        b"GET /large HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n",
        b"GET /medium HTTP/1.1\r\nHost: test\r\n\r\n" * 400,
    ],
    ids=["one", "the last", "pipelined"],
)
def test_an_answer_that_nobody_fetches_ends(
    monkeypatch: pytest.MonkeyPatch, requests: bytes
) -> None:
    lost = asyncio.Event()
    forget = BoundedProtocol.connection_lost

    def connection_lost(connection: BoundedProtocol, error: Exception | None) -> None:
        forget(connection, error)
        lost.set()

    monkeypatch.setattr(BoundedProtocol, "connection_lost", connection_lost)

    async def act(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        # What the sockets and the reader take is far less than the answers.
        await lost.wait()

    _play(monkeypatch, act, sent=requests)


class _Clock:
    """Stands for the event loop: what is to be called later is called when a test says so."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []

    def call_later(self, _: float, call: Callable[[], None]) -> Mock:
        self.due.append(call)
        return Mock(cancel=lambda: self.due.remove(call))

    def pass_by(self) -> None:
        """Let as much time pass as a client has."""
        for call in tuple(self.due):
            self.due.remove(call)
            call()


def test_an_answer_in_work_that_is_fetched_slowly_goes_on_until_nothing_more_is() -> None:
    clock, transport = _Clock(), Mock(spec=asyncio.Transport)
    transport.is_closing.return_value = False
    transport.get_write_buffer_size.return_value = 0
    protocol = BoundedProtocol(
        uvicorn.Config(Starlette(), log_config=None),
        uvicorn.server.ServerState(),
        {},
        cast("asyncio.AbstractEventLoop", clock),
    )
    protocol.connection_made(transport)
    protocol.cycle = Mock(response_complete=False)
    protocol.data_received(b"G")
    assert clock.due == []

    transport.get_write_buffer_size.return_value = 100_000
    protocol.pause_writing()
    for unfetched in (90_000, 80_000):
        transport.get_write_buffer_size.return_value = unfetched
        clock.pass_by()
        transport.abort.assert_not_called()

    transport.get_write_buffer_size.return_value = 10_000
    protocol.resume_writing()
    assert clock.due == []

    transport.get_write_buffer_size.return_value = 100_000
    protocol.pause_writing()
    clock.pass_by()
    transport.abort.assert_called_once_with()


def test_every_part_of_an_answer_is_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not held back until the caller has acknowledged the part before it."""
    made: list[asyncio.Transport] = []
    inherited = BoundedProtocol.connection_made

    def connection_made(self: BoundedProtocol, transport: asyncio.Transport) -> None:
        made.append(transport)
        inherited(self, transport)

    monkeypatch.setattr(BoundedProtocol, "connection_made", connection_made)

    async def act(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(GET + b"\r\n")
        await reader.readuntil(b"\r\n\r\n")
        (transport,) = made
        accepted = transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

    _play(monkeypatch, act)
