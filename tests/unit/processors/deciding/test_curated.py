"""What becomes of facts of the operator's systems, and of flags that a person decides."""

from __future__ import annotations

from typing import Any

import pytest

from schemas.commands import SystemFact
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoryConfirmed,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import MemoryKind, Provenance, Source
from schemas.proposals import Action, Speaker
from schemas.records import Closing, Outcome
from schemas.slots import Slot
from tests.support.deciding import Subject, day, operation, proposal, turn
from tests.unit.processors.deciding.occasions import curation, kinds, opened, ruling

LATE = Provenance(system="orders", type="order_late", reference="A-17")
OWED = "Gets 50% off for ever"


def fact(content: str, **changed: Any) -> SystemFact:
    fields: dict[str, Any] = {
        "kind": MemoryKind.EPISODIC,
        "slot": Slot.EVENT,
        "about": "The user",
        "content": content,
        "importance": 3,
        "provenance": LATE,
    }
    return SystemFact(**(fields | changed))


def tells(subject: Subject, told: SystemFact, at: float = 5) -> Outcome:
    return subject.closes(curation(told, source=Source.SYSTEM, at=day(at)))


def flagged(subject: Subject, content: str = OWED, **changed: Any) -> ProposalFlagged:
    said = turn(f"Remember: {content}", at=day(2), utc_offset_minutes=60)
    stated = operation(content, slot=Slot.NOTE, **changed)
    (event,) = subject.take(said, proposal(said, [stated])).events
    assert isinstance(event, ProposalFlagged), event
    return event


def test_a_systems_fact_is_stored_without_anybodys_words() -> None:
    subject = Subject()
    outcome = tells(subject, fact("Order A-17 arrived late", valid_from=day(3)))
    memory = opened(outcome.events[0])
    assert (memory.source, memory.provenance) == (Source.SYSTEM, LATE)
    assert (memory.quote, memory.conversation_id) == ("", "")
    assert (memory.turn_id, memory.about) == (outcome.turn_id, "user")
    assert memory.valid_from == day(3)
    assert (outcome.closing, outcome.closes) == (Closing.STORED, "curation")
    assert (outcome.extractor, outcome.proposal_offset) == (None, None)


def test_a_systems_fact_is_judged_by_every_other_rule() -> None:
    outcome = tells(Subject(), fact("Paid with card 4111 1111 1111 1111"))
    (event,) = outcome.events
    assert isinstance(event, ProposalRejected)
    assert RejectionReason.PAYMENT_CARD in event.reasons
    assert outcome.closing is Closing.REJECTED


@pytest.mark.parametrize(
    ("provenance", "reason"),
    [
        ({"reference": "DE89 3704 0044 0532 0130 00"}, RejectionReason.BANK_ACCOUNT),
        ({"reference": "4111 1111 1111 1111"}, RejectionReason.PAYMENT_CARD),
        ({"system": "my password is hunter22"}, RejectionReason.PASSWORD),
        ({"type": "AKIAIOSFODNN7EXAMPLE"}, RejectionReason.SECRET),
    ],
)
def test_where_a_systems_fact_comes_from_is_searched_for_secrets_like_the_fact_itself(
    provenance: dict[str, str], reason: RejectionReason
) -> None:
    origin = Provenance(**{"system": "orders", "type": "order_late", **provenance})
    subject = Subject()
    outcome = tells(subject, fact("Order A-17 arrived late", provenance=origin))
    (event,) = outcome.events
    assert isinstance(event, ProposalRejected)
    assert event.reasons == (reason,)
    assert not any(text in event.model_dump_json() for text in provenance.values())
    assert subject.state.memories == {}


def test_a_systems_fact_takes_its_place_beside_what_the_user_said() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Pune"))
    home = {"kind": MemoryKind.SEMANTIC, "slot": Slot.RESIDENCE}
    assert kinds(tells(subject, fact("Lives in Pune", **home), 4).events) == ["memory-confirmed"]
    assert kinds(tells(subject, fact("Lives in Goa", **home), 6).events) == ["memory-superseded"]
    assert subject.live() == ["Lives in Goa"]


def test_what_only_a_person_may_promise_is_flagged_with_all_that_is_needed_to_decide() -> None:
    subject = Subject()
    flag = flagged(subject)
    assert flag.reasons == (RejectionReason.OPERATOR_OBLIGATION,)
    assert (flag.proposed.content, flag.conversation_id) == (OWED, "conversation")
    assert (flag.said_at, flag.utc_offset_minutes) == (day(2), 60)
    assert subject.outcomes[0].closing is Closing.FLAGGED
    assert subject.state.memories == {}


def test_a_claim_that_a_model_takes_for_trivia_reaches_a_person_all_the_same() -> None:
    flag = flagged(Subject(), importance=1)
    assert flag.reasons == (RejectionReason.OPERATOR_OBLIGATION,)


def test_trivia_alone_is_refused() -> None:
    said = turn("It rains a lot", at=day(1))
    trivia = operation("It rains a lot", slot=Slot.NOTE, importance=1)
    (event,) = Subject().take(said, proposal(said, [trivia])).events
    assert isinstance(event, ProposalRejected)
    assert event.reasons == (RejectionReason.NOT_WORTH_KEEPING,)


