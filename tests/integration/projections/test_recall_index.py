"""How recall's statement finds a subject's rows: in an index, and for the subject it names."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from psycopg.rows import dict_row

from deploy.bench.rows import BenchUser, Filler
from projections.read_model import ReadModel, name_subjects, open_read_model
from projections.recall_held import held_of, wanted_marks
from projections.vectors import HalfVectors, halves_of
from schemas.clock import utc_now
from schemas.queries import load_queries

_RECALL = load_queries("projections", "sql/recall.sql")
_OPEN_TURN = "INSERT INTO turns (subject, turn_id, partition, turn_offset) VALUES (%s, %s, 0, %s)"
_LONGEST_NAME = "m" * 200
_MEMORIES = 100
_USERS = 10
_NEAR = 0.7
_PLANNED_AFTER = 12
"""psycopg prepares what was asked five times, Postgres thinks of a general plan after five more."""


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


@pytest.mark.parametrize(
    "scans",
    [
        pytest.param(["enable_indexscan", "enable_indexonlyscan"], id="bitmap"),
        pytest.param(["enable_seqscan", "enable_bitmapscan"], id="index"),
        pytest.param(
            ["enable_indexscan", "enable_indexonlyscan", "enable_bitmapscan"], id="whole table"
        ),
    ],
)
def test_the_statement_sees_the_subject_that_it_names_however_it_is_planned(
    postgres_url: str, scans: list[str]
) -> None:
    async def scenario() -> None:
        read_model = await open_read_model(
            postgres_url, generation="g1", embedder="bench", dimension=384, migrate=True
        )
        try:
            users = await Filler(read_model, seed=1).fill(_USERS, _MEMORIES, lambda _: None)
            async with read_model.connection() as connection, connection.transaction():
                await name_subjects(connection, [user.subject for user in users])
                for offset, user in enumerate(users):
                    await connection.execute(_OPEN_TURN, [user.subject, uuid4(), offset])
            async with read_model.connection() as connection:
                for scan in scans:
                    await connection.execute(f"SET {scan} = off")
                cursor = connection.cursor(binary=True, row_factory=dict_row)
                # Often enough that it is prepared, and planned for whatever is asked.
                for offset, user in list(enumerate(users[:2])) * _PLANNED_AFTER:
                    await cursor.execute(_RECALL["weigh_now"], _asked(read_model, user))
                    row, *probable = await cursor.fetchall()
                    assert {one["memory_id"] for one in probable} == user.matches
                    assert (row["stored"], row["first_open"]) == (_MEMORIES, offset)
                # What was named is forgotten with the statement.
                await cursor.execute("SELECT count(*) AS seen FROM memories")
                assert await cursor.fetchone() == {"seen": 0}
        finally:
            await read_model.close()

    asyncio.run(scenario())


def _asked(read_model: ReadModel, user: BenchUser) -> dict[str, Any]:
    return {
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


async def _plan_and_recall(read_model: ReadModel) -> tuple[str, bool]:
    """Return how a question about one of several users is planned, and whether it finds all."""
    user, *_ = await Filler(read_model, seed=1).fill(_USERS, _MEMORIES, lambda _: None)
    asked = _asked(read_model, user)
    async with read_model.connection() as connection, connection.transaction():
        # So few rows lie on so few pages that the planner would read them all.
        await connection.execute("SET LOCAL enable_seqscan = off")
        await connection.execute("SET LOCAL enable_bitmapscan = off")
        explained = await connection.execute("EXPLAIN " + _RECALL["weigh_now"], asked)
        plan = "\n".join(str(line) for (line,) in await explained.fetchall())
        cursor = connection.cursor(binary=True, row_factory=dict_row)
        row, *_ = await (await cursor.execute(_RECALL["weigh_now"], asked)).fetchall()
    near = np.count_nonzero(held_of(row).cosine >= _NEAR)
    return plan, near == len(user.matches)
