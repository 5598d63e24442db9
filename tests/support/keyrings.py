"""Keyrings on a real Postgres, and what a test does to them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from deploy.embedded import EmbeddedPostgres
from schemas.keyring import Keyring, SubjectKeys
from schemas.keyring.records import StoredBucket
from schemas.keyring.store import KeyringStore
from schemas.keyring.wrapping import FileEpochKeys, Wrapper

TENANT = "acme"


class ManualClock:
    """Monotonic seconds that pass when told to, so that a lease lasts until a test ends it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass(frozen=True, kw_only=True)
class KeyringSite:
    """Where one keyring lives.

    Attributes:
        url: its database.
        keys: its key directory.
    """

    url: str
    keys: Path

    @asynccontextmanager
    async def open(self, **options: Any) -> AsyncIterator[Keyring]:
        keyring = await Keyring.open(self.url, self.keys, **{"migrate": True, **options})
        try:
            await keyring.ensure_tenant(TENANT)
            yield keyring
        finally:
            await keyring.close()

    @contextmanager
    def connection(self) -> Iterator[psycopg.Connection]:
        with psycopg.connect(
            self.url, autocommit=True, options="-c search_path=keyring"
        ) as connection:
            yield connection


@contextmanager
def cut_off(postgres: EmbeddedPostgres, url: str) -> Iterator[None]:
    """End every session of a database and let no new one begin."""
    name = str(conninfo_to_dict(url)["dbname"])
    allow = sql.SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
    with psycopg.connect(postgres.superuser_url(), autocommit=True) as connection:
        connection.execute(allow.format(sql.Identifier(name), sql.SQL("false")))
        end_sessions(connection, name)
        try:
            yield
        finally:
            connection.execute(allow.format(sql.Identifier(name), sql.SQL("true")))


def end_sessions(connection: psycopg.Connection, name: str) -> None:
    connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
    )


@contextmanager
def counting_statements() -> Iterator[list[str]]:
    """The names of the statements that keyrings execute meanwhile."""
    names: list[str] = []
    execute = KeyringStore._execute

    async def counted(self: KeyringStore, query: str, parameters: Any) -> Any:
        names.append(query)
        return await execute(self, query, parameters)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(KeyringStore, "_execute", counted)
        yield names


async def one_user(keyring: Keyring, user_id: str = "ann") -> SubjectKeys:
    return (await keyring.subjects_for(TENANT, [user_id], create=True))[user_id]


async def open_and_close(site: KeyringSite) -> None:
    async with site.open():
        pass


async def waits_for_lock(site: KeyringSite) -> bool:
    with site.connection() as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = database"
            " WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()"
        ).fetchone()
    return row is not None and row[0] > 0


def replace_bucket_keys(site: KeyringSite) -> None:
    """Give every bucket of a keyring without subjects a new key, as a rotation does."""
    wrapper = Wrapper(FileEpochKeys(site.keys))
    with site.connection() as connection:
        for bucket_id in range(1024):
            bucket: StoredBucket = wrapper.new_bucket(bucket_id, 1, key_version=2)
            connection.execute(
                "UPDATE buckets SET key_version = 2, wrapped = %s WHERE bucket_id = %s",
                (bucket.wrapped, bucket_id),
            )


def every_value(site: KeyringSite) -> Iterator[bytes]:
    """Every value of every table, as the bytes it holds."""
    with site.connection() as connection:
        tables = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = 'keyring'"
        ).fetchall()
        for (table,) in tables:
            query = sql.SQL("SELECT * FROM {}").format(sql.Identifier(table))
            for row in connection.execute(query):
                for value in row:
                    if isinstance(value, bytes):
                        yield value
                    elif isinstance(value, UUID):
                        yield value.bytes
                    else:
                        yield str(value).encode()
