"""Recall without the call of the embedder: how it grows with the store, and with 8 clients."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console

from deploy.bench.asking import Asked, RecallClient
from deploy.bench.figures import Figure, at_least, at_most, percentiles_ms
from deploy.bench.filling import CLIENTS, FilledSite, filled
from deploy.bench.options import BenchSize
from deploy.bench.stores import throwaway_home, throwaway_postgres
from projections.read_model import ReadModel
from schemas.queries import load_queries

P50_BOUND: Final = at_most(3)
P99_BOUND: Final = at_most(10)
GROWTH_BOUND: Final = at_most(1.5)
CLIENTS_BOUND: Final = at_least(400)
FOUND_BOUND: Final = at_least(1)

_BENCH: Final = load_queries("deploy", "bench/sql/bench.sql")
_SMALL_SHARE: Final = 100
SHARED_BUFFERS_MB: Final = 2048
_ROUNDS: Final = 5


def measure_recall(size: BenchSize, announce: Console) -> list[Figure]:
    """Fill a small and a large read model and ask both in turn, in one run."""
    with throwaway_home() as home, throwaway_postgres(home, SHARED_BUFFERS_MB) as postgres:
        return asyncio.run(_measure(size, postgres.url(), announce))


async def _measure(size: BenchSize, database_url: str, announce: Console) -> list[Figure]:
    small_rows = max(size.memories_a_user, size.rows // _SMALL_SHARE)
    async with (
        filled("small", small_rows, size.memories_a_user, database_url, announce) as small,
        filled("large", size.rows, size.memories_a_user, database_url, announce) as large,
    ):
        announce.print(f"· each user asks once, then {size.recalls:,} recalls of each, in turn")
        in_small, in_large = await _in_turn([small, large], size.recalls)
        announce.print(f"· the same with {CLIENTS} clients at once")
        rate, at_once = await _of_clients(large, size.recalls)
        details = {
            "rows": size.rows,
            "memories_a_user": size.memories_a_user,
            "recalls": size.recalls,
            "bytes": await _relation_bytes(large.read_model),
        }
    return _figures(in_small, in_large, rate, at_once, {**details, "small_rows": small_rows})


def _figures(
    in_small: Asked, in_large: Asked, rate: float, at_once: Asked, details: dict[str, Any]
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


async def _in_turn(sites: Sequence[FilledSite], recalls: int) -> list[Asked]:
    """Ask each site a share of the questions, round after round, so that all meet the same machine.

    What only the first recalls pay is left out: opening a connection, and the page fault for each
    page of the cache that a new session of Postgres meets.
    """
    clients = [RecallClient(site) for site in sites]
    for client in clients:
        await client.ask_all()
    asked = [Asked(seconds=[]) for _ in sites]
    for _ in range(_ROUNDS):
        for client, total in zip(clients, asked, strict=True):
            total.add(await client.ask(recalls // _ROUNDS))
    return asked


async def _of_clients(site: FilledSite, recalls: int) -> tuple[float, Asked]:
    """Return recalls a second of clients that ask at once, and what they took and found."""
    clients = [RecallClient(site, seed=seed) for seed in range(CLIENTS)]
    await asyncio.gather(*(client.ask_all() for client in clients))
    began = time.perf_counter()
    each = await asyncio.gather(*(client.ask(recalls // CLIENTS) for client in clients))
    seconds = time.perf_counter() - began
    total = Asked(seconds=[])
    for asked in each:
        total.add(asked)
    return len(total.seconds) / seconds, total


async def _relation_bytes(read_model: ReadModel) -> dict[str, int]:
    async with read_model.connection() as connection:
        row = await (await connection.execute(_BENCH["select_relation_bytes"])).fetchone()
    assert row is not None, "a statement without a table in FROM returns one row"  # noqa: S101 - checked in production too
    return {"table": row[0], "indexes": row[1]}
