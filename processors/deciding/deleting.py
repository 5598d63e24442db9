"""Carrying out that a person deletes a memory.

All versions of its lineage go, what it says wherever else it is held in the same words, and every
merged memory that rests on any of these. A merged memory that is deleted takes what it stands for
with it, since that says the same; of one that stood for something deleted, what else it stood for
is brought back, as after a retraction. Where nothing is held, the deletion stands as a suppression.
"""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from processors.deciding.counterparts import counterpart
from processors.deciding.retracting import brought_back, standing_for_any
from processors.placement import last_said
from processors.versions import Versions, key_of
from schemas.commands import Curation, PersonDeletes
from schemas.events import MemoriesDeleted, MemoryEvent
from schemas.ports import StoredMemory
from schemas.suppression import SuppressionKeying


def delete(
    versions: Versions,
    curation: Curation,
    deletes: PersonDeletes,
    *,
    keying: SuppressionKeying,
    outcome_id: UUID,
    now: datetime,
) -> list[MemoryEvent]:
    """Return the events for a deletion.

    Args:
        versions: what is known.
        curation: the record.
        deletes: the decision in it.
        keying: makes the keys of what the subject deletes.
        outcome_id: what the ids of memories that are brought back follow from.
        now: the time of the decision.
    """
    gone = _gone(versions, curation, deletes)
    lost = {stored.memory.memory_id for stored in gone}
    merged = [it for it in standing_for_any(versions, gone) if it.memory.memory_id not in lost]
    lost |= {stored.memory.memory_id for stored in merged}
    keys = set(keying.suppression_keys(deletes.memory)).union(
        *(keying.suppression_keys(stored.memory) for stored in gone)
    )
    deleted = MemoriesDeleted(
        memory_ids=tuple(sorted(lost)),
        suppresses=tuple(sorted(keys)),
        turn_id=curation.turn_id,
        actor=curation.actor,
        deleted_at=curation.occurred_at,
    )
    return [*brought_back(versions, merged, lost, operation_id=outcome_id, now=now), deleted]


def _gone(
    versions: Versions, curation: Curation, deletes: PersonDeletes
) -> tuple[StoredMemory, ...]:
    """Return the versions that say what is deleted."""
    target = counterpart(versions, deletes.memory, by=curation.occurred_at)
    if target is None:
        return ()
    gone = {it.memory.memory_id: it for it in versions.of_lineage(target.memory.lineage_id)}
    for stored in tuple(gone.values()):
        sources = (versions.get(original) for original in stored.memory.merged_from)
        gone |= {it.memory.memory_id: it for it in sources if it is not None}
    said = {key_of(stored.memory) for stored in gone.values()}
    for stored in versions.all():
        if key_of(stored.memory) in said and _said_by(versions, stored, curation.occurred_at):
            gone[stored.memory.memory_id] = stored
    return tuple(gone.values())


def _said_by(versions: Versions, stored: StoredMemory, moment: datetime) -> bool:
    """Whether a version was said last by a moment: what was said since is not what was meant."""
    return last_said(stored, versions.of_lineage(stored.memory.lineage_id)) <= moment
