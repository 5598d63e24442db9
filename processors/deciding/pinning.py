"""Carrying out that a person pins a memory, or pins it no longer."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from processors.deciding.counterparts import counterpart, deleted_before
from processors.expiry import expired
from processors.versions import Versions
from schemas import ids
from schemas.commands import CuratedMemory, Curation
from schemas.events import MemoryAdded, MemoryEvent, MemoryPinned, RejectionReason
from schemas.memory import Confidence, Memory, Source
from schemas.ports import StoredMemory
from schemas.suppression import SuppressionKeying


def pin(
    versions: Versions,
    curation: Curation,
    decided: CuratedMemory,
    *,
    pinned: bool,
    suppressed: Mapping[bytes, datetime],
    keying: SuppressionKeying,
    outcome_id: UUID,
    now: datetime,
) -> list[MemoryEvent] | RejectionReason:
    """Return the events for a pin, or why there is nothing to pin.

    A pin is of a lineage: where the version was replaced since, what replaced it is meant, also a
    merged one. Where this generation holds nothing of the sort, what the person pinned is stored as
    that person's statement, unless it was deleted.

    Args:
        versions: what is known.
        curation: the record.
        decided: the version that the person saw.
        pinned: whether it is pinned, or no longer.
        suppressed: what is suppressed, by key.
        keying: makes the subject's keys.
        outcome_id: what the id of a memory follows from.
        now: the time of the decision.
    """
    target = counterpart(versions, decided, by=curation.occurred_at)
    if not pinned:
        return _unpinned(versions, curation, target)
    if target is None:
        if deleted_before(decided, suppressed, keying):
            return RejectionReason.UNKNOWN_MEMORY
        memory = _restated(decided, curation, ids.memory_id(outcome_id, 0), now)
        return [MemoryAdded(memory=memory), pin_event(memory.memory_id, curation, pinned=True)]
    live = current(versions, target)
    if live is None:
        return RejectionReason.UNKNOWN_MEMORY
    if expired(live.memory, curation.occurred_at):
        return RejectionReason.ALREADY_PAST
    return [] if live.pinned_at else [pin_event(live.memory.memory_id, curation, pinned=True)]


def current(versions: Versions, stored: StoredMemory) -> StoredMemory | None:
    """Return what is served of a lineage now: its live version, or what stands for it."""
    lineage = versions.of_lineage(stored.memory.lineage_id)
    live = [it for it in lineage if not it.retracted and it.memory.valid_to is None]
    standing = (versions.standing_for(it) for it in live)
    return next((it for it in standing if it is not None and it.live), None)


def _unpinned(
    versions: Versions, curation: Curation, target: StoredMemory | None
) -> list[MemoryEvent] | RejectionReason:
    if target is None:
        return RejectionReason.UNKNOWN_MEMORY
    lineage = versions.of_lineage(target.memory.lineage_id)
    serving = current(versions, target)
    of_pin = {it.memory.memory_id: it for it in (*lineage, *([serving] if serving else []))}
    return [
        pin_event(memory_id, curation, pinned=False)
        for memory_id, stored in of_pin.items()
        if stored.pinned_at is not None
    ]


def pin_event(memory_id: UUID, curation: Curation, *, pinned: bool) -> MemoryPinned:
    """Return that a person pins a version, or pins it no longer."""
    return MemoryPinned(
        memory_id=memory_id,
        pinned=pinned,
        turn_id=curation.turn_id,
        actor=curation.actor,
        pinned_at=curation.occurred_at,
    )


def _restated(decided: CuratedMemory, curation: Curation, memory_id: UUID, now: datetime) -> Memory:
    return Memory(
        memory_id=memory_id,
        lineage_id=memory_id,
        kind=decided.kind,
        content=decided.content,
        slot=decided.slot,
        about=decided.about,
        importance=decided.importance,
        confidence=Confidence.STATED,
        source=Source.CURATION,
        turn_id=curation.turn_id,
        conversation_id="",
        quote="",
        valid_from=decided.valid_from,
        valid_from_precision=decided.valid_from_precision,
        recorded_at=now,
        curated_at=curation.occurred_at,
    )
