"""What golden logs hold of what persons decide: remembering, correcting, pinning and deleting."""

from __future__ import annotations

from uuid import UUID

from schemas.commands import (
    CuratedMemory,
    Curation,
    Decision,
    PersonCorrects,
    PersonDeletes,
    PersonPins,
    PersonRemembers,
)
from schemas.events import (
    MemoriesDeleted,
    MemoryAdded,
    MemoryConfirmed,
    MemoryCorrected,
    MemoryEvent,
    MemoryPinned,
    MemoryVouched,
)
from schemas.keyring import SubjectKeys
from schemas.memory import Memory, MemoryKind, Precision, Source
from schemas.records import Closing
from schemas.slots import Slot
from schemas.suppression import SuppressionKeying
from tests.histories.made import memory_of
from tests.histories.writing import GoldenWriter, Written, at

ACTOR = "ann"


def write_curations(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Remember, state again, correct, pin, unpin and delete."""
    diet = _remembered(writer, keys)
    _stated_again(writer, keys, diet)
    right = _corrected(writer, keys, diet)
    for minutes, pinned in ((630, False), (640, True)):
        _pinned(writer, keys, right, pinned=pinned, minutes=minutes)
    _deleted(writer, keys)


def about(memory: Memory) -> CuratedMemory:
    """Return a memory as decisions about it carry it."""
    told = CuratedMemory.model_fields.keys()
    return CuratedMemory.model_validate(memory.model_dump(include=set(told)))


def _suppressing(keys: SubjectKeys, memory: Memory) -> tuple[bytes, ...]:
    keying = SuppressionKeying.of_subject(keys.id_secret)
    return tuple(sorted(keying.suppression_keys(memory)))


def _decided(
    writer: GoldenWriter, keys: SubjectKeys, number: int, decision: Decision, *, minutes: int
) -> Written:
    curation = Curation(
        turn_id=UUID(int=0xD0 + number),
        source=Source.CURATION,
        actor=ACTOR,
        decision=decision,
        occurred_at=at(minutes),
        received_at=at(minutes),
    )
    return writer.command(f"a person decides: {decision.decision}", keys, curation)


def _remembered(writer: GoldenWriter, keys: SubjectKeys) -> Memory:
    remembers = PersonRemembers(
        kind=MemoryKind.SEMANTIC,
        slot=Slot.DIET,
        about="user",
        content="Is vegetarian",
        importance=4,
        valid_from=at(550),
        expires_at=at(90_000),
        pinned=True,
    )
    written = _decided(writer, keys, 0, remembers, minutes=600)
    added = memory_of(
        written,
        0,
        Slot.DIET,
        remembers.content,
        importance=4,
        source=Source.CURATION,
        valid_from=at(550),
        expires_at=at(90_000),
        curated_at=at(600),
    )
    events: list[MemoryEvent] = [
        MemoryAdded(memory=added),
        _pin(added, written, pinned=True, minutes=600),
    ]
    writer.outcome("stored and pinned", written, Closing.STORED, events)
    return added


def _stated_again(writer: GoldenWriter, keys: SubjectKeys, diet: Memory) -> None:
    remembers = PersonRemembers(
        kind=diet.kind, slot=diet.slot, about="user", content=diet.content, importance=4
    )
    written = _decided(writer, keys, 1, remembers, minutes=610)
    events: list[MemoryEvent] = [
        MemoryConfirmed(
            memory_id=diet.memory_id, turn_id=written.turn_id, quote="", confirmed_at=at(610)
        ),
        MemoryVouched(
            memory_id=diet.memory_id, turn_id=written.turn_id, actor=ACTOR, vouched_at=at(610)
        ),
    ]
    writer.outcome("confirmed by a person", written, Closing.STORED, events)


def _corrected(writer: GoldenWriter, keys: SubjectKeys, diet: Memory) -> Memory:
    corrects = PersonCorrects(
        memory=about(diet), content="Is vegan", importance=5, pinned=True, reason="no eggs either"
    )
    written = _decided(writer, keys, 2, corrects, minutes=620)
    right = memory_of(
        written,
        0,
        Slot.DIET,
        "Is vegan",
        importance=5,
        lineage_id=diet.lineage_id,
        source=Source.CURATION,
        valid_from=diet.valid_from,
        valid_from_precision=Precision.MOMENT,
        expires_at=diet.expires_at,
        curated_at=at(620),
    )
    events: list[MemoryEvent] = [
        MemoryCorrected(
            corrects=diet.memory_id,
            memory=right,
            actor=ACTOR,
            suppresses=_suppressing(keys, diet),
        ),
        _pin(right, written, pinned=True, minutes=620),
    ]
    writer.outcome("in the place of the wrong one", written, Closing.STORED, events)
    return right


def _pinned(
    writer: GoldenWriter, keys: SubjectKeys, memory: Memory, *, pinned: bool, minutes: int
) -> None:
    pins = PersonPins(memory=about(memory), pinned=pinned)
    written = _decided(writer, keys, minutes, pins, minutes=minutes)
    event = _pin(memory, written, pinned=pinned, minutes=minutes)
    writer.outcome("a pin, or none", written, Closing.STORED, [event])


def _pin(memory: Memory, written: Written, *, pinned: bool, minutes: int) -> MemoryPinned:
    return MemoryPinned(
        memory_id=memory.memory_id,
        pinned=pinned,
        turn_id=written.turn_id,
        actor=ACTOR,
        pinned_at=at(minutes),
    )


def _deleted(writer: GoldenWriter, keys: SubjectKeys) -> None:
    turn = writer.turn("what is deleted later", keys, "e1", "I smoke.", said_at=at(650))
    kept = memory_of(turn, 0, Slot.NOTE, "Smokes")
    writer.outcome("kept for now", turn, Closing.STORED, [MemoryAdded(memory=kept)])
    for number, held in enumerate(((kept.memory_id,), ())):
        deletes = PersonDeletes(memory=about(kept), reason="none of your business")
        written = _decided(writer, keys, 3 + number, deletes, minutes=660 + number)
        event = MemoriesDeleted(
            memory_ids=held,
            suppresses=_suppressing(keys, kept),
            turn_id=written.turn_id,
            actor=ACTOR,
            deleted_at=at(660 + number),
        )
        note = "deleted" if held else "deleted again"
        writer.outcome(note, written, Closing.STORED, [event])
