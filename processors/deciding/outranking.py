"""What persons decided outranks what models propose.

A version that a person created, approved, corrected or pinned is never withdrawn for what a model
proposes, and no merged memory takes its place. It ends only by a statement that somebody made after
that decision: what was said before it was known when it was made, and what is only concluded is no
word of anybody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from uuid import UUID

from processors.deciding.considered import Item
from processors.versions import Versions
from schemas.events import (
    MemoriesMerged,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEnded,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemorySuperseded,
)
from schemas.memory import Confidence
from schemas.ports import StoredMemory


def outranked(events: Iterable[MemoryEvent], item: Item, versions: Versions) -> bool:
    """Whether events would do to a version what an operation must not.

    Args:
        events: what the operation leads to.
        item: the operation.
        versions: what is known before any of these events.
    """
    for event in events:
        if any(_decided(versions, memory_id) for memory_id in _displaced(event)):
            return True
        ended = (versions.get(memory_id) for memory_id in _ended(event))
        if any(stored is not None and not _may_end(stored, item) for stored in ended):
            return True
    return False


def with_expiry_kept(
    events: Sequence[MemoryEvent], item: Item, versions: Versions
) -> Sequence[MemoryEvent]:
    """Return events of which none lets a version cease by itself that it must not end."""
    return [
        event.model_copy(update={"renewal": None})
        if isinstance(event, MemoryConfirmed) and _renews_in_vain(event, item, versions)
        else event
        for event in events
    ]


def pins_taken_over(
    events: Iterable[MemoryEvent], versions: Versions, *, turn_id: UUID
) -> Iterator[MemoryPinned]:
    """Yield that each version that takes the place of a pinned one in its lineage is pinned, too.

    Args:
        events: what was decided.
        versions: what is known before any of these events.
        turn_id: the turn that caused them.
    """
    for event in events:
        before = versions.get(event.closes) if isinstance(event, MemorySuperseded) else None
        if isinstance(event, MemorySuperseded) and before is not None and before.pinned_at:
            yield MemoryPinned(
                memory_id=event.memory.memory_id,
                pinned=True,
                turn_id=turn_id,
                actor=None,
                pinned_at=before.pinned_at,
            )


def _displaced(event: MemoryEvent) -> tuple[UUID, ...]:
    """Return the versions that an event withdraws, or lets another stand for."""
    match event:
        case MemoryRetracted():
            return (event.memory_id,)
        case MemoriesMerged():
            return (*event.memory.merged_from, *event.replaces)
        case _:
            return ()


def _ended(event: MemoryEvent) -> tuple[UUID, ...]:
    """Return the versions whose time an event cuts."""
    match event:
        case MemorySuperseded():
            return (event.closes,)
        case MemoryBackfilled() if event.after is not None:
            return (event.after,)
        case MemoryEnded():
            return (event.memory_id,)
        case _:
            return ()


def _decided(versions: Versions, memory_id: UUID) -> bool:
    stored = versions.get(memory_id)
    return stored is not None and stored.decided_at is not None


def _may_end(stored: StoredMemory, item: Item) -> bool:
    if stored.decided_at is None:
        return True
    stated = item.states and item.operation.confidence is Confidence.STATED
    return stated and item.saying.said_at > stored.decided_at


def _renews_in_vain(event: MemoryConfirmed, item: Item, versions: Versions) -> bool:
    stored = versions.get(event.memory_id)
    return event.renewal is not None and stored is not None and not _may_end(stored, item)
