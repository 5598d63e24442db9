"""What becomes of the turns that waited for the end of their session."""

from __future__ import annotations

from uuid import uuid4

from schemas import ids
from schemas.events import MemoryAdded, MemorySuperseded, ProposalRejected, RejectionReason
from schemas.proposals import InvalidItem
from schemas.records import Closing, Settled
from schemas.slots import Slot
from tests.support.deciding import GENERATION, NOW, Subject, day, operation, turn
from tests.unit.processors.deciding.occasions import kinds, opened, proposed, session

GOA = turn("I live in Goa now", at=day(5), utc_offset_minutes=330)
TEA = turn("I like tea", at=day(3))
HELLO = turn("Hello there", at=day(4))


def closings(settled: tuple[Settled, ...]) -> dict[int, Closing]:
    return {one.turn_offset: one.closing for one in settled}


def test_each_operation_is_that_of_the_turn_that_it_quotes() -> None:
    occasion = session([GOA, TEA, HELLO])
    outcome = Subject().closes(
        occasion,
        proposed(
            occasion.record_id,
            [
                operation("Lives in Goa", quote="live in Goa", turn_id=GOA.turn_id),
                operation("Likes tea", quote="like tea", slot=Slot.PREFERENCE, turn_id=TEA.turn_id),
            ],
        ),
    )
    tea, goa = map(opened, outcome.events)
    assert (tea.content, tea.turn_id, tea.valid_from) == ("Likes tea", TEA.turn_id, day(3))
    assert (goa.content, goa.turn_id, goa.valid_from) == ("Lives in Goa", GOA.turn_id, day(5))
    outcome_id = ids.outcome_id(GENERATION, occasion.record_id)
    assert [goa.memory_id, tea.memory_id] == [ids.memory_id(outcome_id, at) for at in (0, 1)]
    assert closings(outcome.settled) == {
        0: Closing.STORED,
        1: Closing.STORED,
        2: Closing.NOTHING_FOUND,
    }
    assert (outcome.closing, outcome.closes) == (Closing.STORED, "session-end")
    assert (outcome.turn_id, outcome.decided_at) == (occasion.record_id, NOW)


def test_the_model_and_what_it_cost_are_told() -> None:
    occasion = session([TEA])
    outcome = Subject().closes(occasion, proposed(occasion.record_id, []))
    assert (outcome.extractor, outcome.model) == ("model", "model-1")
    assert outcome.usage.input_tokens == 100


def test_turns_are_decided_in_the_order_in_which_they_were_said() -> None:
    late, early = turn("I live in Goa", at=day(9)), turn("I live in Pune", at=day(2))
    occasion = session([late, early])
    subject = Subject()
    outcome = subject.closes(
        occasion,
        proposed(
            occasion.record_id,
            [
                operation("Lives in Goa", quote="live in Goa", turn_id=late.turn_id),
                operation("Lives in Pune", quote="live in Pune", turn_id=early.turn_id),
            ],
        ),
    )
    assert kinds(outcome.events) == ["memory-added", "memory-superseded"]
    assert subject.history() == [("Lives in Pune", day(2), day(9)), ("Lives in Goa", day(9), None)]


def test_the_words_of_one_turn_are_no_evidence_for_another() -> None:
    occasion = session([TEA, HELLO])
    stolen = operation("Likes tea", quote="like tea", slot=Slot.PREFERENCE, turn_id=HELLO.turn_id)
    outcome = Subject().closes(occasion, proposed(occasion.record_id, [stolen]))
    assert outcome.events == (
        ProposalRejected(
            operation=0,
            reasons=(RejectionReason.EVIDENCE_NOT_IN_USER_TEXT,),
            turn_id=HELLO.turn_id,
        ),
    )
    assert closings(outcome.settled) == {0: Closing.NOTHING_FOUND, 1: Closing.REJECTED}


def test_an_operation_of_no_turn_of_the_session_is_refused_and_the_others_are_kept() -> None:
    occasion = session([TEA, HELLO])
    good = operation("Likes tea", quote="like tea", slot=Slot.PREFERENCE, turn_id=TEA.turn_id)
    outcome = Subject().closes(
        occasion,
        proposed(
            occasion.record_id,
            [operation("Likes rain"), operation("Likes snow", turn_id=uuid4()), good],
            [InvalidItem(position=3, problem="no slot")],
        ),
    )
    added, *refused = outcome.events
    assert isinstance(added, MemoryAdded)
    assert refused == [
        ProposalRejected(operation=at, reasons=(RejectionReason.INVALID_ITEM,)) for at in (0, 1, 3)
    ]
    # Whose words these were nobody knows: no turn of the session counts as one without any.
    assert closings(outcome.settled) == {0: Closing.STORED, 1: Closing.REJECTED}


def test_turns_that_were_not_read_close_as_it_is_told() -> None:
    gone = Settled(turn_id=uuid4(), turn_offset=7, closing=Closing.ERASED)
    occasion = session([TEA], [gone])
    outcome = Subject().closes(occasion, proposed(occasion.record_id, []))
    assert closings(outcome.settled) == {0: Closing.NOTHING_FOUND, 7: Closing.ERASED}
    assert outcome.closing is Closing.NOTHING_FOUND


def test_a_session_that_ends_late_does_not_overwrite_what_was_said_since() -> None:
    subject = Subject()
    subject.says(9, operation("Lives in Delhi"))
    occasion = session([GOA])
    said = operation("Lives in Goa", quote="live in Goa", turn_id=GOA.turn_id)
    outcome = subject.closes(occasion, proposed(occasion.record_id, [said]))
    assert kinds(outcome.events) == ["memory-backfilled"]
    assert subject.live() == ["Lives in Delhi"]


def test_a_session_decides_as_its_turns_one_by_one_would() -> None:
    said = [
        turn(f"I live in {city}", at=day(number))
        for number, city in enumerate(("Pune", "Goa", "Pune", "Delhi"))
    ]
    operations = [
        operation(one.user_text.replace("I live", "Lives"), quote=one.user_text[2:]) for one in said
    ]
    alone, together = Subject(), Subject()
    for one, stated in zip(said, operations, strict=True):
        alone.take(one, proposed(one.turn_id, [stated]))
    occasion = session(said)
    of_turns = [
        one.model_copy(update={"turn_id": of.turn_id})
        for one, of in zip(operations, said, strict=True)
    ]
    outcome = together.closes(occasion, proposed(occasion.record_id, of_turns))
    assert alone.history() == together.history()
    assert [type(event) for event in outcome.events] == [MemoryAdded] + [MemorySuperseded] * 3
