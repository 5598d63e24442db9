"""Opening a read model, and the wall between subjects inside it."""

from __future__ import annotations

import asyncio
from uuid import UUID, uuid4

import psycopg
import pytest

from projections.read_model import ReadModel, name_subjects, name_tenants, open_read_model
from schemas.database import Connection
from schemas.errors import (
    ConfigurationError,
    EmbedderMismatch,
    MigrationError,
    ReadModelUnavailable,
)
from schemas.events import MemoryAdded, ProposalRejected, RejectionReason
from tests.conftest import TestStores
from tests.support.projection import opened


async def _open(url: str, *, embedder: str, dimension: int) -> ReadModel:
    return await open_read_model(
        url, generation="g1", embedder=embedder, dimension=dimension, migrate=True
    )


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
        with pytest.raises(EmbedderMismatch, match=r"'one' with 8 .* a generation of its own"):
            await _open(postgres_url, embedder=embedder, dimension=dimension)

    asyncio.run(scenario())


@pytest.mark.parametrize("made", [None, "another"])
def test_who_does_not_make_a_read_model_is_told_that_there_is_none(
    postgres_url: str, made: str | None
) -> None:
    async def scenario() -> None:
        if made is not None:
            other = await open_read_model(
                postgres_url, generation=made, embedder="one", dimension=8, migrate=True
            )
            await other.close()
        with pytest.raises(ConfigurationError, match="no read model of the generation 'g1'"):
            await open_read_model(postgres_url, generation="g1", embedder="one", dimension=8)
        async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
            cursor = await connection.execute(
                "SELECT 1 FROM information_schema.schemata WHERE schema_name = 'gen_g1'"
            )
            assert await cursor.fetchall() == []

    asyncio.run(scenario())


def test_who_does_not_make_a_read_model_opens_one_that_is_there(postgres_url: str) -> None:
    async def scenario() -> None:
        await (await _open(postgres_url, embedder="one", dimension=8)).close()

        reader = await open_read_model(postgres_url, generation="g1", embedder="one", dimension=8)
        await reader.ping()
        await reader.close()
        with pytest.raises(EmbedderMismatch):
            await open_read_model(postgres_url, generation="g1", embedder="two", dimension=8)

    asyncio.run(scenario())


def test_who_does_not_migrate_a_read_model_refuses_one_of_another_release(
    postgres_url: str,
) -> None:
    async def scenario() -> None:
        await (await _open(postgres_url, embedder="one", dimension=8)).close()
        async with await psycopg.AsyncConnection.connect(postgres_url) as connection:
            await connection.execute(
                "DELETE FROM gen_g1.schema_migrations "
                "WHERE number = (SELECT max(number) FROM gen_g1.schema_migrations)"
            )

        with pytest.raises(MigrationError, match=r"'g1' has \d+ migrations, this release \d+"):
            await open_read_model(postgres_url, generation="g1", embedder="one", dimension=8)

    asyncio.run(scenario())


def test_a_database_that_cannot_be_reached_is_told_as_that() -> None:
    async def scenario() -> None:
        with pytest.raises(ReadModelUnavailable, match="DATABASE_URL"):
            await _open("postgresql://nobody@127.0.0.1:1/none", embedder="one", dimension=8)

    asyncio.run(scenario())


def test_a_connection_that_names_no_subject_sees_nothing(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            one, other = await projection.writer(), await projection.writer("other")
            for writer in (one, other):
                await writer.deferred()
                turn = await writer.turn()
                added = MemoryAdded(memory=writer.new_memory(turn))
                flagged = writer.flag(turn)
                refused = ProposalRejected(operation=2, reasons=(RejectionReason.SECRET,))
                offset = await writer.append(
                    writer.outcome(turn, [added, flagged, refused], extractor="e", model="m")
                )
                await projection.outcome_applied(writer.partition, offset)

            async with projection.read_model.connection() as connection:
                for table in ("memories", "turns", "waiting_turns", "flags", "rejections"):
                    # No condition on the subject: the wall has to hold by itself.
                    query = f"SELECT subject FROM {table}"  # noqa: S608 - a name from this file
                    assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_subjects(connection, [])
                        assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_subjects(connection, [one.subject])
                        rows = await (await connection.execute(query)).fetchall()
                        assert set(rows) == {(one.subject,)}
                    assert await (await connection.execute(query)).fetchall() == []
                for table in ("flags", "spending"):
                    query = f"SELECT tenant FROM {table}"  # noqa: S608 - a name from this file
                    assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_tenants(connection, [])
                        assert await (await connection.execute(query)).fetchall() == []
                    async with connection.transaction():
                        await name_tenants(connection, ["other"])
                        rows = await (await connection.execute(query)).fetchall()
                        assert rows == [("other",)]

    asyncio.run(scenario())


_WRITES_OF_OTHERS = (
    "INSERT INTO flags (subject, flag_id, tenant) VALUES (%(other)s, %(other)s, 'ours')",
    "INSERT INTO waiting_turns VALUES (%(other)s, %(other)s, 0, 0, 'c', 'session', now(), now())",
    "INSERT INTO rejections VALUES (%(other)s, %(other)s, 0, NULL, '{secret}', now())",
    "INSERT INTO summary_sources VALUES (%(other)s, %(other)s, %(other)s)",
    "INSERT INTO due_summaries VALUES (%(other)s, 'c', 0, %(other)s, 0)",
    (
        "INSERT INTO session_summaries (subject, record_id, partition, conversation_id, "
        "turn_offset, turn_ids, refused, cut, shortened, more, made_at) VALUES "
        "(%(other)s, %(other)s, 0, 'c', 0, '{}', '{}', 0, 0, false, now())"
    ),
    "INSERT INTO spending VALUES (0, '2026-03-01', 'theirs', 'e', 'm', 1, 1, 1, 1, 1, 1, 1)",
)


async def _write_naming(
    connection: Connection, subject: UUID, statement: str, parameters: dict[str, UUID]
) -> None:
    async with connection.transaction():
        await name_subjects(connection, [subject])
        await name_tenants(connection, ["ours"])
        await connection.execute(statement, parameters)


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
                for statement in _WRITES_OF_OTHERS:
                    with pytest.raises(psycopg.errors.InsufficientPrivilege):
                        await _write_naming(connection, named, statement, {"other": other})

    asyncio.run(scenario())
