"""The longest entry of the index that recall reads: every text is stored, whatever it holds."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import numpy as np
import pytest

from projections.changes import Insert
from projections.columns import insert_columns
from projections.read_model import name_subjects, open_read_model
from projections.vectors import halves_of
from schemas.queries import load_queries
from tests.support.log_writer import at, memory

_PROJECTOR = load_queries("projections", "sql/projector.sql")
_LONGEST_NAME = "m" * 200


@pytest.mark.parametrize("dimension", [384, 1000])
def test_a_text_of_more_words_than_are_kept_is_stored_beside_a_vector(
    postgres_url: str, dimension: int
) -> None:
    async def scenario() -> None:
        read_model = await open_read_model(
            postgres_url,
            generation="g1",
            embedder=_LONGEST_NAME,
            dimension=dimension,
            migrate=True,
        )
        subject = uuid4()
        version = memory(
            uuid4(),
            uuid4(),
            content=" ".join(f"word{number}" for number in range(3_000)),
            expires_at=at(60),
            embedding=None,
        )
        # Numbers at random, so that nothing of it could be kept in less room.
        vector = np.random.default_rng(1).standard_normal(dimension, dtype=np.float32)
        columns = insert_columns(
            [Insert(subject=subject, memory=version)],
            [halves_of(vector)],
            _LONGEST_NAME,
            dimension,
        )
        try:
            async with read_model.connection() as connection, connection.transaction():
                await name_subjects(connection, [subject])
                await connection.execute(_PROJECTOR["insert_memories"], columns)
                pinned = await connection.execute("UPDATE memories SET pinned_at = now()")
                assert pinned.rowcount == 1
        finally:
            await read_model.close()

    asyncio.run(scenario())
