"""Opening a read model, and the wall between subjects inside it."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest

from projections.read_model import ReadModel, name_subjects, open_read_model
from schemas.errors import EmbedderMismatch, ReadModelUnavailable
from tests.conftest import TestStores
from tests.support.projection import opened


async def _open(url: str, *, embedder: str, dimension: int) -> ReadModel:
    return await open_read_model(url, generation="g1", embedder=embedder, dimension=dimension)


def test_a_read_model_is_found_again_by_the_same_embedder(postgres_url: str) -> None:
    async def scenario() -> None:
        for _ in range(2):
            read_model = await _open(postgres_url, embedder="one", dimension=8)
            assert (read_model.embedder, read_model.dimension) == ("one", 8)
            await read_model.close()

    asyncio.run(scenario())


@pytest.mark.parametrize(("embedder", "dimension"), [("other", 8), ("one", 16)])
def test_a_read_model_of_another_embedder_is_refused_with_a_remedy(
    postgres_url: str, embedder: str, dimension: int
) -> None:
    async def scenario() -> None:
        await (await _open(postgres_url, embedder="one", dimension=8)).close()
        with pytest.raises(EmbedderMismatch, match=r"'one' with 8 .* rebuild --embedder"):
            await _open(postgres_url, embedder=embedder, dimension=dimension)

    asyncio.run(scenario())


def test_a_database_that_cannot_be_reached_is_told_as_that() -> None:
    async def scenario() -> None:
        with pytest.raises(ReadModelUnavailable, match="DATABASE_URL"):
            await _open("postgresql://nobody@127.0.0.1:1/none", embedder="one", dimension=8)

    asyncio.run(scenario())


def test_a_connection_that_names_no_subject_sees_nothing(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            one, other = await projection.writer(), await projection.writer()
            for writer in (one, other):
                _, _, offset = await writer.stored()
                await projection.outcome_applied(writer.partition, offset)

            async with projection.read_model.connection() as connection:
                for table in ("memories", "turns"):
                    # No condition on the subject: the wall has to hold by itself.
                    query = f"SELECT subject FROM {table}"  # noqa: S608 - a name from this file
                    assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_subjects(connection, [])
                        assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_subjects(connection, [one.subject])
                        rows = await (await connection.execute(query)).fetchall()
                        assert rows == [(one.subject,)]
                    assert await (await connection.execute(query)).fetchall() == []

    asyncio.run(scenario())


def test_a_connection_cannot_write_for_a_subject_that_it_has_not_named(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            named, other = uuid4(), uuid4()
            insert = (
                "INSERT INTO turns (subject, turn_id, partition, turn_offset) VALUES (%s, %s, 0, 0)"
            )
            async with projection.read_model.connection() as connection:

                async def write(subject: UUID) -> None:
                    async with connection.transaction():
                        await name_subjects(connection, [named])
                        await connection.execute(insert, [subject, uuid4()])

                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    await connection.execute(insert, [named, uuid4()])
                await write(named)
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    await write(other)

    asyncio.run(scenario())
