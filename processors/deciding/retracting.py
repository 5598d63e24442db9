"""Withdrawing what never was true."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from processors.deciding.considered import Item
from processors.placement import last_said
from processors.versions import Versions, same_statement
from schemas.events import MemoryRetracted, RejectionReason
from schemas.memory import folded
from schemas.ports import StoredMemory


def retract(
    versions: Versions, item: Item, *, now: datetime
) -> Sequence[MemoryRetracted] | RejectionReason:
    """Return the events for a retraction, or why there is nothing to withdraw.

    Args:
        versions: what is known.
        item: the retraction.
        now: the time of the decision.
    """
    operation = item.operation
    if operation.reference is not None:
        target = versions.get(operation.reference)
        if target is None:
            return RejectionReason.UNKNOWN_REFERENCE
    else:
        target = _stated(versions, item)
    if target is None or target.retracted:
        return RejectionReason.NOTHING_TO_RETRACT
    siblings = versions.of_lineage(target.memory.lineage_id)
    stretch = _stretch(target, siblings)
    if any(last_said(version, siblings) > item.saying.said_at for version in stretch):
        return RejectionReason.NOTHING_TO_RETRACT
    return [
        MemoryRetracted(
            memory_id=version.memory.memory_id,
            turn_id=item.saying.turn_id,
            quote=operation.quote,
            retracted_at=now,
        )
        for version in stretch
    ]


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


def _stretch(target: StoredMemory, siblings: Sequence[StoredMemory]) -> list[StoredMemory]:
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
