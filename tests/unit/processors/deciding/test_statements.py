"""What becomes of a proposal, given what the ledger holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from processors import gate
from processors.deciding.considered import consider
from processors.deciding.lookups import lookups_for
from processors.deciding.occasions import occasion_of_turn
from processors.own_words import own_words
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryRetracted,
    MemorySuperseded,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import MemoryKind, Source
from schemas.proposals import Action, InvalidItem
from schemas.records import Closing
from schemas.slots import Slot
from tests.support.deciding import (
    GENERATION,
    NOW,
    Subject,
    day,
    new_keying,
    operation,
    proposal,
    turn,
)
from tests.unit.processors.deciding.occasions import kinds, opened

UPDATE, RETRACT = Action.UPDATE, Action.RETRACT


def test_a_new_statement_is_added_with_the_turns_words_and_time() -> None:
    subject = Subject()
    said = turn("I moved to Pune", at=day(3))
    outcome = subject.take(
        said, proposal(said, [operation("Lives in Pune", quote="moved to Pune")])
    )
    memory = opened(outcome.events[0])
    assert kinds(outcome.events) == ["memory-added"]
    assert outcome.closing is Closing.STORED
    assert memory.memory_id == ids.memory_id(ids.outcome_id(GENERATION, said.turn_id), 0)
    assert memory.lineage_id == memory.memory_id
    assert (memory.quote, memory.turn_id) == ("moved to Pune", said.turn_id)
    assert (memory.valid_from, memory.valid_to, memory.recorded_at) == (day(3), None, NOW)
    assert memory.source is Source.USER


def test_the_same_statement_confirms_whatever_its_spelling() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Pune")).events[0])
    (event,) = subject.says(4, operation("lives in  Pune.")).events
    assert isinstance(event, MemoryConfirmed)
    assert (event.memory_id, event.confirmed_at) == (first.memory_id, day(4))
    assert len(subject.state.memories) == 1


def test_a_statement_listed_twice_counts_once() -> None:
    subject = Subject()
    outcome = subject.says(1, operation("Lives in Pune"), operation("Lives in Pune"))
    assert kinds(outcome.events) == ["memory-added"]
    outcome = subject.says(2, operation("Lives in Pune"), operation("Lives in Pune"))
    assert kinds(outcome.events) == ["memory-confirmed"]
    many = [operation("Likes tea", slot=Slot.PREFERENCE)] * 2
    assert kinds(subject.says(3, *many).events) == ["memory-added"]
    assert kinds(subject.says(4, *many).events) == ["memory-confirmed"]


def test_another_value_supersedes_within_the_lineage() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Mumbai")).events[0])
    (event,) = subject.says(5, operation("Lives in Pune")).events
    assert isinstance(event, MemorySuperseded)
    assert event.closes == first.memory_id
    assert event.memory.lineage_id == first.lineage_id
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(5)),
        ("Lives in Pune", day(5), None),
    ]


def test_of_two_values_of_one_time_the_later_in_the_log_holds() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    subject.says(1, operation("Lives in Pune"))
    assert subject.live() == ["Lives in Pune"]


def test_operations_see_the_effects_of_those_before_them() -> None:
    subject = Subject()
    outcome = subject.says(
        1, operation("Lives in Mumbai"), operation("Lives in Mumbai", action=RETRACT)
    )
    assert kinds(outcome.events) == ["memory-added", "memory-retracted"]
    assert subject.live() == []


def test_a_late_turn_never_overwrites_what_is_newer() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    newest = opened(subject.says(9, operation("Lives in Pune")).events[0])
    (event,) = subject.says(5, operation("Lives in Delhi")).events
    assert isinstance(event, MemoryBackfilled)
    assert event.memory.valid_to == newest.valid_from
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(5)),
        ("Lives in Delhi", day(5), day(9)),
        ("Lives in Pune", day(9), None),
    ]


def test_a_late_turn_before_everything_opens_the_lineage() -> None:
    subject = Subject()
    first = opened(subject.says(5, operation("Lives in Pune")).events[0])
    (event,) = subject.says(2, operation("Lives in Delhi")).events
    assert isinstance(event, MemoryBackfilled)
    assert event.after is None
    assert event.memory.lineage_id == first.lineage_id
    assert subject.live() == ["Lives in Pune"]


def test_a_late_turn_confirms_what_held_at_its_time() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Mumbai")).events[0])
    subject.says(9, operation("Lives in Pune"))
    (event,) = subject.says(5, operation("Lives in Mumbai")).events
    assert isinstance(event, MemoryConfirmed)
    assert event.memory_id == first.memory_id


def test_a_late_turn_with_the_next_value_makes_it_true_earlier() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    subject.says(9, operation("Lives in Pune"))
    assert kinds(subject.says(5, operation("Lives in Pune")).events) == ["memory-backfilled"]
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(5)),
        ("Lives in Pune", day(5), None),
    ]


def test_a_late_turn_between_two_confirmations_leaves_the_latest_live() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Pune")).events[0])
    subject.says(8, operation("Lives in Pune"))
    outcome = subject.says(4, operation("Lives in Delhi"))
    assert kinds(outcome.events) == ["memory-superseded", "memory-backfilled"]
    continued = opened(outcome.events[0])
    assert (continued.quote, continued.turn_id) == (first.quote, first.turn_id)
    assert continued.memory_id not in {first.memory_id, opened(outcome.events[1]).memory_id}
    assert subject.history() == [
        ("Lives in Pune", day(1), day(4)),
        ("Lives in Delhi", day(4), day(8)),
        ("Lives in Pune", day(8), None),
    ]


def test_a_start_that_the_words_tell_is_kept() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    subject.says(9, operation("Lives in Pune", valid_from=day(6)))
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(6)),
        ("Lives in Pune", day(6), None),
    ]


def test_a_backdated_start_does_not_reach_behind_what_is_known_to_have_held() -> None:
    subject = Subject()
    subject.says(5, operation("Lives in Mumbai"))
    subject.says(9, operation("Lives in Pune", valid_from=day(2)))
    assert subject.history() == [
        ("Lives in Mumbai", day(5), day(9)),
        ("Lives in Pune", day(9), None),
    ]


def test_a_backdated_start_does_not_let_an_older_turn_win() -> None:
    subject = Subject()
    subject.says(9, operation("Lives in Pune", valid_from=day(2)))
    subject.says(5, operation("Lives in Delhi"))
    assert subject.live() == ["Lives in Pune"]


def test_a_start_after_the_turn_counts_as_the_turn() -> None:
    subject = Subject()
    subject.says(5, operation("Lives in Pune", valid_from=day(5) + timedelta(days=30)))
    assert subject.history() == [("Lives in Pune", day(5), None)]


def test_a_slot_of_many_values_displaces_nothing() -> None:
    subject = Subject()
    for number, content in enumerate(("Likes tea", "Likes rain", "Likes tea")):
        subject.says(number, operation(content, slot=Slot.PREFERENCE))
    assert subject.live(Slot.PREFERENCE) == ["Likes tea", "Likes rain"]


def test_the_same_statement_in_another_slot_confirms() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Pune"))
    outcome = subject.says(2, operation("Lives in Pune", slot=Slot.NOTE))
    assert kinds(outcome.events) == ["memory-confirmed"]


def test_of_the_same_statement_in_two_slots_the_one_of_the_same_slot_is_confirmed() -> None:
    for slot in (Slot.PREFERENCE, Slot.RESIDENCE):
        subject = Subject()
        subject.says(1, operation("Pune", slot=Slot.PREFERENCE))
        subject.says(1, operation("Pune", slot=Slot.RESIDENCE))
        subject.says(2, operation("Pune", slot=slot))
        confirmed = {
            row.memory.slot for row in subject.state.memories.values() if row.confirmations
        }
        assert confirmed == {slot}


def test_a_note_with_the_same_words_does_not_keep_a_slot_from_changing() -> None:
    subject = Subject()
    subject.says(1, operation("Works as a nurse", slot=Slot.NOTE))
    subject.says(2, operation("Works as a teacher", slot=Slot.OCCUPATION))
    subject.says(3, operation("Works as a nurse", slot=Slot.OCCUPATION))
    assert subject.live(Slot.OCCUPATION) == ["Works as a nurse"]


def test_the_same_words_at_another_time_are_another_episode() -> None:
    subject = Subject()
    for number in (1, 2):
        subject.says(number, operation("Hello", slot=Slot.EPISODE, kind=MemoryKind.EPISODIC))
    assert subject.live(Slot.EPISODE) == ["Hello", "Hello"]


def test_whom_it_is_about_keeps_values_apart() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Pune"))
    subject.says(2, operation("Lives in Delhi", about="sister"))
    subject.says(3, operation("Lives in Goa", about=" Sister "))
    assert subject.live() == ["Lives in Pune"]
    assert subject.live(about="sister") == ["Lives in Goa"]


def test_an_update_supersedes_the_lineage_that_it_names() -> None:
    subject = Subject()
    tea = opened(subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE)).events[0])
    subject.says(2, operation("Likes rain", slot=Slot.PREFERENCE))
    (event,) = subject.says(
        3,
        operation("Likes green tea", action=UPDATE, slot=Slot.PREFERENCE, reference=tea.memory_id),
    ).events
    assert isinstance(event, MemorySuperseded)
    assert event.closes == tea.memory_id
    assert subject.live(Slot.PREFERENCE) == ["Likes rain", "Likes green tea"]


def test_what_was_replaced_and_is_said_again_holds_again() -> None:
    subject = Subject()
    tea = opened(subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE)).events[0])
    update = operation("Likes rum", action=UPDATE, slot=Slot.PREFERENCE, reference=tea.memory_id)
    subject.says(3, update)
    assert kinds(subject.says(2, operation("Likes tea", slot=Slot.PREFERENCE)).events) == [
        "memory-confirmed"
    ]
    subject.says(5, operation("Likes tea", slot=Slot.PREFERENCE))
    assert subject.live(Slot.PREFERENCE) == ["Likes rum", "Likes tea"]


def test_a_late_update_goes_before_what_it_names() -> None:
    subject = Subject()
    tea = opened(subject.says(5, operation("Likes tea", slot=Slot.PREFERENCE)).events[0])
    update = operation("Likes cocoa", action=UPDATE, slot=Slot.PREFERENCE, reference=tea.memory_id)
    assert kinds(subject.says(3, update).events) == ["memory-backfilled"]
    assert subject.live(Slot.PREFERENCE) == ["Likes tea"]


def test_two_updates_of_one_memory_lose_neither() -> None:
    subject = Subject()
    drinks = opened(subject.says(1, operation("Likes drinks", slot=Slot.PREFERENCE)).events[0])
    subject.says(
        2,
        *(
            operation(content, action=UPDATE, slot=Slot.PREFERENCE, reference=drinks.memory_id)
            for content in ("Likes tea", "Likes coffee")
        ),
    )
    assert subject.live(Slot.PREFERENCE) == ["Likes tea", "Likes coffee"]


def test_an_update_of_another_attribute_is_an_addition() -> None:
    subject = Subject()
    home = opened(subject.says(1, operation("Lives in Pune")).events[0])
    update = operation("Works at Acme", action=UPDATE, slot=Slot.EMPLOYER, reference=home.memory_id)
    assert kinds(subject.says(2, update).events) == ["memory-added"]
    assert subject.live() == ["Lives in Pune"]


@pytest.mark.parametrize("action", [UPDATE, RETRACT])
def test_a_reference_to_nothing_is_refused(action: Action) -> None:
    subject = Subject()
    outcome = subject.says(1, operation("Lives in Pune", action=action, reference=uuid4()))
    assert outcome.events == (
        ProposalRejected(
            operation=0, reasons=(RejectionReason.UNKNOWN_REFERENCE,), turn_id=outcome.turn_id
        ),
    )
    assert outcome.closing is Closing.REJECTED


def test_an_update_of_what_no_longer_holds_is_refused() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Pune")).events[0])
    subject.says(2, operation("Lives in Goa"))
    outcome = subject.says(3, operation("Lives in Delhi", action=UPDATE, reference=first.memory_id))
    assert outcome.closing is Closing.REJECTED
    assert subject.live() == ["Lives in Goa"]


@pytest.mark.parametrize("slot", [Slot.RESIDENCE, Slot.PREFERENCE])
def test_an_update_without_a_reference_is_an_addition(slot: Slot) -> None:
    subject = Subject()
    subject.says(1, operation("One", action=UPDATE, slot=slot))
    subject.says(2, operation("Two", action=UPDATE, slot=slot))
    assert subject.live(slot) == (["Two"] if slot is Slot.RESIDENCE else ["One", "Two"])


@pytest.mark.parametrize("by_reference", [True, False])
def test_a_retraction_withdraws_what_it_names_and_nothing_else(*, by_reference: bool) -> None:
    subject = Subject()
    tea = opened(subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE)).events[0])
    subject.says(2, operation("Likes rain", slot=Slot.PREFERENCE))
    (event,) = subject.says(
        3,
        operation(
            "Likes tea",
            action=RETRACT,
            slot=Slot.PREFERENCE,
            reference=tea.memory_id if by_reference else None,
        ),
    ).events
    assert isinstance(event, MemoryRetracted)
    assert event.memory_id == tea.memory_id
    assert subject.live(Slot.PREFERENCE) == ["Likes rain"]


@pytest.mark.parametrize("wrong", [{"about": "sister"}, {"slot": Slot.RESIDENCE}])
def test_a_retraction_that_does_not_agree_with_what_it_names_is_refused(
    wrong: dict[str, Any],
) -> None:
    subject = Subject()
    nuts = opened(subject.says(1, operation("Is allergic to nuts", slot=Slot.ALLERGY)).events[0])
    named: dict[str, Any] = {"action": RETRACT, "slot": Slot.ALLERGY, "reference": nuts.memory_id}
    outcome = subject.says(2, operation("", quote="Retry", **(named | wrong)))
    assert outcome.events == (
        ProposalRejected(
            operation=0, reasons=(RejectionReason.UNKNOWN_REFERENCE,), turn_id=outcome.turn_id
        ),
    )
    assert subject.live(Slot.ALLERGY) == ["Is allergic to nuts"]
    right = operation("", quote="I never had that allergy", about=" The User", **named)
    assert kinds(subject.says(3, right).events) == ["memory-retracted"]


@pytest.mark.parametrize("about", ["", " ", "\u200b", "\u200b\u3164\ufe0f", "a" * 201])
def test_what_does_not_say_of_whom_it_speaks_is_refused(about: str) -> None:
    outcome = Subject().says(1, operation("Lives in Pune", about=about))
    assert outcome.events == (
        ProposalRejected(
            operation=0, reasons=(RejectionReason.INVALID_ITEM,), turn_id=outcome.turn_id
        ),
    )


def test_a_retraction_of_nothing_is_refused() -> None:
    subject = Subject()
    outcome = subject.says(1, operation("Lives in Pune", action=RETRACT))
    assert outcome.events == (
        ProposalRejected(
            operation=0, reasons=(RejectionReason.NOTHING_TO_RETRACT,), turn_id=outcome.turn_id
        ),
    )


def test_a_retraction_is_not_done_twice() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Pune"))
    subject.says(2, operation("Lives in Pune", action=RETRACT))
    assert subject.says(3, operation("Lives in Pune", action=RETRACT)).closing is Closing.REJECTED


def test_a_late_retraction_leaves_what_was_said_after_it() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Pune"))
    subject.says(9, operation("Lives in Pune"))
    assert subject.says(5, operation("Lives in Pune", action=RETRACT)).closing is Closing.REJECTED
    assert subject.live() == ["Lives in Pune"]


def test_a_retraction_takes_the_neighbours_that_state_the_same() -> None:
    subject = Subject()
    subject.says(5, operation("Lives in Pune"))
    subject.says(2, operation("Lives in Pune"))
    outcome = subject.says(9, operation("Lives in Pune", action=RETRACT))
    assert kinds(outcome.events) == ["memory-retracted", "memory-retracted"]
    assert subject.history() == []


def test_after_a_retraction_a_new_lineage_begins_and_nothing_is_revived() -> None:
    subject = Subject()
    first = opened(subject.says(1, operation("Lives in Mumbai")).events[0])
    subject.says(2, operation("Lives in Pune"))
    subject.says(3, operation("Lives in Pune", action=RETRACT))
    assert subject.live() == []
    (event,) = subject.says(4, operation("Lives in Goa")).events
    assert isinstance(event, MemoryAdded)
    assert event.memory.lineage_id != first.lineage_id
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(2)),
        ("Lives in Goa", day(4), None),
    ]


def test_a_correction_in_one_turn_withdraws_and_adds() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    outcome = subject.says(
        2, operation("Lives in Mumbai", action=RETRACT), operation("Lives in Pune")
    )
    assert kinds(outcome.events) == ["memory-retracted", "memory-added"]
    assert subject.history() == [("Lives in Pune", day(2), None)]


def test_a_statement_that_expired_is_stored_anew() -> None:
    subject = Subject()
    subject.says(1, operation("Is away", slot=Slot.NOTE, expires_at=day(3)))
    outcome = subject.says(5, operation("Is away", slot=Slot.NOTE, expires_at=day(9)))
    assert kinds(outcome.events) == ["memory-superseded"]


def test_a_late_repetition_does_not_revive_what_was_replaced() -> None:
    subject = Subject()
    tea = opened(subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE)).events[0])
    update = operation(
        "Likes green tea", action=UPDATE, slot=Slot.PREFERENCE, reference=tea.memory_id
    )
    subject.says(9, update)
    outcome = subject.says(5, operation("Likes tea", slot=Slot.PREFERENCE))
    assert kinds(outcome.events) == ["memory-confirmed"]
    assert subject.live(Slot.PREFERENCE) == ["Likes green tea"]


def test_one_refusal_costs_no_other_operation() -> None:
    subject = Subject()
    said = turn("I live in Pune", at=day(1))
    operations = [
        operation("", quote="never said"),
        operation("Lives in Pune", quote="I live in Pune"),
    ]
    outcome = subject.take(
        said, proposal(said, operations, [InvalidItem(position=1, problem="no slot")])
    )
    first, second, third = outcome.events
    assert first == ProposalRejected(
        operation=0,
        reasons=(
            RejectionReason.EVIDENCE_NOT_IN_USER_TEXT,
            RejectionReason.CONTENT_EMPTY,
        ),
        turn_id=said.turn_id,
    )
    assert isinstance(second, MemoryAdded)
    assert third == ProposalRejected(operation=2, reasons=(RejectionReason.INVALID_ITEM,))
    assert outcome.closing is Closing.STORED


def test_a_proposal_of_nothing_closes_as_nothing_found() -> None:
    said = turn("Hello")
    assert Subject().take(said, proposal(said, [])).closing is Closing.NOTHING_FOUND


def test_only_unreadable_items_close_as_rejected() -> None:
    said = turn("Hello")
    items = [InvalidItem(position=0, problem="no slot")]
    assert Subject().take(said, proposal(said, [], items)).closing is Closing.REJECTED


def test_what_must_be_looked_up_is_asked_for_once() -> None:
    reference = uuid4()
    said = turn("Lives in Pune, Likes tea", at=day(1))
    operations = [
        operation("Lives in Pune", about="The User"),
        operation("Likes tea", slot=Slot.PREFERENCE, reference=reference),
    ]
    considered = consider(occasion_of_turn(said), proposal(said, operations), keying=new_keying())
    asked = lookups_for(considered.items)
    assert asked.slots == {(Slot.RESIDENCE, "user")}
    assert asked.memory_ids == {reference}
    assert len(asked.statement_keys) == 2


@pytest.mark.parametrize("action", [Action.ADD, RETRACT])
def test_the_order_of_the_stores_answer_does_not_matter(action: Action) -> None:
    subject = Subject()
    for number, content in (
        (1, "Lives in Aachen"),
        (1, "Lives in Bern"),
        (1, "Lives in Aachen"),
        (5, "Lives in Cork"),
        (3, "Lives in Aachen"),
    ):
        subject.says(number, operation(content))
    said = turn("Lives in Aachen", at=day(4))
    proposed = proposal(said, [operation("Lives in Aachen", action=action)])
    expected = subject.decide(said, proposed)
    subject.state.memories = dict(reversed(subject.state.memories.items()))
    assert subject.decide(said, proposed) == expected


def test_a_backdated_start_does_not_reach_behind_the_end_of_what_held() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    subject.says(5, operation("Lives in Pune"))
    subject.says(6, operation("Lives in Pune", action=RETRACT))
    subject.says(9, operation("Lives in Goa", valid_from=day(3)))
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(5)),
        ("Lives in Goa", day(9), None),
    ]


def test_a_late_turn_within_what_was_withdrawn_ends_it() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Mumbai"))
    wrong = opened(subject.says(3, operation("Lives in Pune")).events[0])
    subject.says(9, operation("Lives in Goa"))
    subject.says(10, operation("Lives in Pune", action=RETRACT))
    (event,) = subject.says(5, operation("Lives in Delhi")).events
    assert isinstance(event, MemoryBackfilled)
    assert event.after == wrong.memory_id
    assert subject.history() == [
        ("Lives in Mumbai", day(1), day(3)),
        ("Lives in Delhi", day(5), day(9)),
        ("Lives in Goa", day(9), None),
    ]


def test_an_update_never_retires_a_fact_about_somebody_else() -> None:
    subject = Subject()
    tea = opened(
        subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE, about="sister")).events[0]
    )
    update = operation("Likes cocoa", action=UPDATE, slot=Slot.PREFERENCE, reference=tea.memory_id)
    assert kinds(subject.says(2, update).events) == ["memory-added"]
    assert subject.live(Slot.PREFERENCE, "sister") == ["Likes tea"]


def test_confirmations_outlive_the_splitting_of_what_they_confirmed() -> None:
    subject = Subject(all_confirmations=True)
    for number, content in (
        (1, "Lives in Aachen"),
        (3, "Lives in Aachen"),
        (5, "Lives in Aachen"),
        (2, "Lives in Bern"),
        (4, "Lives in Cork"),
    ):
        subject.says(number, operation(content))
    assert subject.history() == [
        ("Lives in Aachen", day(1), day(2)),
        ("Lives in Bern", day(2), day(3)),
        ("Lives in Aachen", day(3), day(4)),
        ("Lives in Cork", day(4), day(5)),
        ("Lives in Aachen", day(5), None),
    ]


def test_the_users_own_words_are_read_once_for_all_operations(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    said = turn("a fact " * 1000, at=day(3))
    read: list[str] = []

    def counting(text: str) -> str:
        read.append(text)
        return own_words(text)

    monkeypatch.setattr(gate.said, "own_words", counting)
    operations = [operation(f"fact {number}", quote="a fact") for number in range(50)]
    operations.append(operation("what nobody said", quote="never"))

    outcome = Subject().take(said, proposal(said, operations))

    assert len(outcome.events) == 51
    assert read.count(said.user_text) == 1
