"""What persons decide about a subject's memories, decided and folded in memory."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from processors.deciding.curating import (
    curate,
    lookups_for_decision,
    lookups_for_twins,
    with_twins,
)
from processors.deciding.occasions import occasion_of_curation
from processors.deciding.outcome import LogPlace
from projections.fold import MemoryRow
from schemas.commands import (
    AboutMemory,
    CuratedMemory,
    Curation,
    Decision,
    PersonCorrects,
    PersonDeletes,
    PersonPins,
    PersonRemembers,
)
from schemas.memory import ABOUT_USER, Memory, MemoryKind, Source
from schemas.records import Outcome
from schemas.slots import Slot
from tests.support.deciding import GENERATION, NOW, Subject, day

ACTOR = "ann"


def about(memory: Memory) -> CuratedMemory:
    """Return a memory as decisions about it carry it."""
    told = set(CuratedMemory.model_fields)
    return CuratedMemory.model_validate(memory.model_dump(include=told))


def decision_of(decision: Decision, at: float) -> Curation:
    """Return the record of a person's decision of that day."""
    return Curation(
        turn_id=uuid4(),
        source=Source.CURATION,
        actor=ACTOR,
        decision=decision,
        occurred_at=day(at),
        received_at=NOW,
    )


def decide_curation(subject: Subject, curation: Curation) -> Outcome:
    """Decide a person's decision without folding its outcome."""
    decision = curation.decision
    if not isinstance(decision, PersonCorrects | PersonPins | PersonDeletes):
        return subject.decide_on(occasion_of_curation(curation))
    related = subject.related(lookups_for_decision(decision, subject.keying))
    twins = subject.related(lookups_for_twins(curation, decision, related))
    place = LogPlace(
        generation=GENERATION, partition=0, offset=len(subject.outcomes), proposals_floor=0
    )
    return curate(
        curation,
        decision,
        place,
        related=with_twins(related, twins),
        keying=subject.keying,
        now=NOW,
    )


def curates(subject: Subject, at: float, decision: Decision) -> Outcome:
    """Decide and fold a person's decision of that day."""
    return subject.fold(decide_curation(subject, decision_of(decision, at)))


def remembers(subject: Subject, at: float, content: str, **changed: Any) -> Outcome:
    """Let a person state something."""
    fields: dict[str, Any] = {
        "kind": MemoryKind.SEMANTIC,
        "slot": Slot.RESIDENCE,
        "about": ABOUT_USER,
        "content": content,
        "importance": 3,
    }
    return curates(subject, at, PersonRemembers(**(fields | changed)))


def corrects(subject: Subject, at: float, memory: Memory, **changed: Any) -> Outcome:
    """Let a person say what a memory should have been."""
    return curates(subject, at, PersonCorrects(memory=about(memory), **changed))


def pins(subject: Subject, at: float, memory: Memory, *, pinned: bool = True) -> Outcome:
    """Let a person pin a memory, or pin it no longer."""
    return curates(subject, at, PersonPins(memory=about(memory), pinned=pinned))


def deletes(subject: Subject, at: float, memory: Memory) -> Outcome:
    """Let a person delete a memory."""
    return curates(subject, at, PersonDeletes(memory=about(memory)))


def held(subject: Subject, content: str) -> Memory:
    """Return the version of that content that began last."""
    found = [it.memory for it in subject.state.memories.values() if it.memory.content == content]
    return max(found, key=lambda memory: memory.valid_from)


def contents(subject: Subject) -> list[str]:
    """Return what is served: what is live and nothing stands for."""
    return sorted(row.memory.content for row in _served(subject))


def pinned_contents(subject: Subject) -> list[str]:
    """Return what is served and pinned."""
    return sorted(row.memory.content for row in _served(subject) if row.pinned_at is not None)


def _served(subject: Subject) -> list[MemoryRow]:
    return [
        row
        for row in subject.state.memories.values()
        if row.retracted_at is None and row.memory.valid_to is None and row.merged is None
    ]


def everything_said(subject: Subject) -> set[str]:
    """Return every content that is held, served or not."""
    return {row.memory.content for row in subject.state.memories.values()}


def decisions_about(memory: Memory) -> tuple[AboutMemory, ...]:
    """Return one decision of each sort about a memory."""
    decided = about(memory)
    return (
        PersonCorrects(memory=decided, content="Lives in Oslo"),
        PersonPins(memory=decided, pinned=True),
        PersonPins(memory=decided, pinned=False),
        PersonDeletes(memory=decided),
    )


def unknown(memory: Memory) -> Memory:
    """Return a memory as another generation holds it, under another id."""
    fresh: dict[str, UUID] = {"memory_id": uuid4(), "lineage_id": uuid4()}
    return memory.model_copy(update=fresh)
