"""What outcomes mean, folded into what is known of a subject.

The projector carries the same changes out by SQL, in batches; :class:`SubjectState` carries them
out one at a time in memory. Comparing a table with the fold of its log therefore tests the SQL.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never
from uuid import UUID

from projections.changes import (
    Change,
    Close,
    Confirm,
    Insert,
    Merge,
    Pin,
    Retract,
    Update,
    Vouch,
    changes,
)
from projections.deletion_fold import delete_flags, deletions
from projections.flag_fold import FlagRow, fold_flags
from projections.rejection_fold import Rejection, RejectionKey, fold_rejections
from projections.spending_fold import Spent, SpentOn, add_spending
from projections.summary_fold import SummaryRow, fold_summary, forget_sources
from projections.suppression_fold import fold_suppressions
from projections.turn_fold import ClosedTurn, conversation_of, waiting_turn
from schemas import ids
from schemas.memory import Memory
from schemas.records import Closing, Outcome
from schemas.waiting import WaitingTurn


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryRow:
    """A version with everything that later events said of it: one row of the read model.

    Attributes:
        subject: whose memory it is.
        memory: the version; ``valid_to``, ``expires_at`` and ``curated_at`` are what is known now.
        closed_recorded_at: when the ledger learnt ``valid_to``; ``None`` while it is open, or where
            it was known from the start.
        retracted_at: when it was withdrawn as wrong, or ``None``.
        last_confirmed_at: when it was last stated: at first the time since when it is true, which
            a replay gives again, unlike the time it was recorded.
        confirmations: how often it was stated again.
        expiry_confirmed_at: the time of the confirmation that ``expires_at`` comes from; ``None``
            where it came with the memory.
        merged: how another version came to stand for it, or ``None``.
        pinned_at: when a person pinned it; ``None`` while it is not pinned.
    """

    subject: UUID
    memory: Memory
    closed_recorded_at: datetime | None
    retracted_at: datetime | None
    last_confirmed_at: datetime
    confirmations: int
    expiry_confirmed_at: datetime | None = None
    merged: Merge | None = None
    pinned_at: datetime | None = None

    @property
    def merged_into(self) -> UUID | None:
        """The version that stands for it, or ``None``."""
        return None if self.merged is None else self.merged.merged_into


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


@dataclass(kw_only=True, slots=True)
class SubjectState:
    """What the log says of one subject, folded so far.

    Attributes:
        subject: the subject.
        memories: every version by its id, whether it holds or not; but for those that were deleted.
        closed: every turn that an outcome closed, by its id.
        refused: the offset of the first outcome of a turn that was set aside, by the outcome's id:
            from it alone nobody can tell which turn it closes.
        waiting: the turns that were deferred and not settled, by their id.
        flags: what was left to a person, by the flag's id.
        rejected: what was refused, by the record that it was proposed for and its place there.
        spent: what asking models cost.
        suppressed: what a person deleted or corrected, by key, and when last.
        summaries: what the ends of sessions came to, by the record that ends one.
        forgotten: ids of turns, and of outcomes, of which no summary tells any more.
    """

    subject: UUID
    memories: dict[UUID, MemoryRow] = field(default_factory=dict)
    closed: dict[UUID, ClosedTurn] = field(default_factory=dict)
    refused: dict[UUID, int] = field(default_factory=dict)
    waiting: dict[UUID, WaitingTurn] = field(default_factory=dict)
    flags: dict[UUID, FlagRow] = field(default_factory=dict)
    rejected: dict[RejectionKey, Rejection] = field(default_factory=dict)
    spent: dict[SpentOn, Spent] = field(default_factory=dict)
    suppressed: dict[bytes, datetime] = field(default_factory=dict)
    summaries: dict[UUID, SummaryRow] = field(default_factory=dict)
    forgotten: set[UUID] = field(default_factory=set)

    def forget(self, source_ids: Collection[UUID]) -> None:
        """Let go of the summaries that were made from what is gone, now or later.

        Args:
            source_ids: ids of turns and of outcomes.
        """
        self.forgotten.update(source_ids)
        forget_sources(self.summaries, self.forgotten)

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
        self.closed[outcome.turn_id] = ClosedTurn(
            closing=outcome.closing,
            offset=logged.offset,
            conversation_id=conversation_of(outcome),
        )
        waiting = waiting_turn(outcome)
        if waiting is not None:
            self.waiting[outcome.turn_id] = waiting
        self._settle(logged)
        for change in changes(outcome, self.subject):
            self._change(change)
        fold_flags(self.flags, outcome)
        fold_rejections(self.rejected, outcome)
        add_spending(self.spent, outcome)
        fold_suppressions(self.suppressed, outcome)
        fold_summary(self.summaries, self.forgotten, outcome)
        self._delete(outcome)
        return True

    def _delete(self, outcome: Outcome) -> None:
        """Let go of what an outcome deletes, after all else that it changes."""
        named = frozenset(deletions(outcome))
        if not named:
            return
        gone = named | {
            memory_id
            for memory_id, row in self.memories.items()
            if not named.isdisjoint(row.memory.merged_from)
        }
        rows = [self.memories.pop(memory_id, None) for memory_id in gone]
        contents = frozenset(row.memory.content for row in rows if row is not None)
        self.forget({row.memory.turn_id for row in rows if row is not None})
        delete_flags(self.flags, gone, contents)

    def _settle(self, logged: LoggedOutcome) -> None:
        for settled in logged.outcome.settled:
            closed = self.closed.get(settled.turn_id)
            if closed is not None and closed.can_settle(settled, logged.offset):
                self.closed[settled.turn_id] = closed.settled_by(settled, logged.offset)
                self.waiting.pop(settled.turn_id, None)

    def _change(self, change: Change) -> None:
        row = self.memories.get(change.memory_id)
        if isinstance(change, Insert):
            if row is None:
                self.memories[change.memory_id] = new_row(change)
        elif row is not None:
            self.memories[change.memory_id] = _changed(row, change)


def _changed(row: MemoryRow, change: Update) -> MemoryRow:
    match change:
        case Close():
            return replace(
                row,
                memory=row.memory.model_copy(update={"valid_to": change.valid_to}),
                closed_recorded_at=change.closed_recorded_at,
            )
        case Confirm():
            return replace(
                _renewed(row, change),
                last_confirmed_at=max(row.last_confirmed_at, change.confirmed_at),
                confirmations=row.confirmations + 1,
            )
        case Retract():
            first = change.retracted_at if row.retracted_at is None else row.retracted_at
            return replace(row, retracted_at=first)
        case Merge():
            return replace(row, merged=_merged(row.merged, change))
        case Vouch():
            times = (change.curated_at, row.memory.curated_at)
            latest = max(moment for moment in times if moment is not None)
            return replace(row, memory=row.memory.model_copy(update={"curated_at": latest}))
        case Pin():
            return replace(row, pinned_at=change.pinned_at)
    assert_never(change)


def _merged(before: Merge | None, change: Merge) -> Merge:
    if before is None:
        return change
    return replace(
        change,
        merged_valid_from=min(before.merged_valid_from, change.merged_valid_from),
        merged_at=before.merged_at,
    )


def _renewed(row: MemoryRow, confirm: Confirm) -> MemoryRow:
    said_at, before = confirm.confirmed_at, row.expiry_confirmed_at
    if confirm.renewal is None or (before is not None and said_at < before):
        return row
    expires_at = confirm.renewal.expires_at
    return replace(
        row,
        memory=row.memory.model_copy(update={"expires_at": expires_at}),
        expiry_confirmed_at=said_at,
    )


def fold(outcomes: Iterable[LoggedOutcome], *, subject: UUID) -> SubjectState:
    """Return what a subject's outcomes, in the order of the log, say of it."""
    state = SubjectState(subject=subject)
    for logged in outcomes:
        state.apply(logged)
    return state
