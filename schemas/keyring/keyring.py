"""The one door to subjects: which one a user is, its keys, or the record of their end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection
from importlib.resources import files
from pathlib import Path
from shlex import quote
from typing import Final, Self, TypeVar
from uuid import UUID

from schemas.database import migrate as apply_migrations
from schemas.database import open_pool
from schemas.errors import (
    InvalidApiKey,
    InvalidInput,
    KeyMissing,
    KeyringUnavailable,
    UnknownTenant,
)
from schemas.keyring.api_keys import ApiKey
from schemas.keyring.authentication import Authenticator
from schemas.keyring.directory import SubjectDirectory
from schemas.keyring.lease import LeasedCache
from schemas.keyring.records import Erased, Pause, SubjectKeys
from schemas.keyring.setup import set_up, verify
from schemas.keyring.store import KeyringStore, reaching_keyring
from schemas.keyring.wrapping import FileEpochKeys, Wrapper

LEASE_SECONDS: Final = 0.5
"""How long after a destruction or a pause was committed a process may not know of it, at most."""

CACHED_SUBJECTS_MAX: Final = 50_000
DEADLINE_SECONDS: Final = 5.0
TENANT_NAME_LENGTH_MAX: Final = 200
_PAUSE_ATTEMPTS_MAX: Final = 5
_SCHEMA: Final = "keyring"

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class Keyring:
    """The one door to subjects and their keys. Made by :meth:`open`.

    Every method raises ``KeyringUnavailable`` where the database cannot be reached in time, from
    which nothing may be concluded.
    """

    def __init__(
        self,
        store: KeyringStore,
        wrapper: Wrapper,
        index_key: bytes,
        *,
        lease_seconds: float = LEASE_SECONDS,
        cached_subjects_max: int = CACHED_SUBJECTS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store = store
        self._lease_seconds = lease_seconds
        self._cache = LeasedCache(
            store.feed, lease_seconds=lease_seconds, capacity=cached_subjects_max, clock=clock
        )
        self._directory = SubjectDirectory(store, wrapper, index_key, self._cache)
        self._authenticator = Authenticator(store, lease_seconds=lease_seconds, clock=clock)
        self._tenant_ids: dict[str, UUID] = {}
        self._system: UUID | None = None

    @classmethod
    async def open(
        cls,
        dsn: str,
        key_directory: Path,
        *,
        migrate: bool = False,
        lease_seconds: float = LEASE_SECONDS,
        cached_subjects_max: int = CACHED_SUBJECTS_MAX,
        pool_size_min: int = 1,
        pool_size_max: int = 4,
        deadline_seconds: float = DEADLINE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> Self:
        """Open the keyring and check that the key directory belongs to its database.

        Args:
            dsn: the keyring's own database.
            key_directory: where the epoch keys lie, outside Postgres and its backups.
            migrate: apply the migrations first, and make the keys of a new keyring. For one
                process before the others; it is safe, not needed, in all of them.
            lease_seconds: how long keys are served from memory without asking again.
            cached_subjects_max: subjects kept in memory.
            pool_size_min: connections that are always open.
            pool_size_max: connections at most.
            deadline_seconds: how long one statement may take, waiting for a connection included.
            clock: monotonic seconds.

        Raises:
            KeyMissing: the key directory lacks a key, or belongs to another keyring.
            MigrationError: the database's tables are not those of this release.
        """
        async with reaching_keyring(None):
            if migrate:
                migrations = files("schemas.keyring").joinpath("migrations")
                await apply_migrations(dsn, migrations, schema=_SCHEMA)
            pool = await open_pool(
                dsn,
                schema=_SCHEMA,
                min_size=pool_size_min,
                max_size=pool_size_max,
                application_name="memledger-keyring",
                row_security=False,
                timeout_seconds=deadline_seconds,
            )
        store = KeyringStore(pool, deadline_seconds=deadline_seconds)
        try:
            epoch_keys = FileEpochKeys(key_directory)
            wrapper = Wrapper(epoch_keys)
            if migrate:
                await set_up(store, wrapper, epoch_keys)
            keyring = cls(
                store,
                wrapper,
                await verify(store, wrapper, epoch_keys),
                lease_seconds=lease_seconds,
                cached_subjects_max=cached_subjects_max,
                clock=clock,
            )
            # Nothing is remembered before the feed was read once.
            await keyring._cache.hold()
        except BaseException:
            await store.close()
            raise
        return keyring

    async def close(self) -> None:
        """Close the connections."""
        await self._cache.settle()
        await self._store.close()

    # Tenants and API keys

    async def ensure_tenant(self, name: str) -> None:
        """Make a tenant, if it is not there yet.

        Raises:
            InvalidInput: the name is blank, too long, or has characters that cannot be printed.
        """
        if not name.strip() or len(name) > TENANT_NAME_LENGTH_MAX or not name.isprintable():
            raise InvalidInput(
                field="tenant",
                problem=f"{name[:50]!r} is no name of a tenant",
                remedy=f"give 1 to {TENANT_NAME_LENGTH_MAX} printable characters",
            )
        await self._store.ensure_tenant(name)

    async def create_api_key(self, tenant: str) -> str:
        """Make an API key of a tenant and return its token, which cannot be had again.

        Raises:
            UnknownTenant: there is no such tenant.
        """
        key = ApiKey.new()
        await self._store.insert_api_key(key.key_id, key.digest, await self._tenant_id(tenant))
        return key.token

    async def api_key_ids(self, tenant: str) -> list[str]:
        """Return the ids of a tenant's valid API keys, the oldest first; none is a secret.

        Raises:
            UnknownTenant: there is no such tenant.
        """
        return await self._store.api_key_ids(await self._tenant_id(tenant))

    async def revoke_api_key(self, key_id: str) -> None:
        """Refuse an API key from now on; other processes follow within a lease.

        Args:
            key_id: the part between the first two underscores of the token, not a secret.

        Raises:
            InvalidApiKey: there is no valid key of that id.
        """
        if not await self._store.revoke_api_key(key_id):
            raise InvalidApiKey(f"no valid API key has the id {key_id!r}: check the id")
        self._authenticator.forget(key_id)

    async def authenticate(self, token: str) -> str:
        """Return the name of the tenant that an API key belongs to.

        Raises:
            InvalidApiKey: the key is malformed, unknown or revoked.
        """
        return await self._authenticator.authenticate(token)

    async def tenant_of_api_key(self, key_id: str) -> str | None:
        """Return the tenant of a valid API key by its id; ``None`` where there is no such key."""
        return await self._authenticator.tenant_of(key_id)

    async def require_tenant(self, name: str) -> None:
        """Make sure that there is a tenant of that name.

        Raises:
            UnknownTenant: there is none.
        """
        await self._tenant_id(name)

    # Subjects

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        """Return the living subjects of a tenant's users.

        Args:
            tenant: the tenant's name.
            user_ids: the users, compared exactly as they are spelled.
            create: make a subject for each user who has none; otherwise they are left out.

        Raises:
            UnknownTenant: there is no such tenant.
            InvalidInput: a user id holds a lone surrogate, which no encoding carries.
        """
        tenant_id = await self._tenant_id(tenant)

        async def fetch(users: Collection[str]) -> dict[str, SubjectKeys]:
            return await self._directory.users(tenant, tenant_id, users, create=create)

        return await self._serve(
            user_ids, lambda user_id: self._cache.user((tenant, user_id)), fetch
        )

    async def keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        """Return each subject's keys, or the record of their destruction.

        Raises:
            KeyMissing: a subject has neither. It stops the caller: it does not mean erased.
        """
        return await self._serve(subjects, self._cache.subject, self._directory.states)

    async def fresh_keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        """Return the same as :meth:`keys`, read from the database after the call began.

        Raises:
            KeyMissing: a subject has neither keys nor a record of their destruction.
        """
        return await self._directory.states(subjects) if subjects else {}

    async def user_ids(self, subjects: Collection[UUID]) -> dict[UUID, str]:
        """Return the user ids of those of the subjects that are living users.

        Raises:
            KeyMissing: a subject has neither keys nor a record of their destruction.
        """
        return await self._directory.user_ids(subjects) if subjects else {}

    async def system_subject(self) -> SubjectKeys:
        """Return the subject of the records that belong to no user; it is made once."""
        if self._system is None:
            self._system = await self._directory.system()
        state = (await self.keys([self._system]))[self._system]
        if isinstance(state, Erased):
            raise KeyMissing(
                "the system's own subject is recorded as destroyed, which nothing may do: "
                "restore the keyring from its backup"
            )
        return state

    # Pauses

    async def set_paused(self, tenant: str, user_id: str, *, paused: bool) -> Pause:
        """Pause or resume a user's memory; return once every process knows of it.

        That takes a lease. A user of whom nothing was ever heard is given a
        subject to pause, and none to resume. An erasure ends a pause: who comes back is a new user.

        Raises:
            UnknownTenant: there is no such tenant.
        """
        for _ in range(_PAUSE_ATTEMPTS_MAX):
            found = await self.subjects_for(tenant, [user_id], create=paused)
            if user_id not in found:
                return Pause(paused=False, since=None)
            subject = found[user_id].subject
            await self._store.set_pause(subject, paused=paused)
            self._cache.evict(subject)
            state = await self._store.pause(subject)
            if state is not None:
                # After that no process serves what it read before the change. Also where nothing
                # changed now: whoever sends the same again may come while the first one waits.
                await asyncio.sleep(self._lease_seconds)
                return state
        raise KeyringUnavailable("the user is erased as fast as it is paused: try again later")

    async def pause(self, tenant: str, user_id: str) -> Pause:
        """Return whether a user has paused memory, read from the database.

        Raises:
            UnknownTenant: there is no such tenant.
        """
        found = await self.subjects_for(tenant, [user_id], create=False)
        state = await self._store.pause(found[user_id].subject) if user_id in found else None
        return state or Pause(paused=False, since=None)

    # Destructions

    async def destroy(self, subject: UUID, *, control_position: int | None = None) -> int:
        """Destroy a subject's keys and record it, in one transaction; again changes nothing.

        It is recorded also where the keyring has no such subject: a keyring restored from a backup
        must learn of the end of subjects that came after it.

        Args:
            subject: the subject.
            control_position: the offset in the control topic that asked for it.

        Returns:
            The number of the record, which grows in the order of commit.
        """
        seq = await self._store.destroy(subject, control_position)
        self._cache.evict(subject)  # other processes follow within a lease
        return seq

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        """Return those of the subjects whose destruction is recorded, by one fresh query."""
        return await self._store.erased_among(subjects) if subjects else set()

    async def applied_position(self) -> int | None:
        """Return the control offset up to which destructions are applied; ``None`` before any."""
        return await self._store.applied_position()

    async def advance_applied(self, control_position: int) -> None:
        """Record that the destructions asked for up to a control offset are applied."""
        await self._store.advance_applied(control_position)

    # How it is done

    async def _serve(
        self,
        wanted: Collection[_Key],
        cached: Callable[[_Key], _Value | None],
        fetch: Callable[[Collection[_Key]], Awaitable[dict[_Key, _Value]]],
    ) -> dict[_Key, _Value]:
        """Answer from the cache under the lease, and from the database what is not there.

        The lease is renewed while what is missing is fetched, so a call takes one round trip; it
        takes a second one only where the feed just named a subject that was cached.
        """
        found, missing = _split(wanted, cached)
        if found:
            self._cache.renew()
        if not missing and self._cache.valid:
            return found
        fetched = await fetch(missing) if missing else {}
        if found:
            if not await self._cache.hold():
                return await fetch(wanted)
            found, evicted = _split(found, cached)
            if evicted:
                fetched |= await fetch(evicted)
        return found | fetched

    async def _tenant_id(self, tenant: str) -> UUID:
        tenant_id = self._tenant_ids.get(tenant)
        if tenant_id is None:
            tenant_id = None if "\0" in tenant else await self._store.tenant_id(tenant)
            if tenant_id is None:
                raise UnknownTenant(
                    f"there is no tenant {tenant!r}: check its spelling, or make it together with "
                    f"its first key by `memledger keys create --tenant {quote(tenant)} "
                    "--new-tenant`"
                )
            self._tenant_ids[tenant] = tenant_id
        return tenant_id


def _split(
    wanted: Collection[_Key], cached: Callable[[_Key], _Value | None]
) -> tuple[dict[_Key, _Value], list[_Key]]:
    found: dict[_Key, _Value] = {}
    missing = []
    for key in dict.fromkeys(wanted):
        value = cached(key)
        if value is None:
            missing.append(key)
        else:
            found[key] = value
    return found, missing
