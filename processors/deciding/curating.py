"""What becomes of a person's decision about a memory that is held.

Decisions about one memory are carried out in the order of the log, each on what those before it
left: a correction of what was corrected corrects the correction, a pin of what was replaced is one
of what replaced it, and what was deleted is neither corrected nor pinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from processors.deciding.correcting import Correction, correct, corrected_statement
from processors.deciding.counterparts import counterpart
from processors.deciding.decision import reject
from processors.deciding.deleting import delete
from processors.deciding.lookups import Lookups
from processors.deciding.outcome import LogPlace, closing_of
from processors.deciding.pinning import pin
from processors.versions import RETRACTABLE_KINDS, Versions, key_of
from schemas import ids
from schemas.commands import AboutMemory, Curation, PersonCorrects, PersonDeletes, PersonPins
from schemas.events import MemoryEvent, RejectionReason
from schemas.memory import MemoryKind, statement_key
from schemas.ports import Related
from schemas.records import Outcome
from schemas.slots import SINGLE_VALUED, Slot
from schemas.suppression import SuppressionKeying


def lookups_for_decision(decision: AboutMemory, keying: SuppressionKeying) -> Lookups:
    """Return what must be asked before a decision about a memory can be carried out.

    Args:
        decision: the decision.
        keying: makes the keys of what the subject deleted or corrected.
    """
    decided = decision.memory
    stated = [decided.model_dump(include={"kind", "slot", "about", "content"})]
    if isinstance(decision, PersonCorrects):
        stated.append(corrected_statement(decided, decision))
    keys = {
        statement_key(kind, one["about"], one["content"], decided.valid_from)
        for one in stated
        for kind in _kinds(one["kind"])
    }
    slots: list[tuple[Slot, str]] = [(one["slot"], one["about"]) for one in stated]
    return Lookups(
        slots=frozenset(place for place in slots if place[0] in SINGLE_VALUED),
        statement_keys=frozenset(keys),
        memory_ids=frozenset({decided.memory_id}),
        turn_ids=frozenset({decided.turn_id}) if decided.quote else frozenset(),
        suppression_keys=keying.stated_keys(decided),
    )


def lookups_for_twins(curation: Curation, decision: AboutMemory, related: Related) -> Lookups:
    """Return what must be asked besides: for a deletion, whatever else says the same.

    Args:
        curation: the record.
        decision: the decision in it.
        related: the answer to the first question.
    """
    versions = Versions(related.versions)
    found = counterpart(versions, decision.memory, by=curation.occurred_at)
    said: frozenset[bytes] = frozenset()
    if found is not None and isinstance(decision, PersonDeletes):
        lineage = versions.of_lineage(found.memory.lineage_id)
        said = frozenset(key_of(stored.memory) for stored in lineage)
    return Lookups(slots=frozenset(), statement_keys=said, memory_ids=frozenset())


def with_twins(related: Related, twins: Related) -> Related:
    """Return the answers to both questions as one."""
    versions = {it.memory.memory_id: it for it in (*twins.versions, *related.versions)}
    return Related(versions=tuple(versions.values()), suppressed=related.suppressed)


def curate(
    curation: Curation,
    decision: AboutMemory,
    place: LogPlace,
    *,
    related: Related,
    keying: SuppressionKeying,
    now: datetime,
) -> Outcome:
    """Decide what becomes of a person's decision about a memory.

    Args:
        curation: the record.
        decision: the decision in it.
        place: where the outcome belongs in the log.
        related: the answers to both questions above.
        keying: makes the keys of what the subject deletes or corrects.
        now: the time of the decision, ``recorded_at`` of what it brings forth.
    """
    outcome_id = ids.outcome_id(place.generation, curation.turn_id)
    decided = _decided(curation, decision, related, keying=keying, outcome_id=outcome_id, now=now)
    events: tuple[MemoryEvent, ...] = (
        (reject(0, decided, turn_id=curation.turn_id),)
        if isinstance(decided, tuple)
        else tuple(decided)
    )
    return Outcome(
        turn_id=curation.turn_id,
        generation=place.generation,
        turn_partition=place.partition,
        turn_offset=place.offset,
        closing=closing_of(events),
        events=events,
        proposals_floor=place.proposals_floor,
        decided_at=now,
        closes="curation",
    )


def _decided(
    curation: Curation,
    decision: AboutMemory,
    related: Related,
    *,
    keying: SuppressionKeying,
    outcome_id: UUID,
    now: datetime,
) -> list[MemoryEvent] | tuple[RejectionReason, ...]:
    """Return the events as a list, or as a tuple every reason why there are none."""
    versions = Versions(related.versions)
    match decision:
        case PersonDeletes():
            return delete(
                versions, curation, decision, keying=keying, outcome_id=outcome_id, now=now
            )
        case PersonPins(memory=memory, pinned=pinned):
            pins = pin(
                versions,
                curation,
                memory,
                pinned=pinned,
                suppressed=related.suppressed,
                keying=keying,
                outcome_id=outcome_id,
                now=now,
            )
            return (pins,) if isinstance(pins, RejectionReason) else pins
        case PersonCorrects():
            return correct(
                Correction(
                    curation=curation,
                    corrects=decision,
                    related=related,
                    versions=versions,
                    keying=keying,
                    outcome_id=outcome_id,
                    now=now,
                )
            )


def _kinds(kind: MemoryKind) -> Sequence[MemoryKind]:
    return RETRACTABLE_KINDS if kind in RETRACTABLE_KINDS else (kind,)