def test_any_other_reason_refuses_what_would_be_flagged() -> None:
    said = turn("Hello", at=day(1))
    (event,) = Subject().take(said, proposal(said, [operation(OWED, slot=Slot.NOTE)])).events
    assert isinstance(event, ProposalRejected)
    assert set(event.reasons) >= {
        RejectionReason.OPERATOR_OBLIGATION,
        RejectionReason.EVIDENCE_NOT_IN_USER_TEXT,
    }


def test_what_is_stored_beside_a_flag_closes_the_turn_as_stored() -> None:
    said = turn(f"I live in Goa. {OWED}", at=day(1))
    operations = [
        operation("Lives in Goa", quote="live in Goa"),
        operation(OWED, slot=Slot.NOTE),
        operation("Likes tea"),
    ]
    outcome = Subject().take(said, proposal(said, operations))
    assert kinds(outcome.events) == ["memory-added", "proposal-flagged", "proposal-rejected"]
    assert outcome.closing is Closing.STORED


def test_an_approved_flag_is_carried_out_as_of_the_time_of_the_words() -> None:
    subject = Subject()
    flag = flagged(subject)
    outcome = subject.closes(ruling(flag, approved=True))
    approved, added = outcome.events
    assert isinstance(approved, FlagApproved)
    assert (approved.flag_id, approved.actor, approved.reason) == (flag.flag_id, "ann", "agreed")
    memory = opened(added)
    assert (memory.content, memory.source) == (OWED, Source.CURATION)
    assert (memory.turn_id, memory.quote) == (flag.turn_id, OWED)
    assert memory.valid_from == day(2)
    assert outcome.closing is Closing.STORED


def test_an_approval_confirms_what_is_held_by_now() -> None:
    subject = Subject()
    flag = flagged(subject)
    subject.closes(ruling(flag, approved=True, at=20))
    again = flagged(subject, OWED.upper())
    outcome = subject.closes(ruling(again, approved=True))
    assert isinstance(outcome.events[1], MemoryConfirmed)
    assert len(subject.state.memories) == 1


def test_an_approval_that_nothing_can_be_done_for_says_so() -> None:
    subject = Subject()
    note = opened(subject.says(1, operation("Gets 10% off", slot=Slot.EVENT)).events[0])
    flag = flagged(subject, action=Action.UPDATE, reference=note.memory_id)
    gone = operation(
        "Gets 10% off", slot=Slot.EVENT, action=Action.RETRACT, reference=note.memory_id
    )
    subject.says(3, gone)
    outcome = subject.closes(ruling(flag, approved=True))
    assert kinds(outcome.events) == ["flag-approved", "proposal-rejected"]
    assert outcome.events[1] == ProposalRejected(
        operation=0, reasons=(RejectionReason.UNKNOWN_REFERENCE,), turn_id=flag.turn_id
    )
    assert outcome.closing is Closing.REJECTED


def test_an_approval_of_nothing_stores_nothing() -> None:
    flag = flagged(Subject())
    empty = flag.model_copy(update={"proposed": flag.proposed.model_copy(update={"content": " "})})
    outcome = Subject().closes(ruling(empty, approved=True))
    assert kinds(outcome.events) == ["flag-approved", "proposal-rejected"]


def test_a_refused_flag_is_refused_and_nothing_else() -> None:
    subject = Subject()
    flag = flagged(subject)
    outcome = subject.closes(ruling(flag, approved=False))
    (event,) = outcome.events
    assert isinstance(event, FlagRefused)
    assert (event.flag_id, event.decided_at) == (flag.flag_id, day(30))
    assert outcome.closing is Closing.REJECTED
    assert subject.state.memories == {}


@pytest.mark.parametrize("about", ["user", "assistant", "Assistant "])
def test_the_assistants_words_are_kept_as_an_episode_of_its_own(about: str) -> None:
    said = turn("Which shoes?", assistant_text="I recommend the blue shoes.", at=day(1))
    told = operation(
        "The assistant recommended the blue shoes",
        quote="I recommend the blue shoes",
        about=about,
        slot=Slot.EPISODE,
        kind=MemoryKind.EPISODIC,
        said_by=Speaker.ASSISTANT,
    )
    memory = opened(Subject().take(said, proposal(said, [told])).events[0])
    assert (memory.source, memory.about) == (Source.ASSISTANT, "assistant")


@pytest.mark.parametrize(
    "changed",
    [
        {"slot": Slot.PREFERENCE},
        {"kind": MemoryKind.SEMANTIC},
        {"action": Action.UPDATE},
        {"action": Action.RETRACT},
    ],
)
def test_the_assistants_words_are_never_anything_else(changed: dict[str, Any]) -> None:
    said = turn("Which shoes?", assistant_text="You like blue shoes.", at=day(1))
    fields = {"slot": Slot.EPISODE, "kind": MemoryKind.EPISODIC, "said_by": Speaker.ASSISTANT}
    told = operation("Likes blue shoes", quote="You like blue shoes", **(fields | changed))
    outcome = Subject().take(said, proposal(said, [told]))
    (event,) = outcome.events
    assert isinstance(event, ProposalRejected)
    assert RejectionReason.ASSISTANT_WORDS in event.reasons
