"""Recall beside the exact search of another memory over the same rows, in one run.

That other one, mem0 on pgvector with its index switched off, keeps all users' memories in one table
without an index on whose they are, so its search reads all of them. Only its statement is timed
here, not its client, which is to its favour; with its index it finds few of the matches.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Any, Final
from uuid import UUID

from rich.console import Console

from deploy.bench.asking import Asked, RecallClient
from deploy.bench.figures import Figure, at_least, percentiles_ms
from deploy.bench.filling import FilledSite, filled
from deploy.bench.options import BenchSize
from deploy.bench.rows import MATCHES, BenchUser
from deploy.bench.stores import throwaway_home, throwaway_postgres
from schemas.database import Connection
from schemas.queries import load_queries

FASTER_BOUND: Final = at_least(10)
FOUND_BOUND: Final = at_least(1)

_BENCH: Final = load_queries("deploy", "bench/sql/exact_peer.sql")
_ROWS_SHARE: Final = 10
"""The large read model's rows over those here: a hundred users of a thousand memories each."""
_SHARED_BUFFERS_MB: Final = 1024
_RECALLS_MAX: Final = 300
_ROUNDS: Final = 5
_WARM_UP: Final = 20
"""Postgres plans a statement anew ten times before it keeps a plan."""


def measure_beside_exact_peer(size: BenchSize, announce: Console) -> list[Figure]:
    """Fill a read model and the other's table with the same rows, and ask both in turn."""
    with throwaway_home() as home, throwaway_postgres(home, _SHARED_BUFFERS_MB) as postgres:
        return asyncio.run(_measure(size, postgres.url(), announce))


async def _measure(size: BenchSize, database_url: str, announce: Console) -> list[Figure]:
    rows = max(size.memories_a_user, size.rows // _ROWS_SHARE)
    async with (
        filled("peer", rows, size.memories_a_user, database_url, announce) as site,
        site.read_model.connection() as connection,
    ):
        announce.print("· the same rows into a table of the other's shape")
        await _copy(connection)
        ours, theirs = RecallClient(site), _PeerClient(site, connection)
        await ours.ask(_WARM_UP)
        await theirs.ask(_WARM_UP)
        recalls = min(size.recalls, _RECALLS_MAX)
        announce.print(f"· {recalls:,} questions to each, in turn")
        by_us, by_them = Asked(seconds=[]), Asked(seconds=[])
        for _ in range(_ROUNDS):
            by_us.add(await ours.ask(max(1, recalls // _ROUNDS)))
            by_them.add(await theirs.ask(max(1, recalls // _ROUNDS)))
    return _figures(by_us, by_them, rows)


async def _copy(connection: Connection) -> None:
    await connection.execute(_BENCH["see_every_subject_from_now_on"])
    await connection.execute(_BENCH["create_peer_table"])
    await connection.execute(_BENCH["fill_peer_table"])
    await connection.execute(_BENCH["vacuum_peer_table"])


class _PeerClient:
    """Asks the other's statement the questions that a recall is asked.

    Args:
        site: whose users ask.
        connection: where the table is.
    """

    def __init__(self, site: FilledSite, connection: Connection) -> None:
        self._questions = RecallClient(site)
        self._connection = connection

    async def ask(self, questions: int) -> Asked:
        """Ask for one user after the other."""
        asked = Asked(seconds=[])
        for _ in range(questions):
            user = self._questions.next_user()
            began = time.perf_counter()
            found = await self._search(user)
            asked.seconds.append(time.perf_counter() - began)
            asked.wanted += len(user.matches)
            asked.found += len(user.matches.intersection(found))
        return asked

    async def _search(self, user: BenchUser) -> Sequence[UUID]:
        parameters: dict[str, Any] = {
            "vector": "[" + ",".join(map(str, user.question.tolist())) + "]",
            "user_id": str(user.subject),
            "limit": 2 * MATCHES,
        }
        cursor = await self._connection.execute(_BENCH["search_peer_table"], parameters)
        return [row[0] for row in await cursor.fetchall()]


def _figures(ours: Asked, theirs: Asked, rows: int) -> list[Figure]:
    ours_ms, theirs_ms = percentiles_ms(ours.seconds), percentiles_ms(theirs.seconds)
    return [
        Figure(
            name="exact_peer.times_faster",
            value=theirs_ms["p50"] / ours_ms["p50"],
            unit="ratio",
            bound=FASTER_BOUND,
            details={"rows": rows, "ours_ms": ours_ms, "theirs_ms": theirs_ms},
        ),
        Figure(
            name="exact_peer.matches_found",
            value=ours.found / ours.wanted,
            unit="ratio",
            bound=FOUND_BOUND,
            details={"theirs": theirs.found / theirs.wanted},
        ),
    ]
