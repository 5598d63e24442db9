"""What a polled stretch of the log holds, as far as headers and keys tell; no payload is opened."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias
from uuid import UUID

from schemas import ids
from schemas.errors import SealBroken
from schemas.log.accounting import (
    RecordUnaccountable,
    header_in_place,
    turn_id_of_unaccountable,
)
from schemas.log.sealed import LogPosition, LogRecord
from schemas.records import Stage
from schemas.sealing import Header
from schemas.topics import TURNS, memories_topic

TopicPartitionPair: TypeAlias = tuple[str, int]
"""A topic's name and a partition."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LogEnd:
    """The end of a partition was reached; the log has no record below it that was not read."""

    position: LogPosition


LogItem: TypeAlias = LogRecord | LogEnd
"""What polling a partition gives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenTurn:
    """A turn's record, of which only the header was read."""

    subject: UUID
    turn_id: UUID
    partition: int
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BuriedTurn:
    """A turn's tombstone.

    Attributes:
        subject: whose turn it was, where the tombstone kept its header.
        turn_id: the turn.
    """

    subject: UUID | None
    turn_id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedOutcome:
    """An outcome's record with its header, not opened yet."""

    record: LogRecord
    header: Header


@dataclass(frozen=True, kw_only=True, slots=True)
class SealedBeside:
    """A record of a side topic with its header, not opened yet."""

    record: LogRecord
    header: Header


@dataclass(frozen=True, kw_only=True, slots=True)
class BuriedOutcome:
    """An outcome's tombstone."""

    outcome_id: UUID
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Poison:
    """A record that cannot be processed.

    Attributes:
        record: the record.
        stage: what was being done with it.
        error: why it failed; its message holds nothing of the record's content.
    """

    record: LogRecord
    stage: Stage
    error: Exception

    @property
    def header(self) -> Header | None:
        """What it says it is, if that can be read: the turn that it was meant to close."""
        try:
            return self.record.header()
        except SealBroken:
            return None


@dataclass(frozen=True, kw_only=True, slots=True)
class Advance:
    """How far a batch takes one partition of one topic."""

    before: int
    after: int


@dataclass(kw_only=True, slots=True)
class Batch:
    """A polled stretch of the topics, sorted by what has to be done.

    Attributes:
        advances: how far it takes each partition of each topic.
        turns: turns that were read; of several appends of one turn the first.
        buried_turns: turns that were tombstoned.
        outcomes: outcomes to be opened, in the order of each partition.
        buried_outcomes: outcomes that were tombstoned.
        poison: what cannot be processed.
        beside: records of side topics to be opened, by topic, in the order of each partition.
        beside_poison: records of side topics that cannot be processed; they close no turn.
    """

    advances: dict[TopicPartitionPair, Advance] = field(default_factory=dict)
    turns: list[SeenTurn] = field(default_factory=list)
    buried_turns: list[BuriedTurn] = field(default_factory=list)
    outcomes: list[SealedOutcome] = field(default_factory=list)
    buried_outcomes: list[BuriedOutcome] = field(default_factory=list)
    poison: list[Poison] = field(default_factory=list)
    beside: dict[str, list[SealedBeside]] = field(default_factory=dict)
    beside_poison: list[Poison] = field(default_factory=list)

    @property
    def partitions(self) -> list[int]:
        """The partitions it touches, ascending."""
        return sorted({partition for _, partition in self.advances})

    @property
    def opened_subjects(self) -> set[UUID]:
        """The subjects whose keys are needed."""
        beside = {item.header.subject for items in self.beside.values() for item in items}
        return beside | {outcome.header.subject for outcome in self.outcomes}

    @property
    def subjects(self) -> set[UUID]:
        """The subjects whose rows it may touch."""
        buried = {turn.subject for turn in self.buried_turns if turn.subject is not None}
        refused = {header.subject for one in self.poison if (header := one.header) is not None}
        turns = {turn.subject for turn in self.turns}
        return self.opened_subjects | buried | refused | turns


Refusals: TypeAlias = Mapping[LogPosition, Exception]
"""Records that the database refused when they were tried alone, with its reason."""

NO_REFUSALS: Final[Refusals] = {}


