"""What memory events change: the one place that turns outcomes into changes of versions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias, assert_never
from uuid import UUID

from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoriesDeleted,
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryCorrected,
    MemoryEnded,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemorySuperseded,
    MemoryVouched,
    ProposalFlagged,
    ProposalRejected,
    Renewal,
)
from schemas.memory import Memory
from schemas.records import Outcome
from schemas.summary_events import SessionNotSummarised, SessionSummarised


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
        renewal: when it ceases from then on; of several confirmations that say so the one with the
            greatest time counts, of equal ones the last.
    """

    subject: UUID
    memory_id: UUID
    confirmed_at: datetime
    renewal: Renewal | None = None


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Merge:
    """Another version stands for this one from now on; the last word on which one counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version that is served no more.
        merged_into: the version that stands for it.
        merged_valid_from: since when that one is true; the earliest counts, before which no other
            version says what this one does.
        merged_at: when the ledger learnt it; the first time counts, since from then on this version
            was not served, whichever stood for it.
    """

    subject: UUID
    memory_id: UUID
    merged_into: UUID
    merged_valid_from: datetime
    merged_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Vouch:
    """A person stated what a version says; the greatest time counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version.
        curated_at: when the person did.
    """

    subject: UUID
    memory_id: UUID
    curated_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Pin:
    """A version is served whatever is asked, or no longer so; the last word on that counts.

    Attributes:
        subject: whose memory it is.
        memory_id: the version.
        pinned_at: when a person pinned it; ``None`` where it is pinned no longer.
    """

    subject: UUID
    memory_id: UUID
    pinned_at: datetime | None


Update: TypeAlias = Close | Confirm | Retract | Merge | Vouch | Pin
"""One change of a version that is there; void where it is not."""

Change: TypeAlias = Insert | Update
"""One change of one version; that a version is gone is told by :mod:`projections.deletion_fold`."""


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
        case MemorySuperseded(closes=before) | MemoryBackfilled(after=before):
            if before is not None:
                yield _close_before(before, event.memory, subject)
            yield Insert(subject=subject, memory=event.memory)
        case MemoriesMerged():
            yield from _merges(event, subject)
        case MemoryCorrected():
            yield from _correction(event, subject)
        case MemoriesDeleted() | ProposalRejected() | ProposalFlagged():
            return  # what is deleted is told by deletion_fold
        case FlagApproved() | FlagRefused() | SessionSummarised() | SessionNotSummarised():
            return
        case _:
            yield _update_of(event, subject)


def _update_of(
    event: MemoryConfirmed | MemoryRetracted | MemoryEnded | MemoryVouched | MemoryPinned,
    subject: UUID,
) -> Update:
    """Return what an event changes that says something of one version."""
    match event:
        case MemoryConfirmed(memory_id=memory_id, confirmed_at=confirmed_at, renewal=renewal):
            return Confirm(
                subject=subject, memory_id=memory_id, confirmed_at=confirmed_at, renewal=renewal
            )
        case MemoryRetracted(memory_id=memory_id, retracted_at=retracted_at):
            return Retract(subject=subject, memory_id=memory_id, retracted_at=retracted_at)
        case MemoryEnded(memory_id=memory_id, valid_to=valid_to, ended_at=ended_at):
            return Close(
                subject=subject,
                memory_id=memory_id,
                valid_to=valid_to,
                closed_recorded_at=ended_at,
            )
        case MemoryVouched(memory_id=memory_id, vouched_at=vouched_at):
            return Vouch(subject=subject, memory_id=memory_id, curated_at=vouched_at)
        case MemoryPinned(memory_id=memory_id, pinned=pinned, pinned_at=pinned_at):
            moment = pinned_at if pinned else None
            return Pin(subject=subject, memory_id=memory_id, pinned_at=moment)
    assert_never(event)


def _close_before(before: UUID, memory: Memory, subject: UUID) -> Close:
    return Close(
        subject=subject,
        memory_id=before,
        valid_to=memory.valid_from,
        closed_recorded_at=memory.recorded_at,
    )


def _correction(event: MemoryCorrected, subject: UUID) -> Iterator[Change]:
    if event.corrects is not None:
        retracted_at = event.memory.recorded_at
        yield Retract(subject=subject, memory_id=event.corrects, retracted_at=retracted_at)
    yield from _stand_for(event.memory, event.memory.merged_from, subject)


def _merges(event: MemoriesMerged, subject: UUID) -> Iterator[Change]:
    yield from _stand_for(event.memory, (*event.memory.merged_from, *event.replaces), subject)


def _stand_for(memory: Memory, versions: Iterable[UUID], subject: UUID) -> Iterator[Change]:
    """Yield the insert of a version, and that it stands for others."""
    yield Insert(subject=subject, memory=memory)
    for version in dict.fromkeys(versions):
        if version != memory.memory_id:
            yield Merge(
                subject=subject,
                memory_id=version,
                merged_into=memory.memory_id,
                merged_valid_from=memory.valid_from,
                merged_at=memory.recorded_at,
            )
