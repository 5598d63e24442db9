"""An in-memory keyring and log, with the faults that a test asks for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID, uuid4

from producers.append import TurnIdentity
from producers.subject_records import Appended, AppendResult, Refused
from producers.turns_input import TurnInput
from schemas.errors import InvalidInput, LogUnavailable
from schemas.ids import turn_id
from schemas.keyring import Erased, Pause, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, SealedRecord, open_record
from schemas.memory import Record
from schemas.records import Origin, Turn
from schemas.tree import SeedSet

RecordType = TypeVar("RecordType", bound=Record)

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class InMemoryKeyring:
    """Serves what it has in its cache until it is told to look again, as a lease does."""

    def __init__(self) -> None:
        self.living: dict[tuple[str, str], SubjectKeys] = {}
        self.erased: set[UUID] = set()
        self.paused: set[tuple[str, str]] = set()
        self.erasure_queries: list[set[UUID]] = []
        self.before_erasure_query: Callable[[], None] = lambda: None

    async def subjects_for(
        self, tenant: str, user_ids: Collection[str], *, create: bool
    ) -> dict[str, SubjectKeys]:
        return {
            user: self.keys_of(tenant, user)
            for user in user_ids
            if create or (tenant, user) in self.living
        }

    async def keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        cached = {keys.subject: keys for keys in self.living.values()}
        return {subject: cached.get(subject) or _erased(subject) for subject in subjects}

    async def erased_among(self, subjects: Collection[UUID]) -> set[UUID]:
        self.before_erasure_query()
        self.erasure_queries.append(set(subjects))
        return self.erased & set(subjects)

    async def fresh_keys(self, subjects: Collection[UUID]) -> dict[UUID, SubjectKeys | Erased]:
        found: dict[UUID, SubjectKeys | Erased] = {}
        for user, keys in list(self.living.items()):
            if keys.subject in self.erased and keys.subject in subjects:
                del self.living[user]
                found[keys.subject] = _erased(keys.subject)
        return found

    def keys_of(self, tenant: str, user: str) -> SubjectKeys:
        key = (tenant, user)
        if key not in self.living:
            self.living[key] = SubjectKeys(
                subject=uuid4(),
                tenant=tenant,
                id_secret=os.urandom(32),
                seeds=SeedSet.root(os.urandom(16)),
            )
        return replace(self.living[key], paused=key in self.paused)

    async def set_paused(self, tenant: str, user_id: str, *, paused: bool) -> Pause:
        change = self.paused.add if paused else self.paused.discard
        change((tenant, user_id))
        return await self.pause(tenant, user_id)

    async def pause(self, tenant: str, user_id: str) -> Pause:
        paused = (tenant, user_id) in self.paused
        return Pause(paused=paused, since=NOW if paused else None)

    def erase(self, tenant: str, user: str) -> None:
        self.erased.add(self.keys_of(tenant, user).subject)


class InMemoryLog:
    """Gives every record the next offset of its partition once the loop turns."""

    def __init__(self, topic: str = "memledger.turns") -> None:
        self.topic = topic
        self.records: list[tuple[int, int, SealedRecord]] = []
        self.submitted = 0
        self.refuse: Callable[[int], Exception | None] = lambda _number: None
        self.fail: Callable[[int], Exception | None] = lambda _number: None

    def submit(self, topic: str, partition: int, record: SealedRecord) -> asyncio.Future[int]:
        assert topic == self.topic
        number = self.submitted
        self.submitted += 1
        refused = self.refuse(number)
        if refused is not None:
            raise refused
        loop = asyncio.get_running_loop()
        future: asyncio.Future[int] = loop.create_future()
        failed = self.fail(number)
        if failed is not None:
            loop.call_soon(future.set_exception, failed)
            return future
        offset = sum(1 for other, _, _ in self.records if other == partition)
        self.records.append((partition, offset, record))
        loop.call_soon(future.set_result, offset)
        return future

    def turns_of(self, keys: SubjectKeys) -> list[Turn]:
        """Open every turn of a subject, in the order of its partition."""
        return [turn for _, turn in self.opened(Turn, keys)]

    def opened(
        self, expected: type[RecordType], keys: SubjectKeys
    ) -> list[tuple[LogRecord, RecordType]]:
        """Return every record of a subject, as it stands and opened as ``expected``."""
        return [
            (read, open_record(expected, read, keys))
            for read in (_as_read(self.topic, placed) for placed in self.records)
            if read.header().subject == keys.subject
        ]


def _erased(subject: UUID) -> Erased:
    return Erased(subject=subject, seq=1, destroyed_at=NOW)


def _as_read(topic: str, placed: tuple[int, int, SealedRecord]) -> LogRecord:
    partition, offset, record = placed
    return LogRecord(
        position=LogPosition(topic=topic, partition=partition, offset=offset),
        timestamp_ms=0,
        key=record.key,
        value=record.value,
        headers=record.headers,
    )


@dataclass
class InMemoryAppender:
    """Remembers what it was given and accepts it, or refuses as it is told."""

    appended: list[tuple[str, TurnInput, Origin]] = field(default_factory=list)
    batches: list[int] = field(default_factory=list)
    refuse: Callable[[TurnInput], InvalidInput | LogUnavailable | None] = lambda _turn: None
    fail: Exception | None = None

    async def append(
        self, tenant: str, inputs: Sequence[TurnInput], origin: Origin
    ) -> list[AppendResult]:
        if self.fail is not None:
            raise self.fail
        self.batches.append(len(inputs))
        return [self._append(tenant, turn, origin) for turn in inputs]

    async def identify(self, tenant: str, inputs: Sequence[TurnInput]) -> list[TurnIdentity]:
        return [
            TurnIdentity(
                subject=_subject(tenant, turn.user_id),
                turn_id=turn_id(turn.user_id.encode(), turn.turn_id),
            )
            for turn in inputs
        ]

    async def known_turns(self, turns: Mapping[UUID, Collection[UUID]]) -> set[tuple[UUID, UUID]]:
        held = {
            (_subject(tenant, turn.user_id), turn_id(turn.user_id.encode(), turn.turn_id))
            for tenant, turn, _ in self.appended
        }
        return {pair for pair in held if pair[0] in turns and pair[1] in turns[pair[0]]}

    def _append(self, tenant: str, turn: TurnInput, origin: Origin) -> AppendResult:
        error = self.refuse(turn)
        if error is not None:
            return Refused(error=error)
        self.appended.append((tenant, turn, origin))
        return Appended(
            turn_id=turn_id(turn.user_id.encode(), turn.turn_id),
            partition=3,
            offset=len(self.appended) - 1,
        )


def _subject(tenant: str, user_id: str) -> UUID:
    return turn_id(tenant.encode(), user_id)