class BatchReader:
    """Sorts what was polled.

    Args:
        generation: the generation that is projected.
        system_subject: the subject under which a turn is accounted for whose record names no
            subject that belongs where it stands.
        partitions: how many partitions the topics have.
        side_topics: topics that are projected beside the ledger's own.
    """

    def __init__(
        self,
        *,
        generation: str,
        system_subject: UUID,
        partitions: int,
        side_topics: Collection[str] = (),
    ) -> None:
        self._system_subject = system_subject
        self._partitions = partitions
        self._side_topics = frozenset(side_topics)
        self._memories_topic: Final = memories_topic(generation)

    def read(
        self,
        items: Sequence[LogItem],
        positions: Mapping[TopicPartitionPair, int],
        refusals: Refusals = NO_REFUSALS,
    ) -> Batch:
        """Return the batch that some items make.

        Args:
            items: what was polled, in the order of each partition.
            positions: the first offset of each partition that is not applied; what lies below it
                is left out.
            refusals: records that are to count as poison.
        """
        batch = Batch()
        for item in items:
            place = (item.position.topic, item.position.partition)
            offset = item.position.offset
            known = batch.advances.get(place)
            before = positions[place] if known is None else known.before
            reached = before if known is None else known.after
            if offset < reached:
                continue
            after = offset if isinstance(item, LogEnd) else offset + 1
            if after > reached:
                batch.advances[place] = Advance(before=before, after=after)
            if isinstance(item, LogRecord):
                self._sort(batch, item, refusals)
        batch.turns = _first_appends(batch.turns)
        return batch

    def _sort(self, batch: Batch, record: LogRecord, refusals: Refusals) -> None:
        if record.position.topic == TURNS:
            self._sort_turn(batch, record)
        elif record.position.topic == self._memories_topic:
            self._sort_outcome(batch, record, refusals)
        elif record.position.topic in self._side_topics:
            self._sort_beside(batch, record, refusals)
        else:
            raise AssertionError(f"{record.position.topic} is not a topic of this projection")

    def _sort_turn(self, batch: Batch, record: LogRecord) -> None:
        header = self._header_in_place(record)
        if record.value is None:
            turn_id = ids.record_id_of_key(record.key)
            if turn_id is not None:
                subject = None if header is None else header.subject
                batch.buried_turns.append(BuriedTurn(subject=subject, turn_id=turn_id))
            return
        batch.turns.append(
            SeenTurn(
                subject=self._system_subject if header is None else header.subject,
                turn_id=(turn_id_of_unaccountable(record) if header is None else header.record_id),
                partition=record.position.partition,
                offset=record.position.offset,
            )
        )

    def _header_in_place(self, record: LogRecord) -> Header | None:
        try:
            return header_in_place(record, self._partitions)
        except RecordUnaccountable:
            return None

    def _sort_outcome(self, batch: Batch, record: LogRecord, refusals: Refusals) -> None:
        if record.value is None:
            outcome_id = ids.record_id_of_key(record.key)
            if outcome_id is not None:
                buried = BuriedOutcome(outcome_id=outcome_id, offset=record.position.offset)
                batch.buried_outcomes.append(buried)
            return
        refusal = refusals.get(record.position)
        if refusal is not None:
            batch.poison.append(Poison(record=record, stage="project", error=refusal))
            return
        try:
            header = record.header()
        except SealBroken as error:
            batch.poison.append(Poison(record=record, stage="open", error=error))
        else:
            batch.outcomes.append(SealedOutcome(record=record, header=header))

    def _sort_beside(self, batch: Batch, record: LogRecord, refusals: Refusals) -> None:
        if record.value is None:
            return  # Whoever writes a tombstone deletes the rows itself, inside the fence.
        refusal = refusals.get(record.position)
        if refusal is not None:
            batch.beside_poison.append(Poison(record=record, stage="project", error=refusal))
            return
        try:
            header = header_in_place(record, self._partitions)
        except RecordUnaccountable as error:
            batch.beside_poison.append(Poison(record=record, stage="open", error=error))
        else:
            beside = batch.beside.setdefault(record.position.topic, [])
            beside.append(SealedBeside(record=record, header=header))


def _first_appends(turns: Iterable[SeenTurn]) -> list[SeenTurn]:
    first: dict[tuple[UUID, UUID], SeenTurn] = {}
    for turn in turns:
        known = first.setdefault((turn.subject, turn.turn_id), turn)
        if turn.offset < known.offset:
            first[turn.subject, turn.turn_id] = turn
    return list(first.values())
