"""The keyring's records: what it hands out, and what its store reads and writes."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from uuid import UUID

from schemas.tree import SeedSet

FeedKind: TypeAlias = Literal["subject", "seeds", "pause"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectKeys:
    """A living subject with its keys. To be used at once: a holder outlives the lease.

    Attributes:
        subject: the subject.
        tenant: the name of its tenant; ``None`` for the system's own subject.
        id_secret: 32 bytes under which its ids and keys of its words are derived.
        seeds: what is left of its tree of keys.
        paused: whether its user has paused memory: nothing is noted or recalled meanwhile.
    """

    subject: UUID
    tenant: str | None
    id_secret: bytes = field(repr=False)
    seeds: SeedSet = field(repr=False)
    paused: bool = False
    _last: dict[int, bytes] = field(default_factory=dict, init=False, repr=False, compare=False)

    def leaf_key(self, address: int) -> bytes:
        """Return the key of 32 bytes that seals the record at an address.

        The last one is remembered: a turn, its proposal and its outcome lie at one address.

        Raises:
            Punctured: the key was forgotten.
        """
        key = self._last.get(address)
        if key is None:
            key = self.seeds.leaf_key(address)
            self._last.clear()
            self._last[address] = key
        return key


@dataclass(frozen=True, slots=True, kw_only=True)
class Erased:
    """A subject whose destruction is recorded; the only thing that means erased.

    Attributes:
        subject: the subject.
        seq: the number of the record of its destruction.
        destroyed_at: when its keys were destroyed.
    """

    subject: UUID
    seq: int
    destroyed_at: dt.datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEntry:
    """One entry of the feed: a change after which what is cached of a subject is stale.

    Attributes:
        seq: its number, in the order of commit.
        subject: whose state changed.
        kind: ``subject``: all of its keys were destroyed; ``seeds``: some; ``pause``: its user
            paused or resumed memory.
    """

    seq: int
    subject: UUID
    kind: FeedKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """A stretch of the feed.

    Attributes:
        head: the number of the last entry there is, 0 before the first.
        entries: those after the one that was asked for, in order.
    """

    head: int
    entries: tuple[FeedEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """Whether a user has paused memory.

    Attributes:
        paused: whether.
        since: since when; ``None`` where it is not paused.
    """

    paused: bool
    since: dt.datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBucket:
    """A bucket's row.

    Attributes:
        bucket_id: its number, 0 to 1023.
        epoch: the number of the epoch key that wraps its key.
        key_version: counts the keys the bucket has had.
        wrapped: its key, wrapped.
    """

    bucket_id: int
    epoch: int
    key_version: int
    wrapped: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredKeys:
    """A living subject's wrapped keys and the bucket that wraps them, as one snapshot shows them.

    Attributes:
        subject: the subject.
        wrapped: its keys, wrapped.
        bucket: its bucket.
        user_index: the index entry of its user, where it was looked up by it.
        tenant: the name of its tenant, where it was looked up by the subject.
        user_sealed: its sealed user id, where it was looked up by the subject and has one.
        paused: whether its user has paused memory.
    """

    subject: UUID
    wrapped: bytes
    bucket: StoredBucket
    user_index: bytes = b""
    tenant: str | None = None
    user_sealed: bytes | None = None
    paused: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """What one statement found.

    Attributes:
        head: the number of the last entry of the feed that it could see.
        living: the subjects that have keys.
        erased: the subjects whose destruction is recorded.
        missing: the subjects of which neither keys nor a destruction are there.
    """

    head: int
    living: tuple[StoredKeys, ...]
    erased: tuple[Erased, ...] = ()
    missing: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSubject:
    """A subject that is about to be stored.

    Attributes:
        keys: its keys.
        user_index: the index entry of its user.
        user_sealed: its sealed user id.
        wrapped: its keys, wrapped.
        bucket: the bucket that wraps them, as this process knows it.
    """

    keys: SubjectKeys
    user_index: bytes
    user_sealed: bytes
    wrapped: bytes
    bucket: StoredBucket
