"""Folding a partition of the log in memory, for comparing a read model with it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final
from uuid import UUID

from projections.audit_opening import known_states
from projections.batch import BatchReader, Refusals
from projections.dead_letters import refused_position
from projections.fold import LoggedOutcome, SubjectState
from projections.opening import open_outcomes
from schemas.errors import RecordInvalid, SealBroken
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogPosition, LogRecord, open_record
from schemas.records import DeadLetter
from schemas.topics import DEAD_LETTERS, memories_topic
from schemas.tree import Punctured

_RECORDS_A_READ: Final = 1000


@dataclass(kw_only=True, slots=True)
class FoldedPartition:
    """What one partition of the log says.

    Attributes:
        states: what it says of each subject that can still be read.
        tenants: the tenant of each of them; ``None`` for the system's own subject.
        erased_offsets: where the outcomes stand that say nothing any more.
        forgotten: the ids of these, and of turns whose keys are gone: no summary tells of them.
        removed: how many records are gone without a trace, as compaction leaves it of what was
            tombstoned.
        unreadable: how many outcomes cannot be used: each is a dead letter, unless its subject has
            neither keys nor a record of their destruction.
    """

    states: dict[UUID, SubjectState] = field(default_factory=dict)
    tenants: dict[UUID, str | None] = field(default_factory=dict)
    erased_offsets: set[int] = field(default_factory=set)
    forgotten: set[UUID] = field(default_factory=set)
    removed: int = 0
    unreadable: int = 0

    def state(self, subject: UUID) -> SubjectState:
        """Return what is folded of a subject, which may be nothing yet."""
        return self.states.setdefault(subject, SubjectState(subject=subject))


class LogFold:
    """Folds the outcomes of one generation.

    Args:
        bootstrap: ``host:port[,host:port]`` of the broker.
        keyring: knows the subjects' keys.
        generation: the generation.
        system_subject: the subject that speaks for erased ones.
        partitions: how many partitions the topics have.
    """

    def __init__(
        self,
        bootstrap: str,
        keyring: Keyring,
        *,
        generation: str,
        system_subject: UUID,
        partitions: int,
    ) -> None:
        self._bootstrap = bootstrap
        self._keyring = keyring
        self._generation = generation
        self._system_subject = system_subject
        self._topic: Final = memories_topic(generation)
        self._reader = BatchReader(
            generation=generation, system_subject=system_subject, partitions=partitions
        )

    async def partition(self, partition: int, *, end: int) -> FoldedPartition:
        """Fold a partition up to an offset.

        Args:
            partition: the partition.
            end: the first offset that is left out.

        Raises:
            LogUnavailable, KeyringUnavailable: a store cannot be reached.
            KeyMissing: the system's own keys are missing.
        """
        folded = FoldedPartition()
        if end == 0:
            return folded
        refusals = await asyncio.to_thread(
            self._refusals, partition, await self._keyring.system_subject()
        )
        records = read_to_end(
            self._bootstrap, self._topic, partition, start=0, client_id="memledger-digest"
        )
        assert isinstance(records, Generator), "reading ends with the generator that holds it"  # noqa: S101 - else a consumer would stay open
        wanted = takewhile(lambda record: record.position.offset < end, records)
        position = 0
        folded.removed = end
        try:
            while read := await asyncio.to_thread(_next, wanted):
                await self._add(folded, read, partition, position, refusals)
                folded.removed -= len(read)
                position = read[-1].position.offset + 1
        finally:
            await asyncio.to_thread(records.close)
        for state in folded.states.values():
            state.forget(folded.forgotten)
        return folded

    async def _add(
        self,
        folded: FoldedPartition,
        read: Sequence[LogRecord],
        partition: int,
        position: int,
        refusals: Refusals,
    ) -> None:
        batch = self._reader.read(read, {(self._topic, partition): position}, refusals)
        states = await known_states(self._keyring.fresh_keys, batch.opened_subjects)
        sealed = [outcome for outcome in batch.outcomes if outcome.header.subject in states]
        folded.unreadable += len(batch.outcomes) - len(sealed)
        opened = open_outcomes(
            sealed,
            states,
            poison=batch.poison,
            generation=self._generation,
            system_subject=self._system_subject,
        )
        folded.unreadable += len(batch.poison) + len(opened.poison)
        folded.erased_offsets |= {erased.offset for erased in opened.erased}
        folded.erased_offsets |= {buried.offset for buried in batch.buried_outcomes}
        folded.forgotten |= {erased.outcome_id for erased in opened.erased}
        folded.forgotten |= {buried.outcome_id for buried in batch.buried_outcomes}
        folded.forgotten |= {turn_id for item in opened.outcomes for turn_id in item.forgotten}
        for item in opened.outcomes:
            state = folded.state(item.subject)
            folded.tenants[item.subject] = item.tenant
            state.apply(LoggedOutcome(offset=item.offset, outcome=item.outcome))
        for refused in opened.refused:
            folded.state(refused.subject).refuse(refused.outcome_id, refused.offset)

    def _refusals(self, partition: int, system: SubjectKeys) -> Refusals:
        """Return the outcomes that the database refused, as the dead letters of a partition tell.

        Raises:
            LogUnavailable: the broker ceased to answer.
        """
        refusals: dict[LogPosition, Exception] = {}
        letters = read_to_end(
            self._bootstrap, DEAD_LETTERS, partition, start=0, client_id="memledger-digest"
        )
        for record in letters:
            try:
                letter = open_record(DeadLetter, record, system)
            except (SealBroken, RecordInvalid, Punctured):
                continue  # the audit counts it
            at = refused_position(letter, generation=self._generation)
            if at is not None:
                refusals[at] = RecordInvalid("the database refused it")
        return refusals


def _next(records: Iterator[LogRecord]) -> list[LogRecord]:
    return list(islice(records, _RECORDS_A_READ))
