"""Folding a partition of the log in memory, for comparing a read model with it."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, takewhile
from typing import Final
from uuid import UUID

from projections.batch import BatchReader
from projections.fold import LoggedOutcome, SubjectState
from projections.opening import open_outcomes
from schemas.keyring import Keyring
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord
from schemas.topics import memories_topic

_RECORDS_A_READ: Final = 1000


@dataclass(kw_only=True, slots=True)
class FoldedPartition:
    """What one partition of the log says.

    Attributes:
        states: what it says of each subject that can still be read.
        erased_offsets: where the outcomes stand that say nothing any more.
        unreadable: how many outcomes cannot be used: each is a dead letter.
    """

    states: dict[UUID, SubjectState] = field(default_factory=dict)
    erased_offsets: set[int] = field(default_factory=set)
    unreadable: int = 0


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
            KeyMissing: a subject has neither keys nor a record of their destruction.
        """
        folded = FoldedPartition()
        if end == 0:
            return folded
        records = read_to_end(
            self._bootstrap, self._topic, partition, start=0, client_id="memledger-digest"
        )
        assert isinstance(records, Generator), "reading ends with the generator that holds it"  # noqa: S101 - else a consumer would stay open
        wanted = takewhile(lambda record: record.position.offset < end, records)
        position = 0
        try:
            while read := await asyncio.to_thread(_next, wanted):
                await self._add(folded, read, partition, position)
                position = read[-1].position.offset + 1
        finally:
            await asyncio.to_thread(records.close)
        return folded

    async def _add(
        self, folded: FoldedPartition, read: Sequence[LogRecord], partition: int, position: int
    ) -> None:
        batch = self._reader.read(read, {(self._topic, partition): position})
        opened = open_outcomes(
            batch.outcomes,
            await self._keyring.fresh_keys(batch.outcome_subjects),
            generation=self._generation,
            system_subject=self._system_subject,
        )
        folded.unreadable += len(batch.poison) + len(opened.poison)
        folded.erased_offsets |= {erased.offset for erased in opened.erased}
        folded.erased_offsets |= {buried.offset for buried in batch.buried_outcomes}
        for item in opened.outcomes:
            state = folded.states.setdefault(item.subject, SubjectState(subject=item.subject))
            state.apply(LoggedOutcome(offset=item.offset, outcome=item.outcome))


def _next(records: Iterator[LogRecord]) -> list[LogRecord]:
    return list(islice(records, _RECORDS_A_READ))
