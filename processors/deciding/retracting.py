"""Withdrawing what never was true."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from processors.about import canonical_about
from processors.deciding.considered import Item
from processors.placement import last_said
from processors.versions import Versions, same_statement
from schemas import ids
from schemas.events import MemoryAdded, MemoryRetracted, RejectionReason
from schemas.memory import Memory, folded
from schemas.ports import StoredMemory
from schemas.proposals import Operation


def retract(
    versions: Versions, item: Item, *, operation_id: UUID, now: datetime
) -> Sequence[MemoryRetracted | MemoryAdded] | RejectionReason:
    """Return the events for a retraction, or why there is nothing to withdraw.

    A merged memory that stands for what is withdrawn goes with it, and what else it stood for is
    brought back: it is as true as before, and would be served no more.

    A reference must be to a memory of the slot and about that the operation tells: of two that do
    not agree, nobody knows which one is meant, and a short name is easily mistaken.

    Args:
        versions: what is known.
        item: the retraction.
        operation_id: what the ids of memories that are brought back follow from.
        now: the time of the decision.
    """
    operation = item.operation
    if operation.reference is not None:
        target = versions.get(operation.reference)
        if target is None or not _is_meant(target, operation):
            return RejectionReason.UNKNOWN_REFERENCE
    else:
        target = _stated(versions, item)
    if target is None or target.retracted:
        return RejectionReason.NOTHING_TO_RETRACT
    siblings = versions.of_lineage(target.memory.lineage_id)
    stretch = stretch_of(target, siblings)
    if any(last_said(version, siblings) > item.saying.said_at for version in stretch):
        return RejectionReason.NOTHING_TO_RETRACT
    merged = standing_for_any(versions, stretch)
    withdrawn = [
        MemoryRetracted(
            memory_id=version.memory.memory_id,
            turn_id=item.saying.turn_id,
            quote=operation.quote,
            retracted_at=now,
        )
        for version in (*stretch, *merged)
    ]
    lost = {event.memory_id for event in withdrawn}
    return [*withdrawn, *brought_back(versions, merged, lost, operation_id=operation_id, now=now)]


def standing_for_any(
    versions: Versions, withdrawn: Sequence[StoredMemory]
) -> tuple[StoredMemory, ...]:
    """Return the merged versions that stand for any of these."""
    standing = {
        found.memory.memory_id: found
        for version in withdrawn
        if version.merged_into is not None and (found := versions.standing_for(version)) is not None
    }
    return tuple(standing.values())


def brought_back(
    versions: Versions,
    merged: Sequence[StoredMemory],
    lost: Collection[UUID],
    *,
    operation_id: UUID,
    now: datetime,
) -> list[MemoryAdded]:
    """Return the events that bring back what merged versions stood for besides what is lost.

    Args:
        versions: what is known.
        merged: the merged versions, which are withdrawn.
        lost: the versions that are withdrawn.
        operation_id: what the ids of the memories follow from.
        now: the time of the decision.
    """
    survivors = dict.fromkeys(
        original
        for version in merged
        for original in version.memory.merged_from
        if original not in lost
    )
    return [
        _again(stored.memory, ids.memory_id(operation_id, number), now)
        for number, original in enumerate(survivors)
        if (stored := versions.get(original)) is not None and not stored.retracted
    ]


def _is_meant(target: StoredMemory, operation: Operation) -> bool:
    memory = target.memory
    return memory.slot is operation.slot and canonical_about(memory.about) == operation.about


def _again(memory: Memory, memory_id: UUID, now: datetime) -> MemoryAdded:
    fresh = {"memory_id": memory_id, "lineage_id": memory_id, "recorded_at": now}
    return MemoryAdded(memory=memory.model_copy(update=fresh))


def _stated(versions: Versions, item: Item) -> StoredMemory | None:
    """Return the latest version with the words of the operation that may be withdrawn."""
    operation = item.operation
    stated = [
        stored
        for stored in versions.of_slot(operation.slot, operation.about)
        if not stored.retracted
        and folded(stored.memory.content) == folded(operation.content)
        and stored.memory.valid_from <= item.saying.said_at
    ]
    return max(stated, key=lambda stored: stored.memory.valid_from, default=None)


def stretch_of(target: StoredMemory, siblings: Sequence[StoredMemory]) -> list[StoredMemory]:
    """Return the versions that state what ``target`` states, without a break in time around it."""
    alike = sorted(
        (
            sibling
            for sibling in siblings
            if not sibling.retracted and same_statement(sibling.memory, target.memory)
        ),
        key=lambda sibling: sibling.memory.valid_from,
    )
    stretch: list[StoredMemory] = []
    for version in alike:
        if stretch and stretch[-1].memory.valid_to != version.memory.valid_from:
            if target in stretch:
                break
            stretch = []
        stretch.append(version)
    return stretch
