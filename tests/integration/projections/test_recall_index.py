"""Where recall finds a subject's vectors: side by side in an index, if they fit into one."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest
from psycopg.rows import dict_row

from deploy.bench.rows import Filler
from projections.read_model import ReadModel, name_subjects, open_read_model
from projections.recall_held import held_of, wanted_marks
from projections.vectors import HalfVectors, halves_of
from schemas.clock import utc_now
from schemas.database import load_queries

_RECALL = load_queries("projections", "sql/recall.sql")
_LONGEST_NAME = "m" * 200
_MEMORIES = 100
_USERS = 10
_NEAR = 0.7


@pytest.mark.parametrize(("dimension", "indexed"), [(384, True), (1000, True), (1001, False)])
def test_vectors_that_fit_are_read_out_of_an_index_and_longer_ones_are_found_too(
    postgres_url: str, dimension: int, indexed: bool
) -> None:
    async def scenario() -> None:
        read_model = await open_read_model(
            postgres_url,
            generation="g1",
            embedder=_LONGEST_NAME,
            dimension=dimension,
            migrate=True,
        )
        try:
            plan, found = await _plan_and_recall(read_model)
        finally:
            await read_model.close()
        assert ("Index Only Scan using memories_recall" in plan) is indexed
        assert found

    asyncio.run(scenario())


async def _plan_and_recall(read_model: ReadModel) -> tuple[str, bool]:
    """Return how a question about one of several users is planned, and whether it finds all."""
    user, *_ = await Filler(read_model, seed=1).fill(_USERS, _MEMORIES, lambda _: None)
    asked = {
        "subject": user.subject,
        "model": read_model.embedder,
        "vectors": HalfVectors([halves_of(user.question)]),
        "min_similarity": _NEAR,
        "probable": _MEMORIES,
        "wanted_low": wanted_marks([]),
        "wanted_high": 0,
        "turns_topic": "turns",
        "partition": 0,
        "now": utc_now(),
    }
    async with read_model.connection() as connection, connection.transaction():
        await name_subjects(connection, [user.subject])
        # So few rows lie on so few pages that the planner would read them all.
        # So small a table would be read whole.
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        explained = await connection.execute("EXPLAIN " + _RECALL["weigh_now"], asked)
        plan = "\n".join(str(line) for (line,) in await explained.fetchall())
        cursor = connection.cursor(binary=True, row_factory=dict_row)
        row, *_ = await (await cursor.execute(_RECALL["weigh_now"], asked)).fetchall()
    near = np.count_nonzero(held_of(row).cosine >= _NEAR)
    return plan, near == len(user.matches)
