"""Carrying out that a person says what a memory should have been.

What is right stands in the lineage of what was wrong, in its place in time, with no words of a turn
behind it. Where the correction changes nothing, the person vouches for what is held. What says the
same elsewhere is stood for by what is right, so that nothing is served twice; and in a slot of one
value, what was held there ends. Where this generation holds no counterpart, what is right is stored
all the same, unless the person had deleted it before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from processors.about import ABOUT_CHARACTERS_MAX, canonical_about
from processors.deciding.counterparts import counterpart, deleted_before
from processors.deciding.gating import refusals_of_person
from processors.deciding.one_value import holds_slot
from processors.deciding.pinning import pin, pin_event
from processors.deciding.retracting import brought_back, standing_for_any, stretch_of
from processors.expiry import expiry_of
from processors.versions import Versions, same_statement
from schemas import ids
from schemas.commands import CuratedMemory, Curation, PersonCorrects
from schemas.events import (
    MemoryCorrected,
    MemoryEnded,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemoryVouched,
    RejectionReason,
)
from schemas.memory import Confidence, Memory, Source
from schemas.ports import Related, StoredMemory
from schemas.proposals import Action, Operation
from schemas.suppression import SuppressionKeying

_TOLD: Final = ("kind", "slot", "about", "content", "importance")


@dataclass(frozen=True, kw_only=True, slots=True)
class Correction:
    """A correction that is being decided.

    Attributes:
        curation: the record.
        corrects: the decision in it.
        related: what is known, and what is suppressed.
        versions: the versions that are known.
        keying: makes the keys of what the subject deleted or corrected.
        outcome_id: the outcome, from which every id follows.
        now: the time of the decision.
    """

    curation: Curation
    corrects: PersonCorrects
    related: Related
    versions: Versions
    keying: SuppressionKeying = field(repr=False)
    outcome_id: UUID
    now: datetime

    @property
    def decided_at(self) -> datetime:
        """When the person decided."""
        return self.curation.occurred_at

    def right(self, held: Memory | None) -> Memory:
        """Return the version that is right, unchecked.

        Args:
            held: the version that is wrong; ``None`` where this generation holds none.
        """
        wrong: Memory | CuratedMemory = self.corrects.memory if held is None else held
        memory_id = ids.memory_id(self.outcome_id, 0)
        told = wrong.model_dump(include={*_TOLD, "valid_from", "valid_from_precision"})
        told |= _changes(self.corrects)
        memory = Memory.model_construct(
            **told,
            memory_id=memory_id,
            lineage_id=memory_id if held is None else held.lineage_id,
            confidence=Confidence.STATED,
            source=Source.CURATION,
            turn_id=self.curation.turn_id,
            conversation_id="",
            quote="",
            valid_to=None if held is None else held.valid_to,
            recorded_at=self.now,
            merged_from=() if held is None else held.merged_from,
            curated_at=self.decided_at,
        )
        return memory.model_copy(update={"expires_at": self._expiry(held, memory)})

    def _expiry(self, held: Memory | None, right: Memory) -> datetime | None:
        """Return when what is right ceases by itself: as what was wrong, if that was stated."""
        if (
            held is not None
            and held.confidence is Confidence.STATED
            and (held.kind, held.slot) == (right.kind, right.slot)
        ):
            return held.expires_at
        return expiry_of(
            kind=right.kind,
            slot=right.slot,
            confidence=Confidence.STATED,
            told=None,
            said_at=self.decided_at,
        )


def correct(correction: Correction) -> list[MemoryEvent] | tuple[RejectionReason, ...]:
    """Return the events for a correction as a list, or as a tuple why it is not carried out."""
    corrects, versions = correction.corrects, correction.versions
    target = counterpart(versions, corrects.memory, by=correction.decided_at)
    if target is not None and target.retracted:
        target = _corrected_before(versions, target)
        if target is None:
            return (RejectionReason.UNKNOWN_MEMORY,)
    if target is None and deleted_before(
        corrects.memory, correction.related.suppressed, correction.keying
    ):
        return (RejectionReason.UNKNOWN_MEMORY,)
    held = None if target is None else target.memory
    right = correction.right(held)
    reasons = _refusals(right)
    if reasons:
        return reasons
    if target is not None and _told(target.memory) == _told(right):
        return _unchanged(correction, target)
    return _replaced(correction, target, right)


def corrected_statement(decided: CuratedMemory, corrects: PersonCorrects) -> dict[str, Any]:
    """Return what a decision says that a memory should have been, by a memory's fields."""
    return decided.model_dump(include=set(_TOLD)) | _changes(corrects)


def _changes(corrects: PersonCorrects) -> dict[str, Any]:
    changes = {name: told for name in _TOLD if (told := getattr(corrects, name)) is not None}
    if corrects.about is not None:
        changes["about"] = canonical_about(corrects.about)
    return changes


def _told(memory: Memory) -> tuple[object, ...]:
    return tuple(getattr(memory, name) for name in _TOLD)


def _corrected_before(versions: Versions, retracted: StoredMemory) -> StoredMemory | None:
    """Return what an earlier correction put in the place of a version, if one did."""
    begins = retracted.memory.valid_from
    lineage = versions.of_lineage(retracted.memory.lineage_id)
    return next((it for it in lineage if not it.retracted and it.memory.valid_from == begins), None)


def _refusals(right: Memory) -> tuple[RejectionReason, ...]:
    operation = Operation(
        action=Action.ADD,
        **{name: getattr(right, name) for name in _TOLD},
        confidence=Confidence.STATED,
        quote="",
    )
    reasons = refusals_of_person(operation)
    if 0 < len(right.about) <= ABOUT_CHARACTERS_MAX:
        return reasons
    return tuple(dict.fromkeys((*reasons, RejectionReason.INVALID_ITEM)))


