"""Opening the read model of one generation, with the embedder it was built for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Final
from uuid import UUID

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from projections.vectors import VectorTypes
from schemas.database import Connection, Pool, describe, open_pool
from schemas.database import migrate as apply_migrations
from schemas.errors import (
    ConfigurationError,
    EmbedderMismatch,
    MigrationError,
    ReadModelUnavailable,
)
from schemas.queries import load_queries
from schemas.topics import checked_generation

_QUERIES: Final = load_queries("projections", "sql/read_model.sql")

WAITING_MAX: Final = 100_000
"""The most memories without a vector that are counted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReadModel:
    """The tables of one generation. Made by :func:`open_read_model`.

    Attributes:
        generation: the generation.
        conninfo: the database, for connections outside the pool.
        pool: autocommit connections that find the generation's tables first.
        embedder: the name of the embedder that its vectors are made with.
        dimension: the number of components of its vectors.
    """

    generation: str
    conninfo: str = field(repr=False)
    pool: Pool
    embedder: str
    dimension: int

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """Yield a connection that knows vectors.

        Raises:
            ReadModelUnavailable: none can be had, or a statement on it failed for lack of one.
        """
        with reaching_read_model():
            async with self.pool.connection() as connection:
                yield connection

    async def ping(self) -> None:
        """Ask the tables for nothing.

        Raises:
            ReadModelUnavailable: the database does not answer, or the tables are not there.
        """
        async with self.connection() as connection:
            await connection.execute(_QUERIES["ping"])

    async def close(self) -> None:
        """Close the connections."""
        await self.pool.close()


@contextmanager
def reaching_read_model() -> Iterator[None]:
    """Turn every failure to reach the database into the one error for it.

    Raises:
        ReadModelUnavailable: Postgres could not be reached, refused, or ended the session.
    """
    try:
        yield
    except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName) as error:
        raise ReadModelUnavailable(
            "the read model's tables are not there: start a process of this generation again, "
            "which makes them, and the projector fills them from the log"
        ) from error
    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
        if isinstance(error, psycopg.errors.ProgramLimitExceeded):
            raise  # what was sent is at fault, not the server
        raise ReadModelUnavailable(
            f"the read model cannot be used: {error}; check that Postgres "
            "runs and that DATABASE_URL names it"
        ) from error


def schema_name(generation: str) -> str:
    """Return the database schema of a generation's tables."""
    return f"gen_{checked_generation(generation)}"


async def open_read_model(
    conninfo: str,
    *,
    generation: str,
    embedder: str,
    dimension: int,
    min_size: int = 1,
    max_size: int = 4,
    application_name: str = "memledger",
    read_only: bool = False,
    migrate: bool = False,
) -> ReadModel:
    """Open a generation's read model.

    Args:
        conninfo: the database; pgvector is installed in it.
        generation: the generation.
        embedder: the name of the embedder in use.
        dimension: its number of components, at most 16,000.
        min_size: connections that are always open.
        max_size: connections at most.
        application_name: how the sessions are shown in ``pg_stat_activity``.
        read_only: refuse every write on the pool's connections.
        migrate: make the tables where they are missing, and bring them up to date. Who only reads
            does not: a generation that is misspelt would become an empty read model.

    Raises:
        ConfigurationError: the generation has no tables, and they are not to be made.
        EmbedderMismatch: the read model was built with an embedder of another name or dimension.
        MigrationError: its tables are not those of this release.
        ReadModelUnavailable: the database cannot be reached.
    """
    schema = schema_name(generation)
    migrations = files("projections").joinpath("migrations")
    with reaching_read_model():
        if migrate:
            parameters = {"dimension": str(dimension)}
            await apply_migrations(conninfo, migrations, schema=schema, parameters=parameters)
        else:
            number = sum(file.name.endswith(".sql") for file in migrations.iterdir())
            await _check_made(conninfo, generation, number)
        vector_types = await _check_embedder(conninfo, schema, embedder, dimension, record=migrate)
        pool = await open_pool(
            conninfo,
            schema=schema,
            min_size=min_size,
            max_size=max_size,
            application_name=application_name,
            read_only=read_only,
            register=vector_types.register,
        )
    return ReadModel(
        generation=generation,
        conninfo=conninfo,
        pool=pool,
        embedder=embedder,
        dimension=dimension,
    )


