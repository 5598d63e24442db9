"""Driving a running pipeline: posting turns and waiting until they are closed."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

import httpx
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from deploy.home import Home, RunState
from projections.read_model import schema_name
from schemas.errors import MemledgerError
from schemas.queries import load_queries
from schemas.settings import Settings
from schemas.topics import TURNS

_QUERIES: Final = load_queries("deploy", "bench/sql/bench.sql")
_REQUEST_TIMEOUT_S: Final = 60.0
_CONNECTIONS_MAX: Final = 32
_POLL_S: Final = 0.05
_STALL_S: Final = 60.0
"""How long nothing may close before a bench gives up: then it hangs, it is not slow."""


class Driver:
    """A client of one pipeline, and an observer of its read model. Made by :meth:`open`."""

    def __init__(
        self, client: httpx.AsyncClient, connection: AsyncConnection[tuple[Any, ...]]
    ) -> None:
        self._client = client
        self._connection = connection
        self._ends: dict[int, int] = {}

    @classmethod
    async def open(cls, home: Home, state: RunState) -> Self:
        """Connect to a pipeline that is ready."""
        client = httpx.AsyncClient(
            base_url=state.gateway_url,
            headers={"Authorization": f"Bearer {home.api_key_file.read_text().strip()}"},
            timeout=_REQUEST_TIMEOUT_S,
            limits=httpx.Limits(max_connections=_CONNECTIONS_MAX),
        )
        generation = Settings.from_environment().generation
        connection = await AsyncConnection.connect(
            make_conninfo(state.database_url, options=f"-c search_path={schema_name(generation)}"),
            autocommit=True,
        )
        return cls(client, connection)

    async def close(self) -> None:
        """Disconnect."""
        await self._client.aclose()
        await self._connection.close()

    async def post(self, turns: Sequence[Mapping[str, Any]]) -> list[str]:
        """Append turns in one request and return their positions.

        Raises:
            MemledgerError: not every one was accepted.
        """
        answer = await self._client.post("/v1/turns", json={"turns": list(turns)})
        if answer.is_error:
            raise MemledgerError(f"POST /v1/turns: {answer.status_code} {answer.text[:200]}")
        results = answer.json()["results"]
        positions = [result["position"] for result in results if "position" in result]
        if len(positions) != len(turns):
            raise MemledgerError(
                f"{len(turns) - len(positions)} of {len(turns)} turns were refused"
            )
        for position in positions:
            partition, _, offset = position.partition(":")
            self._ends[int(partition)] = max(self._ends.get(int(partition), 0), int(offset) + 1)
        return positions

    async def recall(self, user_id: str, query: str, *, at_least: str) -> dict[str, Any]:
        """Recall once the turn at a position is closed, however long that takes.

        Raises:
            MemledgerError: it was not answered.
        """
        question = {"user_id": user_id, "query": query, "at_least": at_least}
        answer = await self._client.post("/v1/recall", json=question)
        while answer.status_code == httpx.codes.GATEWAY_TIMEOUT:
            answer = await self._client.post("/v1/recall", json=question)
        if answer.is_error:
            raise MemledgerError(f"POST /v1/recall: {answer.status_code} {answer.text[:200]}")
        body: dict[str, Any] = answer.json()
        return body

    async def wait_closed(self) -> None:
        """Return once every turn that was posted is closed.

        Raises:
            MemledgerError: nothing was closed for a minute.
        """
        loop = asyncio.get_running_loop()
        seen, moved_at = await self.progress(), loop.time()
        while not self._all_closed(*seen):
            await asyncio.sleep(_POLL_S)
            now = await self.progress()
            if now != seen:
                seen, moved_at = now, loop.time()
            elif loop.time() - moved_at > _STALL_S:
                raise MemledgerError(f"{now[0]} turns are open and none was closed for a minute")

    async def require_all_stored(self) -> None:
        """Make sure that what was measured was work.

        Raises:
            MemledgerError: a turn was closed otherwise than as stored.
        """
        async with self._connection.transaction():
            await self._connection.execute(_QUERIES["see_every_subject"])
            cursor = await self._connection.execute(_QUERIES["count_not_stored"])
            row = await cursor.fetchone()
        if row is None or row[0]:
            raise MemledgerError(
                f"{row[0] if row else 'some'} turns were not stored: what was measured is not the "
                "work that it should be"
            )

    async def progress(self) -> tuple[int, dict[int, int]]:
        """Return how many turns are open, and up to where each partition was read."""
        cursor = await self._connection.execute(_QUERIES["select_progress"], {"topic": TURNS})
        row = await cursor.fetchone()
        assert row is not None, "a statement without a table in FROM returns one row"  # noqa: S101 - checked in production too
        open_turns, positions = row
        return open_turns, {int(partition): at for partition, at in positions.items()}

    def _all_closed(self, open_turns: int, positions: Mapping[int, int]) -> bool:
        read = all(positions.get(partition, 0) >= end for partition, end in self._ends.items())
        return read and open_turns == 0
