"""Recall without the call of the embedder: how it grows with the store, and with 8 clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from rich.console import Console

from deploy.bench.figures import Figure, at_least, at_most, percentiles_ms
from deploy.bench.options import BenchSize
from deploy.bench.rows import MATCH_COSINE, MATCHES, BenchUser, Filler
from deploy.bench.stores import throwaway_home, throwaway_postgres
from projections.read_model import ReadModel, open_read_model
from projections.recall import Recall
from schemas.database import load_queries
from schemas.ports import Vectors

P50_BOUND: Final = at_most(3)
P99_BOUND: Final = at_most(10)
GROWTH_BOUND: Final = at_most(1.5)
CLIENTS_BOUND: Final = at_least(400)
FOUND_BOUND: Final = at_least(1)

_BENCH: Final = load_queries("deploy", "bench/sql/bench.sql")
_DIMENSION: Final = 384
_PARTITIONS: Final = 8
_CLIENTS: Final = 8
_SMALL_SHARE: Final = 100
_SHARED_BUFFERS_MB: Final = 1024
_WARM_UP: Final = 50
_LIMIT: Final = 2 * MATCHES  # what is found by words comes beside
_ROUNDS: Final = 5
_SEED: Final = 7
_TELL_EVERY: Final = 100_000


class _GivenEmbedder:
    """Answers with a vector that it was given: what an embedder takes is not measured here."""

    name = "bench"
    dimension = _DIMENSION
    min_similarity = MATCH_COSINE - 0.1  # halves round a little
    same_statement_similarity = None

    def __init__(self) -> None:
        self.vector: Vectors = np.zeros(_DIMENSION, dtype=np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vector for each text."""
        return np.tile(self.vector, (len(texts), 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Site:
    """A filled read model.

    Attributes:
        read_model: its tables.
        users: whose memories it holds.
    """

    read_model: ReadModel
    users: Sequence[BenchUser]


@dataclass(kw_only=True, slots=True)
class _Asked:
    """What some recalls took and found."""

    seconds: list[float]
    found: int = 0
    wanted: int = 0

    def add(self, other: _Asked) -> None:
        """Count what others took and found too."""
        self.seconds.extend(other.seconds)
        self.found += other.found
        self.wanted += other.wanted


def measure_recall(size: BenchSize, announce: Console) -> list[Figure]:
    """Fill a small and a large read model and ask both in turn, in one run."""
    with throwaway_home() as home, throwaway_postgres(home, _SHARED_BUFFERS_MB) as postgres:
        return asyncio.run(_measure(size, postgres.url(), announce))


async def _measure(size: BenchSize, database_url: str, announce: Console) -> list[Figure]:
    small_rows = max(size.memories_a_user, size.rows // _SMALL_SHARE)
    async with (
        _filled("small", small_rows, size, database_url, announce) as small,
        _filled("large", size.rows, size, database_url, announce) as large,
    ):
        announce.print(f"· {size.recalls:,} recalls of each, in turn")
        in_small, in_large = await _in_turn([small, large], size.recalls)
        announce.print(f"· {size.recalls:,} recalls of {_CLIENTS} clients at once")
        rate, at_once = await _of_clients(large, size.recalls)
        details = {
            "rows": size.rows,
            "memories_a_user": size.memories_a_user,
            "recalls": size.recalls,
            "bytes": await _relation_bytes(large.read_model),
        }
    return _figures(in_small, in_large, rate, at_once, {**details, "small_rows": small_rows})


def _figures(
    in_small: _Asked, in_large: _Asked, rate: float, at_once: _Asked, details: dict[str, Any]
) -> list[Figure]:
    small_ms, large_ms = percentiles_ms(in_small.seconds), percentiles_ms(in_large.seconds)
    asked = (in_small, in_large, at_once)
    return [
        Figure(
            name="recall.p50",
            value=large_ms["p50"],
            unit="ms",
            bound=P50_BOUND,
            details={**large_ms, **details},
        ),
        Figure(name="recall.p99", value=large_ms["p99"], unit="ms", bound=P99_BOUND),
        Figure(
            name="recall.large_against_small",
            value=large_ms["p50"] / small_ms["p50"],
            unit="ratio",
            bound=GROWTH_BOUND,
            details={"small_ms": small_ms},
        ),
        Figure(
            name="recall.with_8_clients",
            value=rate,
            unit="recalls/s",
            bound=CLIENTS_BOUND,
            details=percentiles_ms(at_once.seconds),
        ),
        Figure(
            name="recall.matches_found",
            value=sum(one.found for one in asked) / sum(one.wanted for one in asked),
            unit="ratio",
            bound=FOUND_BOUND,
        ),
    ]


@asynccontextmanager
async def _filled(
    generation: str, rows: int, size: BenchSize, database_url: str, announce: Console
) -> AsyncIterator[_Site]:
    """Open a new read model of at least ``rows`` memories."""
    embedder = _GivenEmbedder()
    read_model = await open_read_model(
        database_url,
        generation=generation,
        embedder=embedder.name,
        dimension=embedder.dimension,
        max_size=_CLIENTS,
        migrate=True,
    )
    try:
        users = max(1, rows // size.memories_a_user)
        announce.print(
            f"· storing {size.memories_a_user:,} memories of each user, {users:,} in all, "
            "one of each in turn"
        )

        def tell(stored: int) -> None:
            if stored % _TELL_EVERY == 0:
                announce.print(f"· {stored:,} rows")

        filler = Filler(read_model, seed=_SEED)
        yield _Site(
            read_model=read_model, users=await filler.fill(users, size.memories_a_user, tell)
        )
    finally:
        await read_model.close()


async def _in_turn(sites: Sequence[_Site], recalls: int) -> list[_Asked]:
    """Ask each site a share of the questions, round after round, so that all meet the same machine.

    What only the first recalls pay, such as opening a connection, is left out.
    """
    clients = [_Client(site) for site in sites]
    for client in clients:
        await client.ask(_WARM_UP)
    asked = [_Asked(seconds=[]) for _ in sites]
    for _ in range(_ROUNDS):
        for client, total in zip(clients, asked, strict=True):
            total.add(await client.ask(recalls // _ROUNDS))
    return asked


async def _of_clients(site: _Site, recalls: int) -> tuple[float, _Asked]:
    """Return recalls a second of clients that ask at once, and what they took and found."""
    clients = [_Client(site, seed=seed) for seed in range(_CLIENTS)]
    await asyncio.gather(*(client.ask(_WARM_UP) for client in clients))
    began = time.perf_counter()
    each = await asyncio.gather(*(client.ask(recalls // _CLIENTS) for client in clients))
    seconds = time.perf_counter() - began
    total = _Asked(seconds=[])
    for asked in each:
        total.add(asked)
    return len(total.seconds) / seconds, total


class _Client:
    """Asks the questions of users that are drawn by lot."""

    def __init__(self, site: _Site, *, seed: int = _SEED) -> None:
        self._users = site.users
        self._random = np.random.default_rng(seed)
        self._embedder = _GivenEmbedder()
        self._recall = Recall(site.read_model, self._embedder, partitions=_PARTITIONS)

    async def ask(self, recalls: int) -> _Asked:
        """Recall for one user after the other."""
        asked = _Asked(seconds=[])
        for _ in range(recalls):
            user = self._users[int(self._random.integers(len(self._users)))]
            self._embedder.vector = user.question
            began = time.perf_counter()
            result = await self._recall.recall(user.subject, user.asks, limit=_LIMIT)
            asked.seconds.append(time.perf_counter() - began)
            asked.wanted += len(user.matches)
            asked.found += len(user.matches & {memory.memory_id for memory in result.memories})
        return asked


async def _relation_bytes(read_model: ReadModel) -> dict[str, int]:
    async with read_model.connection() as connection:
        row = await (await connection.execute(_BENCH["select_relation_bytes"])).fetchone()
    assert row is not None, "a statement without a table in FROM returns one row"  # noqa: S101 - checked in production too
    return {"table": row[0], "indexes": row[1]}
