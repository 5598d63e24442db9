"""The keyring's tables, as statements that each say what they need and what they found."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final
from uuid import UUID

import psycopg
from psycopg.rows import TupleRow

from schemas.database import Connection, Pool
from schemas.errors import KeyringUnavailable, MigrationError
from schemas.keyring.records import (
    Erased,
    Feed,
    FeedEntry,
    NewSubject,
    Pause,
    Snapshot,
    StoredBucket,
    StoredKeys,
)
from schemas.queries import load_queries

_QUERIES: Final = load_queries("schemas.keyring", "sql/keyring.sql")
_INDEX_KEY: Final = "index"


@asynccontextmanager
async def reaching_keyring(deadline_seconds: float | None) -> AsyncIterator[None]:
    """Turn every failure to reach the keyring's database in time into the one error for it.

    Raises:
        KeyringUnavailable: the database could not be reached, refused, or took too long.
        MigrationError: the keyring's tables are not there.
    """
    try:
        async with asyncio.timeout(deadline_seconds):
            yield
    except psycopg.errors.UndefinedTable as error:
        raise MigrationError(
            "the keyring's database lacks the tables of this release: run the migrations first"
        ) from error
    except (psycopg.Error, TimeoutError) as error:
        raise KeyringUnavailable(
            f"the keyring's database cannot be used: {str(error) or 'no answer in time'}; check "
            "that it runs and that MEMLEDGER_KEYRING_URL names it; nothing was taken for erased"
        ) from error


class KeyringStore:
    """Reads and writes the keyring's tables.

    Every method raises ``KeyringUnavailable`` where the database cannot be reached.
    """

    def __init__(self, pool: Pool, *, deadline_seconds: float) -> None:
        self._pool = pool
        self._deadline_seconds = deadline_seconds

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()

    # Buckets and checks

    async def buckets(self) -> list[StoredBucket]:
        """Return every bucket."""
        rows = await self._read("select_buckets")
        return [_bucket(row) for row in rows]

    async def index_key_check(self) -> bytes | None:
        """Return what the index key must answer; ``None`` before the keyring was made."""
        rows = await self._read("select_key_check", {"name": _INDEX_KEY})
        return bytes(rows[0][0]) if rows else None

    @asynccontextmanager
    async def setting_up(self) -> AsyncIterator[KeyringSetup]:
        """Hold the lock under which the keyring's keys are made, in one transaction."""
        async with self._transaction() as connection:
            await connection.execute(_QUERIES["lock_setup"])
            yield KeyringSetup(connection)

    # Tenants and API keys

    async def ensure_tenant(self, name: str) -> None:
        """Make a tenant, if it is not there yet."""
        await self._write("insert_tenant", {"name": name})

    async def tenant_id(self, name: str) -> UUID | None:
        """Return the id of a tenant; ``None`` where there is none of that name."""
        rows = await self._read("select_tenant", {"name": name})
        return rows[0][0] if rows else None

    async def insert_api_key(self, key_id: str, digest: bytes, tenant_id: UUID) -> None:
        """Store a new API key."""
        key = {"key_id": key_id, "digest": digest, "tenant_id": tenant_id}
        await self._write("insert_api_key", key)

    async def revoke_api_key(self, key_id: str) -> bool:
        """Revoke an API key; return whether it was valid."""
        return bool(await self._write("revoke_api_key", {"key_id": key_id}))

    async def api_key(self, key_id: str) -> tuple[bytes, str] | None:
        """Return the digest and the tenant's name of a valid API key; ``None`` for any other."""
        rows = await self._read("select_api_key", {"key_id": key_id})
        return (rows[0][0], rows[0][1]) if rows else None

    async def api_key_ids(self, tenant_id: UUID) -> list[str]:
        """Return the ids of a tenant's valid API keys, the oldest first."""
        rows = await self._read("select_api_key_ids", {"tenant_id": tenant_id})
        return [row[0] for row in rows]

    # Subjects

    async def living_users(self, tenant_id: UUID, indexes: Collection[bytes]) -> Snapshot:
        """Return the living subjects of those index entries that have one."""
        parameters = {"tenant_id": tenant_id, "indexes": list(indexes)}
        rows = await self._read("select_users", parameters)
        living = tuple(
            StoredKeys(
                user_index=row[0],
                subject=row[1],
                wrapped=row[2],
                bucket=_bucket(row[3:7]),
                paused=row[7],
            )
            for row in rows
        )
        return Snapshot(head=rows[0][8] if rows else 0, living=living)

    async def subjects(self, subjects: Collection[UUID]) -> Snapshot:
        """Return what is known of each subject."""
        rows = await self._read("select_subjects", {"subjects": list(set(subjects))})
        living, erased, missing = [], [], []
        for subject, wrapped, *bucket, tenant, user_sealed, paused, seq, destroyed_at, _ in rows:
            if seq is not None:
                erased.append(Erased(subject=subject, seq=seq, destroyed_at=destroyed_at))
            elif wrapped is None:
                missing.append(subject)
            else:
                living.append(
                    StoredKeys(
                        subject=subject,
                        wrapped=wrapped,
                        bucket=_bucket(bucket),
                        tenant=tenant,
                        user_sealed=user_sealed,
                        paused=paused,
                    )
                )
        return Snapshot(
            head=rows[0][-1] if rows else 0,
            living=tuple(living),
            erased=tuple(erased),
            missing=tuple(missing),
        )

    async def insert_subjects(
        self, tenant_id: UUID, new: Sequence[NewSubject]
    ) -> tuple[set[UUID], int]:
        """Store those of the new subjects that still can be.

        Returns:
            The subjects that were stored, and the end of the feed that the statement could see.
        """
        parameters = {
            "tenant_id": tenant_id,
            "subjects": [subject.keys.subject for subject in new],
            "indexes": [subject.user_index for subject in new],
            "users_sealed": [subject.user_sealed for subject in new],
            "wrapped": [subject.wrapped for subject in new],
            "bucket_ids": [subject.bucket.bucket_id for subject in new],
            "key_versions": [subject.bucket.key_version for subject in new],
        }
        rows = await self._write("insert_subjects", parameters)
        return {row[0] for row in rows}, rows[0][1] if rows else 0

    async def system_subject(self) -> UUID | None:
        """Return the system's own subject; ``None`` before it was made."""
        rows = await self._read("select_system_subject")
        return rows[0][0] if rows else None

    async def insert_system_subject(
        self, subject: UUID, wrapped: bytes, bucket: StoredBucket
    ) -> None:
        """Store the system's own subject, unless another process was faster."""
        parameters = {
            "subject": subject,
            "wrapped": wrapped,
            "bucket_id": bucket.bucket_id,
            "key_version": bucket.key_version,
        }
        await self._write("insert_system_subject", parameters)

    # The feed: destructions and pauses

    async def destroy(self, subject: UUID, control_position: int | None) -> int:
        """Wipe a subject's row and record its destruction, at once; return the record's number."""
        parameters = {"subject": subject, "control_position": control_position}
        async with self._transaction() as connection:
            await connection.execute(_QUERIES["lock_feed"])
            await connection.execute(_QUERIES["insert_destruction"], parameters)
            await connection.execute(_QUERIES["wipe_subject"], parameters)
            await connection.execute(_QUERIES["wipe_pause"], parameters)
            cursor = await connection.execute(_QUERIES["select_destruction"], parameters)
            row = await cursor.fetchone()
        if row is None:  # an erasure without its record must stop here, in production as well
            raise RuntimeError(f"the destruction of {subject} was written and cannot be read back")
        return int(row[0])

    async def set_pause(self, subject: UUID, *, paused: bool) -> None:
        """Pause or resume a subject, if it lives."""
        parameters = {"subject": subject, "paused": paused}
        async with self._transaction() as connection:
            await connection.execute(_QUERIES["lock_feed"])
            await connection.execute(_QUERIES["set_pause"], parameters)

    async def pause(self, subject: UUID) -> Pause | None:
        """Return whether a living subject has paused; ``None`` where it does not live."""
        rows = await self._read("select_pause", {"subject": subject})
        return Pause(paused=rows[0][0], since=rows[0][1]) if rows else None

    async def feed(self, after: int) -> Feed:
        """Return the entries of the feed after one that was seen."""
        rows = await self._read("select_feed", {"after": after})
        return Feed(
            head=rows[0][0],
            entries=tuple(
                FeedEntry(seq=seq, subject=subject, kind=kind)
                for _, seq, subject, kind in rows
                if seq is not None
            ),
        )

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        """Return those of the subjects whose destruction is recorded."""
        rows = await self._read("select_erased", {"subjects": list(set(subjects))})
        return {row[0] for row in rows}

    async def applied_position(self) -> int | None:
        """Return the control offset up to which destructions are applied; ``None`` before any."""
        rows = await self._read("select_applied")
        return rows[0][0] if rows else None

    async def advance_applied(self, control_position: int) -> None:
        """Move the control offset up to which destructions are applied; never back."""
        await self._write("advance_applied", {"control_position": control_position})

    # Statements

    async def _read(
        self, query: str, parameters: Mapping[str, Any] | None = None
    ) -> list[TupleRow]:
        async with reaching_keyring(self._deadline_seconds):
            try:
                return await self._execute(query, parameters)
            except psycopg.OperationalError:
                # After a restart of the database every idle connection is dead. Reading changes
                # nothing, so it is tried again once the dead ones were replaced.
                await self._pool.check()
                return await self._execute(query, parameters)

    async def _write(self, query: str, parameters: Mapping[str, Any]) -> list[TupleRow]:
        async with reaching_keyring(self._deadline_seconds):
            return await self._execute(query, parameters)

    async def _execute(self, query: str, parameters: Mapping[str, Any] | None) -> list[TupleRow]:
        async with self._pool.connection() as connection, connection.cursor(binary=True) as cursor:
            await cursor.execute(_QUERIES[query], parameters)
            return await cursor.fetchall() if cursor.description else []

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Connection]:
        async with (
            reaching_keyring(self._deadline_seconds),
            self._pool.connection() as connection,
            connection.transaction(),
        ):
            yield connection


class KeyringSetup:
    """What may be done while no other process sets up the keyring."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def count_buckets(self) -> int:
        """Return how many buckets there are: none before the keyring was made."""
        cursor = await self._connection.execute(_QUERIES["count_buckets"])
        row = await cursor.fetchone()
        return int(row[0]) if row else 0

    async def create(self, buckets: Sequence[StoredBucket], index_key_check: bytes) -> None:
        """Store the buckets of a new keyring, and what its index key must answer."""
        columns = {
            "bucket_ids": [bucket.bucket_id for bucket in buckets],
            "epochs": [bucket.epoch for bucket in buckets],
            "key_versions": [bucket.key_version for bucket in buckets],
            "wrapped": [bucket.wrapped for bucket in buckets],
        }
        await self._connection.execute(_QUERIES["insert_buckets"], columns)
        check = {"name": _INDEX_KEY, "digest": index_key_check}
        await self._connection.execute(_QUERIES["insert_key_check"], check)


def _bucket(columns: Sequence[Any]) -> StoredBucket:
    bucket_id, epoch, key_version, wrapped = columns
    return StoredBucket(bucket_id=bucket_id, epoch=epoch, key_version=key_version, wrapped=wrapped)
