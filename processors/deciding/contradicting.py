"""Two memories that cannot both hold: a person decides, and then the older one ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from processors.deciding.considered import Item
from processors.placement import last_said
from processors.versions import Versions
from schemas import ids
from schemas.events import MemoryEnded, RejectionReason
from schemas.ports import StoredMemory
from schemas.proposals import Operation


@dataclass(frozen=True, kw_only=True, slots=True)
class Contradiction:
    """Two memories that cannot both hold.

    Attributes:
        operation: what a person is shown: ``reference`` was said last longer ago than ``against``.
        flag_id: the id of the flag.
    """

    operation: Operation
    flag_id: UUID


def contradict(versions: Versions, item: Item) -> Contradiction | RejectionReason:
    """Return the contradiction as a person is to see it, or why it is none.

    Which of the two was said first is told by what is known, not by the model.
    """
    found = _pair(versions, item)
    if isinstance(found, RejectionReason):
        return found
    older, newer = sorted(found, key=lambda stored: (_last_said(versions, stored), _id(stored)))
    named = {"reference": older.memory.memory_id, "against": newer.memory.memory_id}
    return Contradiction(
        operation=item.operation.model_copy(update=named),
        flag_id=ids.contradiction_flag_id(
            older.memory.memory_id, newer.memory.memory_id, _last_said(versions, older)
        ),
    )


def end_contradicted(
    versions: Versions, item: Item, *, now: datetime
) -> Sequence[MemoryEnded] | RejectionReason:
    """Return the event by which the older memory of an approved contradiction ends.

    It was true until the other one became so, or until it was said last. What was said again after
    the contradiction was found stays: the person decided about something else.
    """
    found = _pair(versions, item)
    if isinstance(found, RejectionReason):
        return found
    older, newer = found
    said = _last_said(versions, older)
    if said > item.saying.said_at:
        return RejectionReason.CONTRADICTION
    return (
        MemoryEnded(
            memory_id=older.memory.memory_id,
            valid_to=max(newer.memory.valid_from, said),
            because_of=newer.memory.memory_id,
            ended_at=now,
        ),
    )


def _pair(versions: Versions, item: Item) -> tuple[StoredMemory, StoredMemory] | RejectionReason:
    operation = item.operation
    if operation.reference is None or operation.against is None:
        return RejectionReason.INVALID_ITEM
    reference, against = versions.get(operation.reference), versions.get(operation.against)
    if reference is None or against is None or not (reference.live and against.live):
        return RejectionReason.UNKNOWN_REFERENCE
    apart = reference is not against and reference.memory.about == against.memory.about
    return (reference, against) if apart else RejectionReason.INVALID_ITEM


def _last_said(versions: Versions, stored: StoredMemory) -> datetime:
    return last_said(stored, versions.of_lineage(stored.memory.lineage_id))


def _id(stored: StoredMemory) -> str:
    return str(stored.memory.memory_id)