def _replaced(
    correction: Correction, target: StoredMemory | None, right: Memory
) -> list[MemoryEvent]:
    """Return the events that put what is right in the place of what was wrong."""
    versions = correction.versions
    stretch = (
        [] if target is None else stretch_of(target, versions.of_lineage(target.memory.lineage_id))
    )
    twins = _twins(versions, stretch, right)
    right, ended = _placed(correction, stretch, twins, right)
    wrong: Memory | CuratedMemory = correction.corrects.memory if target is None else target.memory
    corrected = MemoryCorrected(
        corrects=None if target is None else target.memory.memory_id,
        memory=Memory.model_validate(right.model_dump()),
        actor=correction.curation.actor,
        suppresses=_suppresses(correction.keying, wrong, right),
    )
    merged = standing_for_any(versions, stretch)
    withdrawn = [
        *(it for it in stretch if it is not target),
        *merged,
        # What stands for others cannot be stood for itself.
        *(it for it in twins if it.memory.merged_from),
    ]
    again = brought_back(
        versions,
        merged,
        {it.memory.memory_id for it in (*stretch, *merged)},
        operation_id=ids.memory_id(correction.outcome_id, 1),
        now=correction.now,
    )
    return [
        corrected,
        *(_retraction(correction, it) for it in withdrawn),
        *again,
        *ended,
        *_pins(correction, right, (*stretch, *twins)),
    ]


def _unchanged(
    correction: Correction, target: StoredMemory
) -> list[MemoryEvent] | tuple[RejectionReason, ...]:
    """Return the events for a correction that leaves what is held as it is, but for a pin."""
    vouched = MemoryVouched(
        memory_id=target.memory.memory_id,
        turn_id=correction.curation.turn_id,
        actor=correction.curation.actor,
        vouched_at=correction.decided_at,
    )
    if correction.corrects.pinned is None:
        return [vouched]
    pins = pin(
        correction.versions,
        correction.curation,
        correction.corrects.memory,
        pinned=correction.corrects.pinned,
        suppressed=correction.related.suppressed,
        keying=correction.keying,
        outcome_id=correction.outcome_id,
        now=correction.now,
    )
    return (pins,) if isinstance(pins, RejectionReason) else [vouched, *pins]


def _pins(
    correction: Correction, right: Memory, before: Sequence[StoredMemory]
) -> list[MemoryPinned]:
    """Return that what is right is pinned, if the person says so or what it follows was."""
    asked = correction.corrects.pinned
    pinned = [it.pinned_at for it in before if it.pinned_at is not None]
    if right.valid_to is not None or asked is False or not (asked or pinned):
        return []
    event = pin_event(right.memory_id, correction.curation, pinned=True)
    if not pinned:
        return [event]
    actor = event.actor if asked else None
    return [event.model_copy(update={"actor": actor, "pinned_at": min(pinned)})]


def _twins(
    versions: Versions, stretch: Sequence[StoredMemory], right: Memory
) -> list[StoredMemory]:
    """Return the other live memories that state what is right, if that is to be live."""
    if right.valid_to is not None:
        return []
    mine = {it.memory.memory_id for it in stretch}
    return [it for it in versions.stating(right) if it.live and it.memory.memory_id not in mine]


def _placed(
    correction: Correction,
    stretch: Sequence[StoredMemory],
    twins: Sequence[StoredMemory],
    right: Memory,
) -> tuple[Memory, list[MemoryEnded]]:
    """Return what is right in its place in time, and what ends for it."""
    originals = (it.memory.merged_from or (it.memory.memory_id,) for it in twins)
    fields: dict[str, Any] = {
        "merged_from": tuple(
            dict.fromkeys((*right.merged_from, *(o for of in originals for o in of)))
        )
    }
    if stretch:
        fields |= {
            "valid_from": stretch[0].memory.valid_from,
            "valid_from_precision": stretch[0].memory.valid_from_precision,
            "valid_to": stretch[-1].memory.valid_to,
        }
    right = right.model_copy(update=fields)
    if right.valid_to is not None or not holds_slot(right):
        return right, []
    mine = {it.memory.memory_id for it in (*stretch, *twins)}
    holding = [
        it.memory
        for it in correction.versions.of_slot(right.slot, right.about)
        if it.live and holds_slot(it.memory) and it.memory.memory_id not in mine
    ]
    later = [memory.valid_from for memory in holding if memory.valid_from > right.valid_from]
    if not stretch and later:
        # Without its own place in this generation, it is what held until something else did.
        return right.model_copy(update={"valid_to": min(later)}), []
    return right, [
        MemoryEnded(
            memory_id=memory.memory_id,
            valid_to=(
                right.valid_from
                if memory.valid_from <= right.valid_from
                else max(memory.valid_from, correction.decided_at)
            ),
            because_of=right.memory_id,
            ended_at=correction.now,
        )
        for memory in holding
    ]


def _suppresses(
    keying: SuppressionKeying, wrong: Memory | CuratedMemory, right: Memory
) -> tuple[bytes, ...]:
    """Return the keys under which what was wrong is not stored again."""
    if isinstance(wrong, Memory) and same_statement(wrong, right):
        return ()  # it was right, and is only filed otherwise
    return tuple(sorted(keying.suppression_keys(wrong) - keying.suppression_keys(right)))


def _retraction(correction: Correction, stored: StoredMemory) -> MemoryRetracted:
    return MemoryRetracted(
        memory_id=stored.memory.memory_id,
        turn_id=correction.curation.turn_id,
        quote="",
        retracted_at=correction.now,
    )
