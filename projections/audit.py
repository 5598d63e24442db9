"""The audit: what became of every turn, from the logs alone.

Per partition: turns in = how they closed + in flight. What does not fit is *unaccounted* and an
alarm: an outcome that closes no known turn, a turn that the read model holds for closed and the
log does not, an outcome that nobody can read and nobody has set aside.

The outcomes are read before the turns. A turn is appended before its outcome, so every outcome that
was read finds its turn, and a turn whose outcome came too late counts as in flight. Memory is that
of one partition: about 300 bytes a turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from typing import Any, Final

from projections.audit_opening import KeySource, Opener, Unreadable
from projections.digest import Comparison
from projections.log_batches import read_batches
from schemas import ids
from schemas.errors import RecordInvalid
from schemas.log.accounting import header_in_place, turn_id_of_unaccountable
from schemas.log.sealed import LogPosition, LogRecord
from schemas.ports import PartitionProgress
from schemas.records import Closing, DeadLetter, Outcome
from schemas.topics import DEAD_LETTERS, TURNS, memories_topic

_CLIENT_ID: Final = "memledger-audit"

CompareReadModel = Callable[[], Awaitable[Comparison]]
"""Compares the read model with a fold of its log, as ``ReadModelComparer.compare`` does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PartitionAudit:
    """What became of the turns of one partition.

    Attributes:
        partition: the partition.
        turns: distinct turns that the log holds; of one that was appended twice the first counts.
        duplicate_turns: further appends of a turn.
        unreadable_turns: those of ``turns`` whose record names no subject that belongs there.
        turn_tombstones: tombstones in the turns topic.
        closings: how the turns closed, by :class:`~schemas.records.Closing`.
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
class AuditReport:
    """What became of every turn of a generation.

    Attributes:
        generation: the generation.
        partitions: one report for each partition, in order.
        comparison: how the read model compares with a fold of its log; ``None`` where that was not
            asked for.
    """

    generation: str
    partitions: tuple[PartitionAudit, ...]
    comparison: Comparison | None

    @property
    def unaccounted(self) -> int:
        """What does not fit, of all partitions."""
        return sum(partition.unaccounted for partition in self.partitions)

    @property
    def passed(self) -> bool:
        """Whether nothing is unaccounted for, and no compared subject differs."""
        return self.unaccounted == 0 and (self.comparison is None or self.comparison.equal)

    def as_json(self) -> dict[str, Any]:
        """Return the report as a JSON object, with the totals of all partitions."""
        partitions = [
            {**asdict(partition), "unaccounted": partition.unaccounted}
            for partition in self.partitions
        ]
        return {
            "generation": self.generation,
            "passed": self.passed,
            "totals": _totals(partitions),
            "partitions": partitions,
            "comparison": None if self.comparison is None else _compared(self.comparison),
        }


async def audit(
    bootstrap: str,
    keyring: KeySource,
    *,
    generation: str,
    partitions: int,
    progress: Mapping[int, PartitionProgress] | None = None,
    compare: CompareReadModel | None = None,
) -> AuditReport:
    """Account for every turn, one partition after the other; reads only.

    Args:
        bootstrap: the broker, ``host:port[,host:port]``.
        keyring: opens outcomes and dead letters.
        generation: the generation to account for.
        partitions: number of partitions of the topics.
        progress: what the read model holds for closed, by partition, as it was read *before* this
            call; ``None`` leaves the read model out.
        compare: compares the read model with a fold of its log, or ``None``.

    Raises:
        LogUnavailable: the broker ceased to answer.
        KeyringUnavailable: the keyring cannot be reached.
    """
    opener = Opener(keyring)
    reports = []
    for partition in range(partitions):
        tally = _Tally(generation=generation, partition=partition, partitions=partitions)
        await _read_outcomes(tally, bootstrap, opener)
        await _read_dead_letters(tally, bootstrap, opener)
        await _read_turns(tally, bootstrap)
        reports.append(tally.report(None if progress is None else progress.get(partition)))
    return AuditReport(
        generation=generation,
        partitions=tuple(reports),
        comparison=None if compare is None else await compare(),
    )


@dataclass(kw_only=True, slots=True)
class _Tally:
    """One partition's count, while it is read. Every id is the 16 bytes of an outcome's.

    A turn is known by the id of the outcome that closes it, which follows from its own: so an
    outcome that nobody can open any more still finds its turn.
    """

    generation: str
    partition: int
    partitions: int
    counts: Counter[str] = field(default_factory=Counter)
    closings: dict[bytes, Closing] = field(default_factory=dict)
    turns: dict[bytes, int] = field(default_factory=dict)
    removed: set[bytes] = field(default_factory=set)
    unreadable: list[LogPosition] = field(default_factory=list)
    dead_letters: Counter[str] = field(default_factory=Counter)
    dead_letter_ids: set[bytes] = field(default_factory=set)

    def add_outcome(self, record: LogRecord, opened: Outcome | Closing | Unreadable) -> None:
        if isinstance(opened, Unreadable) or not self._fits(record, opened):
            self.unreadable.append(record.position)
            return
        outcome_id = record.header().record_id.bytes
        if outcome_id in self.closings:
            self.counts["doubled_outcomes"] += 1
            return
        self.closings[outcome_id] = opened if isinstance(opened, Closing) else opened.closing

    def bury_outcome(self, record: LogRecord) -> None:
        self.counts["outcome_tombstones"] += 1
        outcome_id = ids.record_id_of_key(record.key)
        if outcome_id is not None:
            self.removed.add(outcome_id.bytes)

    def add_turn(self, record: LogRecord) -> None:
        try:
            turn_id = header_in_place(record, self.partitions).record_id
            readable = True
        except RecordInvalid:
            turn_id, readable = turn_id_of_unaccountable(record), False
        outcome_id = ids.outcome_id(self.generation, turn_id).bytes
        if outcome_id in self.turns:
            self.counts["duplicate_turns"] += 1
            return
        self.turns[outcome_id] = record.position.offset
        self.counts["unreadable_turns"] += not readable

    def bury_turn(self, record: LogRecord) -> None:
        self.counts["turn_tombstones"] += 1
        turn_id = ids.record_id_of_key(record.key)
        if turn_id is not None:
            self.removed.add(ids.outcome_id(self.generation, turn_id).bytes)

    def add_dead_letter(self, record: LogRecord, opened: DeadLetter | Closing | Unreadable) -> None:
        if not isinstance(opened, DeadLetter):
            self.counts["unreadable_dead_letters"] += 1
            return
        letter_id = record.header().record_id.bytes
        if opened.generation == self.generation and letter_id not in self.dead_letter_ids:
            self.dead_letter_ids.add(letter_id)
            self.dead_letters[opened.error] += 1

    def report(self, progress: PartitionProgress | None) -> PartitionAudit:
        closed: Counter[str] = Counter()
        in_flight = missing = 0
        for outcome_id, offset in self.turns.items():
            closing = self.closings.get(outcome_id)
            if closing is None and outcome_id in self.removed:
                closing = Closing.ERASED
            if closing is not None:
                closed[closing.value] += 1
            elif progress is not None and progress.closed(offset):
                missing += 1
            else:
                in_flight += 1
        unknown = [
            closing is Closing.ERASED or outcome_id in self.removed
            for outcome_id, closing in self.closings.items()
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


async def _read_outcomes(tally: _Tally, bootstrap: str, opener: Opener) -> None:
    topic = memories_topic(tally.generation)
    batches = read_batches(bootstrap, topic, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            filled = [record for record in batch if record.value is not None]
            opened = await opener.open(Outcome, filled)
            for record in batch:
                if record.value is None:
                    tally.bury_outcome(record)
                else:
                    tally.add_outcome(record, opened[record.position])


async def _read_turns(tally: _Tally, bootstrap: str) -> None:
    batches = read_batches(bootstrap, TURNS, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            for record in batch:
                if record.value is None:
                    tally.bury_turn(record)
                else:
                    tally.add_turn(record)


async def _read_dead_letters(tally: _Tally, bootstrap: str, opener: Opener) -> None:
    batches = read_batches(bootstrap, DEAD_LETTERS, tally.partition, client_id=_CLIENT_ID)
    async with aclosing(batches):
        async for batch in batches:
            filled = [record for record in batch if record.value is not None]
            opened = await opener.open(DeadLetter, filled)
            for record in filled:
                tally.add_dead_letter(record, opened[record.position])


def _totals(partitions: list[dict[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {}
    for partition in partitions:
        for name, value in partition.items():
            if isinstance(value, Mapping):
                so_far = totals.setdefault(name, {})
                for key, count in value.items():
                    so_far[key] = so_far.get(key, 0) + count
            elif name != "partition":
                totals[name] = totals.get(name, 0) + value
    return totals


def _compared(comparison: Comparison) -> dict[str, Any]:
    differences = [
        {
            "subject": str(difference.subject),
            "partition": difference.partition,
            "missing": [str(one) for one in difference.missing],
            "surplus": [str(one) for one in difference.surplus],
            "changed": [str(one) for one in difference.changed],
        }
        for difference in comparison.differences
    ]
    return {
        "equal": comparison.equal,
        "subjects": comparison.subjects,
        "rows": comparison.rows,
        "differences": differences,
    }
