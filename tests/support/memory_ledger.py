"""The projection in memory, as far as workers ask it."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field
from uuid import UUID

from projections.fold import LoggedOutcome, MemoryRow, SubjectState
from schemas import ids
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import SubjectKeys
from schemas.log.accounting import RecordUnaccountable, header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogRecord, open_record
from schemas.memory import Memory
from schemas.partitioning import partition_for
from schemas.ports import PartitionProgress, Related, SimilarTo, StoredMemory, TurnContext, Vectors
from schemas.records import Closing, Outcome
from schemas.slots import Slot
from schemas.topics import TURNS, memories_topic
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_log import MemoryLog
from tests.support.related import related_rows


@dataclass
class _Partition:
    turns_next: int = 0
    memories_next: int = 0
    floor: int = 0
    owner: str | None = None
    opened: dict[UUID, int] = field(default_factory=dict)
    closed: dict[UUID, Outcome] = field(default_factory=dict)
    closings: dict[UUID, Closing] = field(default_factory=dict)
    states: dict[UUID, SubjectState] = field(default_factory=dict)
    refused: set[UUID] = field(default_factory=set)


class MemoryLedger:
    """Folds a log in memory, when it is told to or at once.

    Attributes:
        at_once: whether questions about a partition are answered as of the end of the log.
        failure: raised by every question while it is set.
        nearest: what each context names as the nearest memories.
        contexts: how often a context was asked for.
    """

    def __init__(
        self, log: MemoryLog, keyring: MemoryKeyring, *, generation: str, partitions: int
    ) -> None:
        self.at_once = True
        self.failure: Exception | None = None
        self.nearest: tuple[Memory, ...] = ()
        self.contexts = 0
        self._log = log
        self._keyring = keyring
        self._generation = generation
        self._memories = memories_topic(generation)
        self._partitions = partitions
        self._states: dict[int, _Partition] = defaultdict(_Partition)
        self._moved = asyncio.Event()

    async def project(self, partition: int, *, most: int = 1_000_000) -> None:
        """Apply up to ``most`` turns, then as many outcomes, of a partition."""
        state = self._states[partition]
        for record in self._log.records(TURNS, partition, state.turns_next)[:most]:
            state.turns_next = record.position.offset + 1
            if record.value is not None:
                self._open(state, record)
        for record in self._log.records(self._memories, partition, state.memories_next)[:most]:
            state.memories_next = record.position.offset + 1
            await self._close(state, record)
        self._moved.set()
        self._moved = asyncio.Event()

    def owner(self, partition: int) -> str | None:
        """Return who claimed a partition last."""
        return self._states[partition].owner

    def outcomes(self, partition: int) -> dict[UUID, Outcome]:
        """Return the outcome that counts, by turn."""
        return self._states[partition].closed

    @property
    def subjects(self) -> list[UUID]:
        """The subjects of which anything was decided."""
        return [subject for state in self._states.values() for subject in state.states]

    def state(self, subject: UUID) -> SubjectState:
        """Return what the log says of a subject, as far as it was folded."""
        states = self._states[partition_for(subject, self._partitions)].states
        return states.get(subject) or SubjectState(subject=subject)

    def closings(self, partition: int) -> dict[UUID, Closing]:
        """Return how each turn of a partition closed; of one that was settled, how at last."""
        return dict(self._states[partition].closings)

    async def folded(self, partition: int) -> dict[UUID, SubjectState]:
        """Return what is folded of each subject of a partition."""
        return (await self._asked(partition)).states

    async def claim(self, partition: int, owner: str) -> None:
        """Make ``owner`` the holder of a partition."""
        self._check()
        self._states[partition].owner = owner

    async def progress(self, partition: int) -> PartitionProgress:
        """Return how far the ledger has come in a partition."""
        state = await self._asked(partition)
        return PartitionProgress(
            open_offsets=frozenset(state.opened.values()),
            turns_next=state.turns_next,
            memories_next=state.memories_next,
            proposals_floor=state.floor,
        )

    async def wait_applied(self, partition: int, memories_offset: int) -> None:
        """Return once the outcome at ``memories_offset`` is applied."""
        while (await self._asked(partition)).memories_next <= memories_offset:
            await self._moved.wait()

    async def context(
        self,
        *,
        subject: UUID,  # noqa: ARG002 - the port's signature
        turn_id: UUID,
        partition: int,
        vector: Vectors | None,
        known_max: int,
    ) -> TurnContext:
        """Return what is known of a turn."""
        self.contexts += 1
        state = await self._asked(partition)
        closing = state.closings.get(turn_id)
        if closing is None and ids.outcome_id(self._generation, turn_id) in state.refused:
            closing = Closing.DEAD_LETTERED
        return TurnContext(
            closing=closing,
            owner=state.owner,
            nearest=self.nearest[:known_max] if vector is not None else (),
        )

    async def related(
        self,
        *,
        subject: UUID,
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo] = (),
        turn_ids: Collection[UUID] = (),
        suppression_keys: Collection[bytes] = (),
    ) -> Related:
        """Return every version of the lineages that hold any of what is named."""
        self._check()
        state = self._states[partition_for(subject, self._partitions)].states.get(subject)
        rows = () if state is None else tuple(state.memories.values())
        found = related_rows(
            rows,
            slots=slots,
            statement_keys=statement_keys,
            memory_ids=memory_ids,
            similar=similar,
            turn_ids=turn_ids,
        )
        told = {} if state is None else state.suppressed
        return Related(
            versions=tuple(map(_stored, found)),
            suppressed={key: told[key] for key in suppression_keys if key in told},
        )

    async def _asked(self, partition: int) -> _Partition:
        self._check()
        if self.at_once:
            await self.project(partition)
        return self._states[partition]

    def _check(self) -> None:
        if self.failure is not None:
            raise self.failure

    def _open(self, state: _Partition, record: LogRecord) -> None:
        try:
            turn_id = header_in_place(record, self._partitions).record_id
        except RecordUnaccountable:
            turn_id = turn_id_of_unaccountable(record)
        outcome_id = ids.outcome_id(self._generation, turn_id)
        if turn_id not in state.closed and outcome_id not in state.refused:
            state.opened.setdefault(turn_id, record.position.offset)

    async def _close(self, state: _Partition, record: LogRecord) -> None:
        subject = record.header().subject
        keys = (await self._keyring.keys([subject]))[subject]
        assert isinstance(keys, SubjectKeys)
        try:
            outcome = open_record(Outcome, record, keys)
        except (SealBroken, RecordInvalid):
            self._refuse(state, record.header().record_id)
            return
        if ids.outcome_id(self._generation, outcome.turn_id) in state.refused:
            return
        state.floor = max(state.floor, outcome.proposals_floor)
        state.opened.pop(outcome.turn_id, None)
        # The lowest offset of an id wins.
        state.closed.setdefault(outcome.turn_id, outcome)
        state.closings.setdefault(outcome.turn_id, outcome.closing)
        told = state.states.setdefault(subject, SubjectState(subject=subject))
        if told.apply(LoggedOutcome(offset=record.position.offset, outcome=outcome)):
            for settled in outcome.settled:
                closed = told.closed.get(settled.turn_id)
                if closed is not None:
                    state.closings[settled.turn_id] = closed.closing

    def _refuse(self, state: _Partition, outcome_id: UUID) -> None:
        closed = (ids.outcome_id(self._generation, turn_id) for turn_id in state.closed)
        if outcome_id in closed:
            return
        state.refused.add(outcome_id)
        state.opened = {
            turn_id: offset
            for turn_id, offset in state.opened.items()
            if ids.outcome_id(self._generation, turn_id) != outcome_id
        }


def _stored(row: MemoryRow) -> StoredMemory:
    # Like the read model's ledger: with the last confirmation only.
    return StoredMemory(
        memory=row.memory,
        retracted=row.retracted_at is not None,
        confirmed_at=(row.last_confirmed_at,),
        merged_into=None if row.merged is None else row.merged.merged_into,
        pinned_at=row.pinned_at,
    )


def closings(ledger: MemoryLedger, partition: int) -> dict[UUID, Closing]:
    """Return how each turn of a partition closed."""
    return ledger.closings(partition)
