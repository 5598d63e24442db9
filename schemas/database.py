"""Postgres as both of memledger's databases use it: migrations and pools."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from types import MappingProxyType
from typing import Final, TypeAlias

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool

from schemas.errors import ConfigurationError, MigrationError
from schemas.queries import load_queries

Connection: TypeAlias = AsyncConnection[TupleRow]
Pool: TypeAlias = AsyncConnectionPool[Connection]

# Another process may be migrating: a large index takes minutes, a hanging process must not take
# every later start with it.
LOCK_WAIT_MS_MAX: Final = 120_000

# Attempts then lie at most two seconds apart, however long the server has been away.
_RECONNECT_ROUND_SECONDS: Final = 3.0

_MIGRATION_FILE: Final = re.compile(r"(\d{4})_([a-z0-9_]+)\.sql")
_PARAMETER: Final = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_SAFE_PARAMETER: Final = re.compile(r"[0-9]{1,9}|[a-z_][a-z0-9_]{0,62}")


_QUERIES: Final = load_queries("schemas", "sql/database.sql")


def describe(conninfo: str) -> str:
    """Return where a connection string points, without its password, for messages."""
    parts = conninfo_to_dict(conninfo)
    return (
        f"database {parts.get('dbname', 'of the default name')!r} at "
        f"{parts.get('host', 'the default host')}:{parts.get('port', 5432)}"
    )


async def ensure_database(conninfo: str) -> bool:
    """Create the database that ``conninfo`` names if it is missing; return whether it was.

    Raises:
        ConfigurationError: the server cannot be reached, or the login may not create databases.
    """
    name = conninfo_to_dict(conninfo).get("dbname")
    try:
        async with await AsyncConnection.connect(conninfo):
            return False
    except psycopg.OperationalError as error:
        if name is None:
            raise ConfigurationError(
                f"cannot connect to the {describe(conninfo)}: {error}"
            ) from error
        refusal = error
    try:
        return await _create_database(conninfo, str(name), refusal)
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            f"the {describe(conninfo)} does not exist and the login may not create it: "
            f"create it yourself (CREATE DATABASE {name}) or grant the login CREATEDB"
        ) from error
    except psycopg.Error as error:
        raise ConfigurationError(
            f"cannot create the {describe(conninfo)}: {error}; check that the server runs and that "
            "the connection string names a login it accepts"
        ) from error


async def _create_database(conninfo: str, name: str, refusal: psycopg.OperationalError) -> bool:
    maintenance = make_conninfo(conninfo, dbname="postgres")
    async with await AsyncConnection.connect(maintenance, autocommit=True) as connection:
        found = await connection.execute(_QUERIES["database_exists"], {"name": name})
        row = await found.fetchone()
        if row is not None and row[0]:
            # It exists, so the login was refused for another reason, which the caller must see.
            raise refusal
        try:
            await connection.execute(_named("create_database", name=name))
        except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
            return False  # another process was faster
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Migration:
    """One numbered file of statements.

    Attributes:
        number: its place in the order, from 1.
        name: the file's whole name.
        text: the file's text, parameters not yet filled in.
    """

    number: int
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.text.encode()).hexdigest()

    def statements(self, parameters: Mapping[str, str]) -> str:
        def fill(match: re.Match[str]) -> str:
            value = parameters.get(match[1])
            if value is None:
                raise MigrationError(f"{self.name} needs a value for the parameter {match[1]!r}")
            if not _SAFE_PARAMETER.fullmatch(value):
                raise MigrationError(
                    f"the parameter {match[1]!r} of {self.name} must be a whole number or a plain "
                    f"lower-case identifier, not {value!r}"
                )
            return value

        return _PARAMETER.sub(fill, self.text)


def _migrations_in(directory: Traversable) -> list[_Migration]:
    migrations: dict[int, _Migration] = {}
    for entry in directory.iterdir():
        if not entry.name.endswith(".sql"):
            continue
        match = _MIGRATION_FILE.fullmatch(entry.name)
        if match is None:
            raise MigrationError(f"name the migration {entry.name!r} like 0001_what_it_does.sql")
        number = int(match[1])
        if number in migrations:
            raise MigrationError(f"two migrations have the number {number:04d}")
        text = entry.read_text(encoding="utf-8")
        migrations[number] = _Migration(number=number, name=entry.name, text=text)
    if sorted(migrations) != list(range(1, len(migrations) + 1)):
        raise MigrationError("migrations are numbered from 0001 without a gap")
    return [migrations[number] for number in sorted(migrations)]


async def migrate(
    conninfo: str,
    directory: Traversable,
    *,
    schema: str | None = None,
    parameters: Mapping[str, str] = MappingProxyType({}),
) -> list[int]:
    """Apply the migrations that a database lacks, in order, each in a transaction of its own.

    Processes that start together wait for each other, so every migration is applied once.

    Args:
        conninfo: the database; the login owns what is made.
        directory: files named ``NNNN_what_it_does.sql``, numbered from 0001 without a gap.
        schema: the schema to make and to work in; without one, the login's default.
        parameters: values for ``{name}`` in the files: whole numbers or plain identifiers.

    Returns:
        The numbers that were applied now.

    Raises:
        MigrationError: an applied file was changed, the database is newer than the files, a
            parameter is missing or unsafe, a statement failed, or another process held the lock
            for longer than two minutes.
        psycopg.OperationalError: the database cannot be reached.
    """
    migrations = _migrations_in(directory)
    scripts = [migration.statements(parameters) for migration in migrations]
    applied_now: list[int] = []
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        await _lock_structure(connection)
        if schema is not None:
            await connection.execute(_named("create_schema", schema=schema))
            await connection.execute(_named("set_search_path", schema=schema))
        await connection.execute(_QUERIES["create_schema_migrations"])
        applied = await _check_applied(connection, migrations)
        for migration, script in list(zip(migrations, scripts, strict=True))[applied:]:
            await _apply(connection, migration, script)
            applied_now.append(migration.number)
    return applied_now


async def _lock_structure(connection: Connection) -> None:
    await connection.execute(_QUERIES["limit_lock_wait"], {"milliseconds": str(LOCK_WAIT_MS_MAX)})
    try:
        await connection.execute(_QUERIES["lock_structure"])
    except psycopg.errors.LockNotAvailable as error:
        raise MigrationError(
            "another process has been changing this database's structure for "
            f"{LOCK_WAIT_MS_MAX // 1000} s: wait for it or end its session, then start again"
        ) from error


async def _check_applied(connection: Connection, migrations: list[_Migration]) -> int:
    """Return how many of the migrations are applied, after checking that they are the same."""
    cursor = await connection.execute(_QUERIES["select_schema_migrations"])
    rows = await cursor.fetchall()
    for position, (number, name, sha256) in enumerate(rows):
        if position >= len(migrations):
            raise MigrationError(
                f"the database has the migration {name}, which this release does not know: "
                "it was made by a newer release; run that one"
            )
        migration = migrations[position]
        if number != migration.number or sha256 != migration.sha256:
            raise MigrationError(
                f"the database was migrated by {name} with another text than {migration.name} has "
                "now: restore the file, and put the change into a new migration"
            )
    return len(rows)


async def _apply(connection: Connection, migration: _Migration, script: str) -> None:
    record = {"number": migration.number, "name": migration.name, "sha256": migration.sha256}
    try:
        async with connection.transaction():
            await connection.execute(script.encode())
            await connection.execute(_QUERIES["insert_schema_migration"], record)
    except psycopg.errors.DatabaseError as error:
        raise MigrationError(f"{migration.name} failed and was rolled back: {error}") from error


async def open_pool(
    conninfo: str,
    *,
    schema: str | None = None,
    min_size: int = 1,
    max_size: int = 8,
    application_name: str = "memledger",
    read_only: bool = False,
    row_security: bool = True,
    timeout_seconds: float = 10.0,
    register: Callable[[Connection], None] | None = None,
) -> Pool:
    """Open a pool of autocommit connections and wait until the first are there.

    Row-level security does not hold for superusers. Where the login is one (or has BYPASSRLS), each
    connection acts as the role ``memledger_app``, which is made and granted the schema's tables.

    Args:
        conninfo: the database.
        schema: the schema whose tables are found first; without one, the login's default.
        min_size: connections that are always open.
        max_size: connections at most.
        application_name: how the sessions are shown in ``pg_stat_activity``.
        read_only: refuse every write on these connections.
        row_security: act as the restricted role; ``False`` keeps the login, which a bulk load by
            COPY and a change of structure need.
        timeout_seconds: how long to wait for a connection, now and on every use.
        register: teaches each connection types of its own.

    Raises:
        ConfigurationError: row-level security would not hold for the login, and the restricted
            role cannot be made.
        psycopg.OperationalError: the database cannot be reached.
    """
    restricted = row_security and await _prepare_application_role(conninfo, schema)

    async def configure(connection: Connection) -> None:
        if schema is not None:
            await connection.execute(_named("set_search_path", schema=schema))
        if restricted:
            await connection.execute(_QUERIES["become_application_role"])
        if read_only:
            await connection.execute(_QUERIES["read_only"])
        if register is not None:
            register(connection)

    pool: Pool = AsyncConnectionPool(
        conninfo,
        kwargs={"autocommit": True, "application_name": application_name},
        min_size=min_size,
        max_size=max_size,
        configure=configure,
        timeout=timeout_seconds,
        reconnect_timeout=_RECONNECT_ROUND_SECONDS,
        reconnect_failed=_Reconnecting(),
        open=False,
        name=application_name,
    )
    try:
        await pool.open(wait=True, timeout=timeout_seconds)
    except BaseException:
        await pool.close()
        raise
    return pool


class _Reconnecting:
    """Begins another round of attempts to connect when one has failed.

    A pool doubles the pause between its attempts, so that after a long outage it would find the
    server again only after another one of about half that length. And once it has given up it tries
    only for who asks it next, while those who wait already go on waiting.
    """

    def __init__(self) -> None:
        self._asking: set[asyncio.Task[None]] = set()

    def __call__(self, pool: Pool) -> None:
        """Called by the pool; the round is a task, since the pool waits for this call."""
        task = asyncio.create_task(self._ask(pool))
        self._asking.add(task)
        task.add_done_callback(self._asking.discard)

    async def _ask(self, pool: Pool) -> None:
        # Who asks for a connection makes the pool try; whether there is one makes no difference.
        with suppress(psycopg.OperationalError):
            async with pool.connection():
                pass


async def _prepare_application_role(conninfo: str, schema: str | None) -> bool:
    """Return whether connections must act as the restricted role, after making sure they can."""
    async with await AsyncConnection.connect(conninfo, autocommit=True) as connection:
        cursor = await connection.execute(_QUERIES["login_passes_row_security"])
        row = await cursor.fetchone()
        if row is None or not row[0]:
            return False
        await _lock_structure(connection)
        try:
            await connection.execute(_QUERIES["create_application_role"])
            await connection.execute(_QUERIES["grant_application_role"])
            grants = _named("grant_schema_to_application_role", schema=schema or "public")
            await connection.execute(grants)
        except psycopg.errors.InsufficientPrivilege as error:
            raise ConfigurationError(
                "row-level security does not hold for the login of the "
                f"{describe(conninfo)}, and the role memledger_app cannot be made: "
                "use a login without SUPERUSER and BYPASSRLS"
            ) from error
    return True


def _named(query: str, **identifiers: str) -> sql.Composed:
    quoted = {name: sql.Identifier(value) for name, value in identifiers.items()}
    return sql.SQL(_QUERIES[query]).format(**quoted)
