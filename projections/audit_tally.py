"""What an audit counts of one partition, while it is read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

from projections.audit_opening import KEY_MISSING, Unreadable
from projections.dead_letters import refused_position
from schemas import ids
from schemas.errors import RecordInvalid, SealBroken
from schemas.log.accounting import header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogPosition, LogRecord
from schemas.ports import PartitionProgress
from schemas.records import Closing, DeadLetter, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionAudit:
    """What became of the turns of one partition.

    Attributes:
        partition: the partition.
        turns: distinct records of the turns topic, those that are no turn included; of one that was
            appended twice the first counts.
        duplicate_turns: further appends of a turn.
        unreadable_turns: those of ``turns`` whose record names no subject that belongs there.
        turn_tombstones: tombstones in the turns topic.
        closings: how the turns closed, by :class:`~schemas.records.Closing`: those that waited by
            how they closed at last, and as deferred only while they wait.
        in_flight: turns without an outcome.
        doubled_outcomes: further outcomes of a turn that one with a lower offset closed.
        outcomes_of_removed_turns: outcomes of turns that are erased and no longer in the log.
        outcome_tombstones: tombstones in the memories topic.
        orphaned_outcomes: outcomes that close no known turn, the erased ones apart.
        missing_outcomes: turns that the read model holds for closed, and no outcome closes.
        unreadable_outcomes: records of the memories topic that cannot be used.
        unreported_outcomes: those of them that no dead letter keeps.
        dead_letters: distinct dead letters by their error's class.
        unreadable_dead_letters: records of the dead letters topic that cannot be used.
    """

    partition: int
    turns: int
    duplicate_turns: int
    unreadable_turns: int
    turn_tombstones: int
    closings: Mapping[str, int]
    in_flight: int
    doubled_outcomes: int
    outcomes_of_removed_turns: int
    outcome_tombstones: int
    orphaned_outcomes: int
    missing_outcomes: int
    unreadable_outcomes: int
    unreported_outcomes: int
    dead_letters: Mapping[str, int]
    unreadable_dead_letters: int

    def __post_init__(self) -> None:
        accounted = sum(self.closings.values()) + self.in_flight + self.missing_outcomes
        if accounted != self.turns:
            raise AssertionError(f"{self.turns} turns in, {accounted} accounted for: a bug")

    @property
    def unaccounted(self) -> int:
        """What does not fit; anything but 0 is an alarm."""
        return self.orphaned_outcomes + self.missing_outcomes + self.unreported_outcomes


@dataclass(frozen=True, kw_only=True, slots=True)
class _Closed:
    closing: Closing
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settled:
    """What an outcome says of a turn of its subject that waited."""

    closing: Closing
    subject: UUID
    offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class _Seen:
    """A turn; ``subject`` is ``None`` where its record names none that belongs there."""

    offset: int
    subject: UUID | None


@dataclass(kw_only=True, slots=True)
class Tally:
    """One partition's count, while it is read. Every id is the 16 bytes of an outcome's.

    A turn is known by the id of the outcome that closes it, which follows from its own: so an
    outcome that nobody can open any more still finds its turn.
    """

    generation: str
    partition: int
    partitions: int
    counts: Counter[str] = field(default_factory=Counter)
    closings: dict[bytes, _Closed] = field(default_factory=dict)
    settled: dict[bytes, list[_Settled]] = field(default_factory=dict)
    turns: dict[bytes, _Seen] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)
    unreadable: list[LogPosition] = field(default_factory=list)
    refused: dict[bytes, dict[UUID, int]] = field(default_factory=dict)
    refused_by_postgres: set[int] = field(default_factory=set)
    dead_letters: Counter[str] = field(default_factory=Counter)
    dead_letter_ids: set[bytes] = field(default_factory=set)

    def add_outcome(self, record: LogRecord, opened: Outcome | Closing | Unreadable) -> None:
        """Count a record of the memories topic, given what it holds."""
        if isinstance(opened, Unreadable) or not self._fits(record, opened):
            self.unreadable.append(record.position)
            # Where keys are missing every reader stops: nothing is closed by that.
            if opened != KEY_MISSING:
                self._refuse(record)
            return
        outcome_id = record.header().record_id.bytes
        if outcome_id in self.closings:
            self.counts["doubled_outcomes"] += 1
            return
        closing = opened if isinstance(opened, Closing) else opened.closing
        self.closings[outcome_id] = _Closed(closing=closing, offset=record.position.offset)
        if isinstance(opened, Outcome):
            self._settle(record, opened)

    def bury_outcome(self, record: LogRecord) -> None:
        """Count a tombstone of the memories topic."""
        self.counts["outcome_tombstones"] += 1
        outcome_id = ids.record_id_of_key(record.key)
        if outcome_id is not None:
            self.removed.add(outcome_id.bytes)

    def add_turn(self, record: LogRecord) -> None:
        """Count a record of the turns topic."""
        try:
            header = header_in_place(record, self.partitions)
            turn_id, subject = header.record_id, header.subject
        except RecordInvalid:
            turn_id, subject = turn_id_of_unaccountable(record), None
        outcome_id = ids.outcome_id(self.generation, turn_id).bytes
        if outcome_id in self.turns:
            self.counts["duplicate_turns"] += 1
            return
        self.turns[outcome_id] = _Seen(offset=record.position.offset, subject=subject)
        self.counts["unreadable_turns"] += subject is None

    def bury_turn(self, record: LogRecord) -> None:
        """Count a tombstone of the turns topic."""
        self.counts["turn_tombstones"] += 1
        turn_id = ids.record_id_of_key(record.key)
        if turn_id is not None:
            self.removed.add(ids.outcome_id(self.generation, turn_id).bytes)

    def add_dead_letter(self, record: LogRecord, opened: DeadLetter | Closing | Unreadable) -> None:
        """Count a record of the dead letters topic, given what it holds."""
        if not isinstance(opened, DeadLetter):
            self.counts["unreadable_dead_letters"] += 1
            return
        letter_id = record.header().record_id.bytes
        if opened.generation == self.generation and letter_id not in self.dead_letter_ids:
            self.dead_letter_ids.add(letter_id)
            self.dead_letters[opened.error] += 1
            at = refused_position(opened, generation=self.generation)
            if at is not None and at.partition == self.partition:
                self.refused_by_postgres.add(at.offset)

    def report(self, progress: PartitionProgress | None) -> PartitionAudit:
        """Return what became of the turns, once everything was counted.

        Args:
            progress: what the read model holds for closed; ``None`` leaves it out.
        """
        closed: Counter[str] = Counter()
        in_flight = missing = 0
        for outcome_id, turn in self.turns.items():
            closing = self._closing(outcome_id, turn)
            if closing is not None:
                closed[closing.value] += 1
            elif progress is not None and progress.closed(turn.offset):
                missing += 1
            else:
                in_flight += 1
        unknown = [
            outcome.closing is Closing.ERASED or outcome_id in self.removed
            for outcome_id, outcome in self.closings.items()
            if outcome_id not in self.turns
        ]
        return PartitionAudit(
            partition=self.partition,
            turns=len(self.turns),
            duplicate_turns=self.counts["duplicate_turns"],
            unreadable_turns=self.counts["unreadable_turns"],
            turn_tombstones=self.counts["turn_tombstones"],
            closings={closing.value: closed[closing.value] for closing in Closing},
            in_flight=in_flight,
            doubled_outcomes=self.counts["doubled_outcomes"],
            outcomes_of_removed_turns=sum(unknown),
            outcome_tombstones=self.counts["outcome_tombstones"],
            orphaned_outcomes=len(unknown) - sum(unknown),
            missing_outcomes=missing,
            unreadable_outcomes=len(self.unreadable),
            unreported_outcomes=sum(not self._reported(position) for position in self.unreadable),
            dead_letters=dict(sorted(self.dead_letters.items())),
            unreadable_dead_letters=self.counts["unreadable_dead_letters"],
        )

    def _closing(self, outcome_id: bytes, turn: _Seen) -> Closing | None:
        """Return how a turn closed: the outcome of the lowest offset tells, usable or not."""
        outcome = self.closings.get(outcome_id)
        refused = self._refused_at(outcome_id, turn)
        if refused is not None and (outcome is None or refused < outcome.offset):
            self.counts["doubled_outcomes"] += outcome is not None
            return Closing.DEAD_LETTERED
        if outcome is None:
            return Closing.ERASED if outcome_id in self.removed else None
        if outcome.offset in self.refused_by_postgres:
            return Closing.DEAD_LETTERED
        return self._settled(outcome_id, turn, outcome)

    def _settled(self, outcome_id: bytes, turn: _Seen, outcome: _Closed) -> Closing:
        """Return how a turn closed at last: by the first outcome that settles it, if it waited."""
        if outcome.closing is not Closing.DEFERRED:
            return outcome.closing
        counting = (
            settled.closing
            for settled in self.settled.get(outcome_id, ())
            if settled.subject == turn.subject
            and settled.offset > outcome.offset
            and settled.offset not in self.refused_by_postgres
        )
        return next(counting, Closing.DEFERRED)

    def _settle(self, record: LogRecord, outcome: Outcome) -> None:
        header = record.header()
        if header.subject in self.refused.get(header.record_id.bytes, {}):
            return  # an outcome of this record was set aside before, so this one does not count
        for settled in outcome.settled:
            if settled.closing is not Closing.DEFERRED:
                turn = ids.outcome_id(self.generation, settled.turn_id).bytes
                self.settled.setdefault(turn, []).append(
                    _Settled(
                        closing=settled.closing,
                        subject=header.subject,
                        offset=record.position.offset,
                    )
                )

    def _refused_at(self, outcome_id: bytes, turn: _Seen) -> int | None:
        by_subject = self.refused.get(outcome_id, {})
        if turn.subject is None:
            # It is the system's, of which the audit does not know the subject.
            return min(by_subject.values(), default=None)
        return by_subject.get(turn.subject)

    def _refuse(self, record: LogRecord) -> None:
        try:
            header = record.header()
        except SealBroken:
            return
        by_subject = self.refused.setdefault(header.record_id.bytes, {})
        by_subject.setdefault(header.subject, record.position.offset)

    def _fits(self, record: LogRecord, opened: Outcome | Closing) -> bool:
        """Tell whether an outcome is what it claims: a reader would refuse it otherwise."""
        if isinstance(opened, Closing):
            return True
        return (
            opened.generation == self.generation
            and opened.turn_partition == self.partition
            and record.header().record_id == ids.outcome_id(self.generation, opened.turn_id)
        )

    def _reported(self, position: LogPosition) -> bool:
        letter_id = ids.dead_letter_id(
            position.topic, position.partition, position.offset, self.generation
        )
        return letter_id.bytes in self.dead_letter_ids
