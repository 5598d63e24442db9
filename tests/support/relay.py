"""A relay in front of a server, by which it can be away and break off what it answers."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from enum import Enum, auto

_CHUNK_BYTES = 65_536


class Passing(Enum):
    """What passes."""

    ALL = auto()
    QUESTIONS = auto()
    """Once the server answers, the connection is broken off: what was asked for was done."""


class Relay:
    """Listens on a port of its own and passes on what comes; used in one event loop.

    Attributes:
        port: where it listens, the same for its whole life; 0 before the first :meth:`come`.
        passing: what passes.
    """

    def __init__(self, target: int) -> None:
        """Hold the port of the server behind it; nothing listens yet."""
        self.port = 0
        self.passing = Passing.ALL
        self._target = target
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """Where clients find it."""
        return f"http://127.0.0.1:{self.port}"

    async def come(self, passing: Passing = Passing.ALL) -> None:
        """Listen, if it does not yet."""
        self.passing = passing
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def leave(self) -> None:
        """Close every connection, and refuse further ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)
        # A task that is cancelled inside a server's callback would be told as an error of the loop.
        with suppress(asyncio.CancelledError, OSError):
            await self._pass_on(reader, writer)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, questions = await asyncio.open_connection("127.0.0.1", self._target)
        ways = [
            asyncio.ensure_future(self._questions(reader, questions)),
            asyncio.ensure_future(self._answers(answers, writer)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            writer.close()
            questions.close()

    async def _questions(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            writer.write(chunk)
            await writer.drain()

    async def _answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while chunk := await reader.read(_CHUNK_BYTES):
            if self.passing is Passing.QUESTIONS:
                return
            writer.write(chunk)
            await writer.drain()
