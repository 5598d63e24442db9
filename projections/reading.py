"""Reading one subject's rows in one round trip to the database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias
from uuid import UUID

from psycopg.rows import dict_row

from projections.read_model import ReadModel, name_subjects
from schemas.memory import Provenance
from schemas.queries import load_queries

_QUERIES: Final = load_queries("projections", "sql/reading.sql")

Row: TypeAlias = Mapping[str, Any]


async def read_rows(
    read_model: ReadModel, subject: UUID, query: str, parameters: Mapping[str, Any]
) -> list[Row]:
    """Return the rows that a query finds where only one subject's rows can be seen.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    async with read_model.connection() as connection:
        cursor = connection.cursor(binary=True, row_factory=dict_row)
        # What a pipeline sends up to its end is one transaction, so the naming ends with it: that
        # spares two statements that would begin and end one.
        async with connection.pipeline():
            await name_subjects(connection, [subject])
            await cursor.execute(query, parameters)
        return list(await cursor.fetchall())


async def read_self_named_rows(
    read_model: ReadModel, query: str, parameters: Mapping[str, Any]
) -> list[Row]:
    """Return the rows that a query finds that names its subject itself.

    The connections are in no transaction, so that the naming ends with the statement.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    async with read_model.connection() as connection:
        cursor = connection.cursor(binary=True, row_factory=dict_row)
        await cursor.execute(query, parameters)
        return list(await cursor.fetchall())


async def read_answers(
    read_model: ReadModel, subject: UUID, queries: Sequence[str], parameters: Mapping[str, Any]
) -> list[list[Row]]:
    """Return the rows that each of some queries finds, all of them in one state of the tables.

    Beginning, naming the subject, the queries and the end travel together. psycopg's own
    transaction block would wait for an answer after each of them.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    async with read_model.connection() as connection:
        cursors = [connection.cursor(binary=True, row_factory=dict_row) for _ in queries]
        async with connection.pipeline():
            await connection.execute(_QUERIES["begin_reading_one_state"])
            await name_subjects(connection, [subject])
            for cursor, query in zip(cursors, queries, strict=True):
                await cursor.execute(query, parameters)
            await connection.execute(_QUERIES["end_reading"])
        return [list(await cursor.fetchall()) for cursor in cursors]


def provenance_of(column: Mapping[str, Any] | None) -> Provenance | None:
    """Return the provenance that a column holds as JSON."""
    return None if column is None else Provenance.model_validate(column)
