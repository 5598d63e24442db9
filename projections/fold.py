"""What memory events mean: the one place that turns outcomes into changes of a subject's memories.

The projector carries the same changes out by SQL, in batches; :class:`SubjectState` carries them
out one at a time in memory. Comparing a table with the fold of its log therefore tests the SQL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeAlias, assert_never
from uuid import UUID

from schemas import ids
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
)
from schemas.memory import Memory
from schemas.records import Closing, Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Insert:
    """A version appears. One that is there already stays as it is.

    Attributes:
        subject: whose memory it is.
        memory: the version.
    """

    subject: UUID
    memory: Memory

    @property
    def memory_id(self) -> UUID:
        """The version."""
        return self.memory.memory_id


@dataclass(frozen=True, kw_only=True, slots=True)
class Close:
    """A version is known to have ceased to be true; the last word on that counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version.
        valid_to: until when it was true.
        closed_recorded_at: when the ledger learnt this ``valid_to``. A later word moves both, so
            before that moment the version counts as open; what was known then is still exact, as
            of a lineage's versions that hold at one time the one that began last is meant.
    """

    subject: UUID
    memory_id: UUID
    valid_to: datetime
    closed_recorded_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Confirm:
    """A version was stated once more; the greatest time counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version.
        confirmed_at: when it was stated.
    """

    subject: UUID
    memory_id: UUID
    confirmed_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Retract:
    """A version turned out to be wrong; the first time that the ledger learnt it counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version.
        retracted_at: when the ledger learnt it.
    """

    subject: UUID
    memory_id: UUID
    retracted_at: datetime


Change: TypeAlias = Insert | Close | Confirm | Retract
"""One change of one version; any but an insert is void where the version is not there."""


def changes(outcome: Outcome, subject: UUID) -> tuple[Change, ...]:
    """Return what an outcome changes, in order.

    Args:
        outcome: the outcome, of a turn that no earlier outcome has closed.
        subject: whose turn it closes.
    """
    return tuple(change for event in outcome.events for change in _changes_of(event, subject))


def _changes_of(event: MemoryEvent, subject: UUID) -> Iterator[Change]:
    match event:
        case MemoryAdded(memory=memory):
            yield Insert(subject=subject, memory=memory)
        case MemorySuperseded(closes=before, memory=memory):
            yield _close_before(before, memory, subject)
            yield Insert(subject=subject, memory=memory)
        case MemoryBackfilled(after=before, memory=memory):
            if before is not None:
                yield _close_before(before, memory, subject)
            yield Insert(subject=subject, memory=memory)
        case MemoryConfirmed(memory_id=memory_id, confirmed_at=confirmed_at):
            yield Confirm(subject=subject, memory_id=memory_id, confirmed_at=confirmed_at)
        case MemoryRetracted(memory_id=memory_id, retracted_at=retracted_at):
            yield Retract(subject=subject, memory_id=memory_id, retracted_at=retracted_at)
        case (
            MemoriesMerged()
            | ProposalRejected()
            | ProposalFlagged()
            | FlagApproved()
            | FlagRefused()
        ):
            return
        case _:
            assert_never(event)


def _close_before(before: UUID, memory: Memory, subject: UUID) -> Close:
    return Close(
        subject=subject,
        memory_id=before,
        valid_to=memory.valid_from,
        closed_recorded_at=memory.recorded_at,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRow:
    """A version with everything that later events said of it: one row of the read model.

    Attributes:
        subject: whose memory it is.
        memory: the version; ``valid_to`` is what is known now.
        closed_recorded_at: when the ledger learnt ``valid_to``; ``None`` while it is open, or where
            it was known from the start.
        retracted_at: when it was withdrawn as wrong, or ``None``.
        last_confirmed_at: when it was last stated: at first the time since when it is true, which
            a replay gives again, unlike the time it was recorded.
        confirmations: how often it was stated again.
    """

    subject: UUID
    memory: Memory
    closed_recorded_at: datetime | None
    retracted_at: datetime | None
    last_confirmed_at: datetime
    confirmations: int


def new_row(insert: Insert) -> MemoryRow:
    """Return the row of a version of which nothing was said yet."""
    return MemoryRow(
        subject=insert.subject,
        memory=insert.memory,
        closed_recorded_at=None,
        retracted_at=None,
        last_confirmed_at=insert.memory.valid_from,
        confirmations=0,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class LoggedOutcome:
    """An outcome with the place where it stands in the memories topic."""

    offset: int
    outcome: Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedTurn:
    """How a turn closed, and the offset of the outcome that closed it."""

    closing: Closing
    offset: int


@dataclass(kw_only=True, slots=True)
class SubjectState:
    """What the log says of one subject, folded so far.

    Attributes:
        subject: the subject.
        memories: every version by its id, whether it holds or not.
        closed: every turn that an outcome closed, by its id.
        refused: the offset of the first outcome of a turn that was set aside, by the outcome's id:
            from it alone nobody can tell which turn it closes.
    """

    subject: UUID
    memories: dict[UUID, MemoryRow] = field(default_factory=dict)
    closed: dict[UUID, ClosedTurn] = field(default_factory=dict)
    refused: dict[UUID, int] = field(default_factory=dict)

    def refuse(self, outcome_id: UUID, offset: int) -> None:
        """Take note of an outcome that was set aside; no later one of its turn counts."""
        self.refused.setdefault(outcome_id, offset)

    def refused_closing(self, turn_id: UUID, outcome_id: UUID) -> ClosedTurn | None:
        """Return how a turn closed whose first outcome was set aside; ``None`` for any other.

        Args:
            turn_id: a turn that the log holds.
            outcome_id: the id of its outcome.
        """
        offset, closed = self.refused.get(outcome_id), self.closed.get(turn_id)
        if offset is None or (closed is not None and closed.offset < offset):
            return None
        return ClosedTurn(closing=Closing.DEAD_LETTERED, offset=offset)

    def apply(self, logged: LoggedOutcome) -> bool:
        """Fold one more outcome in and return whether it counted.

        The outcomes of one partition are given in the order of their offsets, any stretch of which
        may be given again: of a turn's outcomes only the first one counts.
        """
        outcome = logged.outcome
        outcome_id = ids.outcome_id(outcome.generation, outcome.turn_id)
        if outcome.turn_id in self.closed or outcome_id in self.refused:
            return False
        self.closed[outcome.turn_id] = ClosedTurn(closing=outcome.closing, offset=logged.offset)
        for change in changes(outcome, self.subject):
            self._change(change)
        return True

    def _change(self, change: Change) -> None:
        row = self.memories.get(change.memory_id)
        if isinstance(change, Insert):
            if row is None:
                self.memories[change.memory_id] = new_row(change)
        elif row is not None:
            self.memories[change.memory_id] = _changed(row, change)


def _changed(row: MemoryRow, change: Close | Confirm | Retract) -> MemoryRow:
    match change:
        case Close():
            return replace(
                row,
                memory=row.memory.model_copy(update={"valid_to": change.valid_to}),
                closed_recorded_at=change.closed_recorded_at,
            )
        case Confirm():
            return replace(
                row,
                last_confirmed_at=max(row.last_confirmed_at, change.confirmed_at),
                confirmations=row.confirmations + 1,
            )
        case Retract():
            first = change.retracted_at if row.retracted_at is None else row.retracted_at
            return replace(row, retracted_at=first)
    assert_never(change)


def fold(outcomes: Iterable[LoggedOutcome], *, subject: UUID) -> SubjectState:
    """Return what a subject's outcomes, in the order of the log, say of it."""
    state = SubjectState(subject=subject)
    for logged in outcomes:
        state.apply(logged)
    return state