async def _check_made(conninfo: str, generation: str, migrations: int) -> None:
    """Refuse a generation that has no tables, or those of another release.

    Raises:
        ConfigurationError: it has none.
        MigrationError: they lack migrations of this release, or have some of a later one.
    """
    schema = schema_name(generation)
    # In no other schema: the keyring keeps such a record too, and may share the database.
    in_schema = make_conninfo(conninfo, options=f"-c search_path={schema}")
    try:
        async with await AsyncConnection.connect(in_schema) as connection:
            rows = await (await connection.execute(_QUERIES["select_migrations"])).fetchall()
    except psycopg.errors.UndefinedTable:
        raise ConfigurationError(
            f"the {describe(conninfo)} has no read model of the generation {generation!r}: check "
            "MEMLEDGER_GENERATION, or start the pipeline with it (memledger up), which makes one"
        ) from None
    if len(rows) != migrations:
        raise MigrationError(
            f"the read model of the generation {generation!r} has {len(rows)} migrations, this "
            f"release {migrations}: start the pipeline again with the newer release, which brings "
            "the read model up to date, and use that release here too"
        )


async def _check_embedder(
    conninfo: str, schema: str, embedder: str, dimension: int, *, record: bool
) -> VectorTypes:
    in_schema = make_conninfo(conninfo, options=f"-c search_path={schema},public")
    ours = {"embedder": embedder, "dimension": dimension}
    async with await AsyncConnection.connect(in_schema) as connection:
        vector_types = await VectorTypes.fetch(connection)
        if record:
            await connection.execute(_QUERIES["record_embedder"], ours)
        found = await (await connection.execute(_QUERIES["select_embedder"])).fetchone()
    if found != (embedder, dimension):
        built = f"{found[0]!r} with {found[1]} components" if found else "no embedder"
        raise EmbedderMismatch(
            f"the schema {schema} of the {describe(conninfo)} was built with {built}, this process "
            f"uses {embedder!r} with {dimension}, and vectors of different embedders cannot be "
            "compared: start with the embedder it was built with, or give the other one a "
            "generation of its own (MEMLEDGER_GENERATION)"
        )
    return vector_types


async def name_subjects(connection: Connection, subjects: Iterable[UUID]) -> None:
    """Let a transaction see and write the rows of some subjects.

    Args:
        connection: a connection inside a transaction; the naming ends with it.
        subjects: the subjects; none makes it see nothing.
    """
    await connection.execute(_QUERIES["name_subjects"], {"subjects": subjects_text(subjects)})


def subjects_text(subjects: Iterable[UUID]) -> str:
    """Return subjects as the text of an array, which the setting that names them holds."""
    return "{" + ",".join(map(str, subjects)) + "}"


async def name_tenants(connection: Connection, tenants: Collection[str]) -> None:
    """Let a transaction see what is kept for some tenants as a whole: flags, and what they spent.

    Args:
        connection: a connection inside a transaction; the naming ends with it.
        tenants: the tenants' names; none makes it see nothing.
    """
    await connection.execute(_QUERIES["name_tenants"], {"tenants": sorted(tenants)})


async def name_every_subject(connection: Connection) -> None:
    """Let a transaction see the rows of every subject: for audits, which name none."""
    await connection.execute(_QUERIES["name_every_subject"])


async def count_waiting(connection: Connection) -> int:
    """Count the memories that wait for a vector, at most ``WAITING_MAX``.

    Args:
        connection: a connection inside a transaction that sees the rows of every subject.
    """
    cursor = await connection.execute(_QUERIES["count_waiting"], {"limit": WAITING_MAX})
    row = await cursor.fetchone()
    return 0 if row is None else int(row[0])
