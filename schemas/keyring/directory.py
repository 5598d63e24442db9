"""Finding and making subjects, as the database has them now."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID, uuid4

from schemas.errors import InvalidInput, KeyMissing, KeyringUnavailable
from schemas.keyring.lease import LeasedCache
from schemas.keyring.records import Erased, NewSubject, Snapshot, SubjectKeys
from schemas.keyring.store import KeyringStore
from schemas.keyring.wrapping import Wrapper, new_keys, open_user_id, seal_user_id, user_index

# A user is erased, or a bucket gets a new key, between two statements of one attempt. Twice in a
# row is already no accident; the bound is there so that nothing loops.
_CREATE_ATTEMPTS_MAX: Final = 5
_NAMED_MAX: Final = 5


class SubjectDirectory:
    """Reads and makes subjects in the database, and tells the cache what was found.

    Every method raises ``KeyringUnavailable`` where the database cannot be reached, and
    ``KeyMissing`` where keys are there and do not open.
    """

    def __init__(
        self, store: KeyringStore, wrapper: Wrapper, index_key: bytes, cache: LeasedCache
    ) -> None:
        self._store = store
        self._wrapper = wrapper
        self._index_key = index_key
        self._cache = cache

    async def states(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        """Return each subject's keys, or the record of their destruction.

        Raises:
            KeyMissing: a subject has neither.
        """
        snapshot = await self._snapshot(subjects)
        found: dict[UUID, SubjectKeys | Erased] = {
            stored.subject: self._wrapper.unwrap(stored, stored.tenant)
            for stored in snapshot.living
        }
        found.update((erased.subject, erased) for erased in snapshot.erased)
        for state in found.values():
            self._cache.put(state, head=snapshot.head)
        return found

    async def user_ids(self, subjects: Collection[UUID]) -> dict[UUID, str]:
        """Return the user ids of those of the subjects that are living users.

        Raises:
            KeyMissing: a subject has neither keys nor a record of their destruction.
        """
        snapshot = await self._snapshot(subjects)
        return {
            stored.subject: open_user_id(
                self._wrapper.unwrap(stored, stored.tenant), stored.user_sealed
            )
            for stored in snapshot.living
            if stored.user_sealed is not None
        }

    async def users(
        self, tenant: str, tenant_id: UUID, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        """Return the living subjects of a tenant's users: one statement, or three to make some.

        Raises:
            InvalidInput: a user id holds a lone surrogate, which no encoding carries.
        """
        indexes = {self._user_index(tenant_id, user_id): user_id for user_id in user_ids}
        found = await self._find(tenant, tenant_id, indexes)
        for _ in range(_CREATE_ATTEMPTS_MAX):
            absent = {index: user for index, user in indexes.items() if user not in found}
            if not create or not absent:
                return found
            found |= await self._create(tenant, tenant_id, absent)
            absent = {index: user for index, user in absent.items() if user not in found}
            if absent:  # another process made them first, or their bucket has a new key
                found |= await self._find(tenant, tenant_id, absent)
            if len(found) < len(indexes):
                await self._learn_buckets()
        raise KeyringUnavailable("subjects are destroyed as fast as they are made: try again later")

    async def system(self) -> UUID:
        """Return the subject of the records that belong to no user, made if it is not there."""
        for _ in range(_CREATE_ATTEMPTS_MAX):
            subject = await self._store.system_subject()
            if subject is not None:
                return subject
            keys = new_keys(uuid4(), None)
            bucket = self._wrapper.bucket_of(keys.subject)
            await self._store.insert_system_subject(keys.subject, self._wrapper.wrap(keys), bucket)
            await self._learn_buckets()
        raise KeyringUnavailable("the system's own subject cannot be stored: try again later")

    async def _snapshot(self, subjects: Collection[UUID]) -> Snapshot:
        snapshot = await self._store.subjects(subjects)
        if snapshot.missing:
            named = ", ".join(str(subject) for subject in sorted(snapshot.missing)[:_NAMED_MAX])
            raise KeyMissing(
                f"{len(snapshot.missing)} subjects have neither keys nor a record of their "
                f"destruction, among them {named}: the keyring was lost or restored from a stale "
                "backup; restore the newest one"
            )
        return snapshot

    async def _find(
        self, tenant: str, tenant_id: UUID, indexes: dict[bytes, str]
    ) -> dict[str, SubjectKeys]:
        snapshot = await self._store.living_users(tenant_id, indexes)
        found: dict[str, SubjectKeys] = {}
        for stored in snapshot.living:
            user_id = indexes[stored.user_index]
            keys = found[user_id] = self._wrapper.unwrap(stored, tenant)
            self._cache.put(keys, head=snapshot.head, user=(tenant, user_id))
        return found

    async def _create(
        self, tenant: str, tenant_id: UUID, indexes: dict[bytes, str]
    ) -> dict[str, SubjectKeys]:
        new = [self._new(tenant, index, user_id) for index, user_id in indexes.items()]
        stored, head = await self._store.insert_subjects(tenant_id, new)
        made: dict[str, SubjectKeys] = {}
        for subject in new:
            if subject.keys.subject in stored:
                user_id = indexes[subject.user_index]
                made[user_id] = subject.keys
                self._cache.put(subject.keys, head=head, user=(tenant, user_id))
        return made

    def _new(self, tenant: str, index: bytes, user_id: str) -> NewSubject:
        keys = new_keys(uuid4(), tenant)
        return NewSubject(
            keys=keys,
            user_index=index,
            user_sealed=seal_user_id(keys, user_id),
            wrapped=self._wrapper.wrap(keys),
            bucket=self._wrapper.bucket_of(keys.subject),
        )

    async def _learn_buckets(self) -> None:
        for bucket in await self._store.buckets():
            self._wrapper.learn(bucket)

    def _user_index(self, tenant_id: UUID, user_id: str) -> bytes:
        try:
            return user_index(self._index_key, tenant_id, user_id)
        except UnicodeEncodeError as error:
            raise InvalidInput(
                field="user_id",
                problem="it holds a lone surrogate, half of a character",
                remedy="send the character whole",
            ) from error
