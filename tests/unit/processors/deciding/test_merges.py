"""One memory that stands for several, and two that cannot both hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

import pytest

from schemas.events import (
    FlagApproved,
    MemoriesMerged,
    MemoryAdded,
    MemoryConfirmed,
    MemoryEnded,
    MemoryRetracted,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.proposals import Action, Operation
from schemas.records import Closing, Outcome
from schemas.slots import Slot
from tests.support.deciding import Subject, day, operation
from tests.unit.processors.deciding.occasions import consolidation, opened, proposed, ruling

EPISODE: dict[str, Any] = {"slot": Slot.EPISODE, "kind": MemoryKind.EPISODIC}


def tells(subject: Subject, at: float, content: str, **changed: Any) -> UUID:
    """Say something that is kept, and return the memory."""
    event = subject.says(at, operation(content, **(EPISODE | changed))).events[0]
    return opened(event).memory_id


def merging(content: str, merges: Sequence[UUID], **changed: Any) -> Operation:
    fields = EPISODE | {"quote": "", "action": Action.MERGE, "merges": tuple(merges)}
    return operation(content, **(fields | changed))


def consolidate(subject: Subject, *operations: Operation, at: float = 20) -> Outcome:
    occasion = consolidation(at)
    return subject.closes(occasion, proposed(occasion.record_id, operations))


def reasons(outcome: Outcome) -> tuple[RejectionReason, ...]:
    (event,) = outcome.events
    assert isinstance(event, ProposalRejected), event
    return event.reasons


def served(subject: Subject) -> list[str]:
    return [
        row.memory.content
        for row in subject.state.memories.values()
        if row.retracted_at is None and row.memory.valid_to is None and row.merged_into is None
    ]


def memory(subject: Subject, memory_id: UUID) -> Memory:
    return subject.state.memories[memory_id].memory


def test_a_merge_stands_for_its_sources_and_traces_to_them() -> None:
    subject = Subject()
    first = tells(subject, 1, "Ran 5 km on Monday", importance=4)
    second = tells(subject, 3, "Ran 8 km on Thursday")
    outcome = consolidate(subject, merging("Ran 5 km and then 8 km", [second, first]))
    (event,) = outcome.events
    assert isinstance(event, MemoriesMerged)
    merged, newest = event.memory, memory(subject, second)
    assert merged.merged_from == (first, second)
    assert event.replaces == ()
    assert (merged.turn_id, merged.quote) == (newest.turn_id, newest.quote)
    assert merged.conversation_id == newest.conversation_id
    assert (merged.valid_from, merged.importance) == (day(1), 4)
    assert merged.expires_at is None
    assert served(subject) == ["Ran 5 km and then 8 km"]
    assert (outcome.closing, outcome.closes) == (Closing.STORED, "consolidation")


def test_a_merged_version_alone_is_not_merged_again() -> None:
    subject = Subject()
    ran = [tells(subject, at, f"Ran on day {at}") for at in (1, 2, 3)]
    first = opened(consolidate(subject, merging("Ran twice", ran[:2])).events[0])
    assert reasons(consolidate(subject, merging("Ran a lot", [first.memory_id]))) == (
        RejectionReason.UNFOUNDED_MERGE,
    )


def test_a_merged_version_gives_way_to_its_sources() -> None:
    subject = Subject()
    ran = [tells(subject, at, f"Ran on day {at}") for at in (1, 2, 3)]
    first = opened(consolidate(subject, merging("Ran a bit", ran[:2])).events[0])
    (event,) = consolidate(subject, merging("Ran a lot", [first.memory_id, ran[2]])).events
    assert isinstance(event, MemoriesMerged)
    assert event.memory.merged_from == tuple(ran)
    assert event.replaces == (first.memory_id,)
    assert served(subject) == ["Ran a lot"]


def test_sources_behind_a_merged_version_may_be_named_if_all_of_them_are() -> None:
    subject = Subject()
    ran = [tells(subject, at, f"Ran on day {at}") for at in (1, 2, 3)]
    first = opened(consolidate(subject, merging("Ran a bit", ran[:2])).events[0])
    assert reasons(consolidate(subject, merging("Ran more", ran[1:]))) == (
        RejectionReason.UNFOUNDED_MERGE,
    )
    (event,) = consolidate(subject, merging("Ran a lot", ran)).events
    assert isinstance(event, MemoriesMerged)
    assert (event.memory.merged_from, event.replaces) == (tuple(ran), (first.memory_id,))


@pytest.mark.parametrize(
    ("content", "founded"),
    [
        ("Ran 5 km and 8 km", True),
        ("Ran five km and 8 km", True),
        ("Ran 13 km in all", False),
        ("Ran 58 km", False),
        ("Ran twice", False),
        ("Ran on Monday at 07:30", True),
        ("Ran on Monday at 7", False),
    ],
)
def test_every_number_of_a_merge_stands_in_a_source(content: str, *, founded: bool) -> None:
    subject = Subject()
    sources = [
        tells(subject, 1, "Ran 5 km", quote="5 km, at 07:30"),
        tells(subject, 3, "Ran 8 km"),
    ]
    outcome = consolidate(subject, merging(content, sources))
    assert isinstance(outcome.events[0], MemoriesMerged) is founded
    if not founded:
        assert reasons(outcome) == (RejectionReason.UNFOUNDED_MERGE,)


@pytest.mark.parametrize(
    ("source", "merged"),
    [
        ({"about": "sister"}, {}),
        ({}, {"about": "sister"}),
        ({"slot": Slot.RESIDENCE, "kind": MemoryKind.SEMANTIC}, {}),
        ({}, {"slot": Slot.RESIDENCE, "kind": MemoryKind.SEMANTIC}),
        ({"slot": Slot.ALLERGY, "kind": MemoryKind.SEMANTIC}, {}),
        ({"slot": Slot.PREFERENCE, "kind": MemoryKind.SEMANTIC}, {}),
        ({}, {"kind": MemoryKind.PROCEDURAL, "slot": Slot.RULE}),
    ],
)
def test_what_does_not_belong_together_is_not_merged(
    source: dict[str, Any], merged: dict[str, Any]
) -> None:
    subject = Subject()
    sources = [tells(subject, 1, "Ran today"), tells(subject, 2, "Saw a doctor", **source)]
    assert RejectionReason.UNFOUNDED_MERGE in reasons(
        consolidate(subject, merging("Ran and saw a doctor", sources, **merged))
    )
    assert len(served(subject)) == 2


def test_only_what_is_live_is_merged_and_once() -> None:
    subject = Subject()
    ran = [tells(subject, at, f"Ran, as always, {at}") for at in (1, 2, 3)]
    unknown = (RejectionReason.UNKNOWN_REFERENCE,)
    assert reasons(consolidate(subject, merging("Ran", [ran[0], uuid4()]))) == unknown
    gone = operation("x", action=Action.RETRACT, reference=ran[2], **EPISODE)
    subject.says(4, gone)
    assert reasons(consolidate(subject, merging("Ran", [ran[0], ran[2]]))) == unknown
    assert reasons(consolidate(subject, merging("Ran", [ran[0], ran[0]]))) == (
        RejectionReason.UNFOUNDED_MERGE,
    )
    assert reasons(consolidate(subject, merging("Ran", []))) == (RejectionReason.UNFOUNDED_MERGE,)


def test_two_merges_do_not_share_a_source() -> None:
    subject = Subject()
    ran = [tells(subject, at, f"Ran on day {at}") for at in (1, 2, 3)]
    outcome = consolidate(subject, merging("Ran first", ran[:2]), merging("Ran then", ran[1:]))
    assert isinstance(outcome.events[0], MemoriesMerged)
    assert outcome.events[1] == ProposalRejected(
        operation=1, reasons=(RejectionReason.UNFOUNDED_MERGE,), turn_id=outcome.turn_id
    )


def test_a_fact_out_of_episodes_is_concluded_and_lasts_as_long_as_they_would_have() -> None:
    subject = Subject()
    sources = [tells(subject, at, f"Ordered pizza on day {at}") for at in (1, 2)]
    stated = merging("Often orders pizza", sources, slot=Slot.ROUTINE, kind=MemoryKind.SEMANTIC)
    merged = opened(consolidate(subject, stated).events[0])
    assert (merged.confidence, merged.expires_at) == (Confidence.INFERRED, None)


def test_a_consolidation_states_nothing_of_its_own_and_nothing_else_consolidates() -> None:
    subject = Subject()
    sources = [tells(subject, at, f"Ran on day {at}") for at in (1, 2)]
    invalid = (RejectionReason.INVALID_ITEM,)
    for action in (Action.ADD, Action.UPDATE, Action.RETRACT):
        assert reasons(consolidate(subject, operation("Ran", action=action))) == invalid
    assert reasons(subject.says(3, merging("Ran", sources, quote="Ran"))) == invalid
    assert len(served(subject)) == 2


def test_a_merge_passes_the_gate() -> None:
    subject = Subject()
    sources = [tells(subject, at, f"Ran on day {at}") for at in (1, 2)]
    assert RejectionReason.CONTENT_EMPTY in reasons(consolidate(subject, merging("", sources)))


def test_what_was_merged_and_is_said_again_confirms_what_stands_for_it() -> None:
    subject = Subject()
    liked: dict[str, Any] = {"slot": Slot.PREFERENCE, "kind": MemoryKind.SEMANTIC}
    sources = [
        tells(subject, 1, "Likes tea", **liked),
        tells(subject, 2, "Likes green tea", **liked),
    ]
    merged = opened(
        consolidate(subject, merging("Likes tea, above all green", sources, **liked)).events[0]
    )
    (event,) = subject.says(25, operation("Likes tea", **liked)).events
    assert isinstance(event, MemoryConfirmed)
    assert event.memory_id == merged.memory_id


def test_what_was_merged_and_turns_out_wrong_takes_the_merged_one_along_and_loses_no_other() -> (
    None
):
    subject = Subject()
    first, second, third = (tells(subject, at, f"Ran on day {at}") for at in (1, 2, 3))
    merged = opened(consolidate(subject, merging("Ran a lot", [first, second, third])).events[0])
    wrong = operation("Ran on day 2", action=Action.RETRACT, reference=second, **EPISODE)
    outcome = subject.says(30, wrong)
    withdrawn = [event.memory_id for event in outcome.events if isinstance(event, MemoryRetracted)]
    assert withdrawn == [second, merged.memory_id]
    added = [event.memory for event in outcome.events if isinstance(event, MemoryAdded)]
    assert [(one.content, one.turn_id) for one in added] == [
        (memory(subject, one).content, memory(subject, one).turn_id) for one in (first, third)
    ]
    assert served(subject) == ["Ran on day 1", "Ran on day 3"]


def contradiction(reference: UUID, against: UUID | None) -> Operation:
    content = "Commutes to Hinjewadi, lives in Bangalore"
    action = Action.CONTRADICT
    return operation(content, quote="", action=action, reference=reference, against=against)


def commuter(subject: Subject) -> tuple[UUID, UUID]:
    routine: dict[str, Any] = {"slot": Slot.ROUTINE, "kind": MemoryKind.SEMANTIC}
    commutes = tells(subject, 1, "Commutes to Hinjewadi", **routine)
    lives = tells(subject, 9, "Lives in Bangalore", slot=Slot.RESIDENCE, kind=MemoryKind.SEMANTIC)
    return commutes, lives


@pytest.mark.parametrize("swapped", [False, True])
def test_a_contradiction_is_left_to_a_person_with_the_older_one_named_as_such(
    *, swapped: bool
) -> None:
    subject = Subject()
    commutes, lives = commuter(subject)
    named = (lives, commutes) if swapped else (commutes, lives)
    outcome = consolidate(subject, contradiction(*named))
    (event,) = outcome.events
    assert isinstance(event, ProposalFlagged)
    assert event.reasons == (RejectionReason.CONTRADICTION,)
    assert (event.proposed.reference, event.proposed.against) == (commutes, lives)
    assert outcome.closing is Closing.FLAGGED
    assert len(served(subject)) == 2


def test_a_contradiction_that_is_found_again_is_the_same_flag_until_the_older_is_said_again() -> (
    None
):
    subject = Subject()
    commutes, lives = commuter(subject)

    def found() -> UUID:
        (event,) = consolidate(subject, contradiction(commutes, lives)).events
        assert isinstance(event, ProposalFlagged)
        return event.flag_id

    first = found()
    subject.says(10, operation("Lives in Bangalore"))
    assert found() == first
    subject.says(9.5, operation("Commutes to Hinjewadi", slot=Slot.ROUTINE))
    assert found() != first


def test_an_approved_contradiction_ends_the_older_one_when_the_newer_began() -> None:
    subject = Subject()
    commutes, lives = commuter(subject)
    (flag,) = consolidate(subject, contradiction(commutes, lives)).events
    assert isinstance(flag, ProposalFlagged)
    approved, ended = subject.closes(ruling(flag, approved=True)).events
    assert isinstance(approved, FlagApproved)
    assert isinstance(ended, MemoryEnded)
    assert (ended.memory_id, ended.because_of, ended.valid_to) == (commutes, lives, day(9))
    assert served(subject) == ["Lives in Bangalore"]
    # It was true until then, which what was wrong never was.
    assert subject.state.memories[commutes].retracted_at is None


def test_what_was_confirmed_since_ends_no_earlier() -> None:
    subject = Subject()
    commutes, lives = commuter(subject)
    subject.says(5, operation("Commutes to Hinjewadi", slot=Slot.ROUTINE))
    subject.says(8, operation("Commutes to Hinjewadi", slot=Slot.ROUTINE))
    (flag,) = consolidate(subject, contradiction(commutes, lives)).events
    assert isinstance(flag, ProposalFlagged)
    ended = subject.closes(ruling(flag, approved=True)).events[1]
    assert isinstance(ended, MemoryEnded)
    assert ended.valid_to == day(9)


def test_what_was_said_again_after_the_contradiction_was_found_stays() -> None:
    subject = Subject()
    commutes, lives = commuter(subject)
    (flag,) = consolidate(subject, contradiction(commutes, lives)).events
    assert isinstance(flag, ProposalFlagged)
    subject.says(25, operation("Commutes to Hinjewadi", slot=Slot.ROUTINE))
    rejected = subject.closes(ruling(flag, approved=True)).events[1]
    assert rejected == ProposalRejected(
        operation=0, reasons=(RejectionReason.CONTRADICTION,), turn_id=flag.turn_id
    )
    assert len(served(subject)) == 2


def test_what_is_no_contradiction_is_refused() -> None:
    subject = Subject()
    commutes, _ = commuter(subject)
    sister = tells(
        subject, 2, "Lives in Pune", about="sister", slot=Slot.RESIDENCE, kind=MemoryKind.SEMANTIC
    )
    invalid, unknown = (RejectionReason.INVALID_ITEM,), (RejectionReason.UNKNOWN_REFERENCE,)
    assert reasons(consolidate(subject, contradiction(commutes, commutes))) == invalid
    assert reasons(consolidate(subject, contradiction(commutes, sister))) == invalid
    assert reasons(consolidate(subject, contradiction(commutes, uuid4()))) == unknown
    assert reasons(consolidate(subject, contradiction(commutes, None))) == invalid
