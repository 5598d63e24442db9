"""What holds of every decision, whatever is proposed."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.deciding.one_value import holds_slot
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
)
from schemas.memory import Confidence, Embedding, MemoryKind, folded
from schemas.proposals import Action, Operation
from schemas.records import Closing
from schemas.slots import Slot
from tests.support.deciding import Subject, day, operation, proposal, turn
from tests.unit.processors.deciding.occasions import proposed, session

FEW = settings(max_examples=40)

CONTENTS = ["Likes tea", "Enjoys tea", "Hates tea", "Lives in Goa", "Resides in Goa", "Has a dog"]


def _vector(number: int) -> Embedding:
    angle = number / 50
    halves = np.array([np.cos(angle), np.sin(angle)], dtype="<f2").tobytes()
    return Embedding(model="model", dimension=2, halves=halves)


VECTORS = {content: _vector(number) for number, content in enumerate(CONTENTS)}

operations = st.builds(
    operation,
    st.sampled_from(CONTENTS),
    action=st.sampled_from([Action.ADD, Action.ADD, Action.UPDATE, Action.RETRACT]),
    slot=st.sampled_from([Slot.RESIDENCE, Slot.PREFERENCE, Slot.DIET, Slot.TASK]),
    about=st.sampled_from(["user", "sister", "The User"]),
    kind=st.sampled_from([MemoryKind.SEMANTIC, MemoryKind.SEMANTIC, MemoryKind.EPISODIC]),
    confidence=st.sampled_from(list(Confidence)),
)
said = st.tuples(st.integers(0, 20), st.lists(operations, min_size=1, max_size=3))
talks = st.lists(said, min_size=1, max_size=5)
Talk = list[tuple[int, list[Operation]]]


def subject() -> Subject:
    return Subject(similarity_min=0.7, vectors=dict(VECTORS))


def opened(events: tuple[MemoryEvent, ...]) -> list[Any]:
    return [
        event.memory
        for event in events
        if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled)
    ]


@FEW
@given(talks)
def test_deciding_again_gives_the_same_and_folding_again_changes_nothing(talk: Talk) -> None:
    one = subject()
    for at, stated in talk:
        of = turn(" ".join(it.quote for it in stated), at=day(at))
        first = one.decide(of, proposal(of, stated))
        assert one.decide(of, proposal(of, stated)) == first
        one.take(of, proposal(of, stated))
        before = dict(one.state.memories)
        one.fold(first)
        assert one.state.memories == before


@FEW
@given(talks)
def test_every_operation_leaves_a_trace_or_repeats_what_its_proposal_did(talk: Talk) -> None:
    one = subject()
    for at, stated in talk:
        outcome = one.says(at, *stated)
        refused = {
            event.operation
            for event in outcome.events
            if isinstance(event, ProposalRejected | ProposalFlagged)
        }
        held = {
            (row.memory.about, folded(row.memory.content)) for row in one.state.memories.values()
        }
        alike = {folded("Enjoys tea"): folded("Likes tea")}
        alike |= {folded("Resides in Goa"): folded("Lives in Goa")}
        alike |= {other: wording for wording, other in alike.items()}
        for number, it in enumerate(stated):
            if it.action is Action.RETRACT or number in refused:
                continue
            about, content = it.about.lower().removeprefix("the "), folded(it.content)
            assert (about, content) in held or (about, alike.get(content)) in held
        assert (outcome.closing is Closing.NOTHING_FOUND) is (not outcome.events)


@FEW
@given(talks)
def test_what_confirms_adds_nothing_and_what_is_added_was_not_there(talk: Talk) -> None:
    one = subject()
    for at, stated in talk:
        before = set(one.state.memories)
        outcome = one.says(at, *stated)
        new = {memory.memory_id for memory in opened(outcome.events)}
        assert new.isdisjoint(before)
        assert set(one.state.memories) == before | new
        if all(isinstance(event, MemoryConfirmed) for event in outcome.events):
            assert set(one.state.memories) == before


@FEW
@given(talks)
def test_nothing_about_one_person_touches_another(talk: Talk) -> None:
    def of_user(one: Subject) -> Counter[tuple[str, Any, Any, Any]]:
        return Counter(
            (row.memory.content, row.memory.valid_from, row.memory.valid_to, row.confirmations)
            for row in one.state.memories.values()
            if row.memory.about == "user"
        )

    together, alone = subject(), subject()
    for at, stated in talk:
        together.says(at, *stated)
        own = [it for it in stated if it.about != "sister"]
        if own:
            alone.says(at, *own)
    assert of_user(together) == of_user(alone)


@FEW
@given(talks)
def test_an_event_touches_only_lineages_of_its_own_slot_and_about_or_of_the_same_words(
    talk: Talk,
) -> None:
    one = subject()
    for at, stated in talk:
        rows = dict(one.state.memories)
        outcome = one.says(at, *stated)
        attributes = {(it.slot, it.about.lower().removeprefix("the ")) for it in stated}
        for event in outcome.events:
            closed = event.closes if isinstance(event, MemorySuperseded) else None
            if isinstance(event, MemoryRetracted):
                closed = event.memory_id
            if closed in rows:
                touched = rows[closed].memory
                assert (touched.slot, touched.about) in attributes


@FEW
@given(talks)
def test_of_a_slot_of_one_value_one_is_live_at_a_time_whoever_it_is_about(talk: Talk) -> None:
    one = subject()
    for at, stated in talk:
        # What one turn states together stands side by side.
        one.says(at, stated[0])
    live = Counter(
        (row.memory.slot, row.memory.about)
        for row in one.state.memories.values()
        if row.memory.valid_to is None and row.retracted_at is None and holds_slot(row.memory)
    )
    assert all(count == 1 for count in live.values())


@FEW
@given(talks)
def test_no_statement_of_a_slot_of_many_values_is_lost_to_another(talk: Talk) -> None:
    one = subject()
    kept = [
        (at, [replace_action(it) for it in stated if it.slot is Slot.PREFERENCE])
        for at, stated in talk
    ]
    for at, stated in kept:
        if stated:
            one.says(at, *stated)
    live = {folded(row.memory.content) for row in one.state.memories.values()}
    assert all(row.memory.valid_to is None for row in one.state.memories.values())
    for _, stated in kept:
        for it in stated:
            same = {folded(it.content)}
            if it.content in {"Likes tea", "Enjoys tea"}:
                same = {folded("Likes tea"), folded("Enjoys tea")}
            if it.content in {"Lives in Goa", "Resides in Goa"}:
                same = {folded("Lives in Goa"), folded("Resides in Goa")}
            assert live & same


def replace_action(it: Operation) -> Operation:
    return it.model_copy(update={"action": Action.ADD})


@FEW
@given(talks)
def test_a_session_loses_nothing_that_its_turns_would_have_kept(talk: Talk) -> None:
    # An episode is bound to its time, so that by words alone it is found in its own session only.
    facts = [
        (at, [it for it in stated if it.kind is not MemoryKind.EPISODIC]) for at, stated in talk
    ]
    ordered = sorted(facts, key=lambda one: one[0])
    turns = [
        turn(" ".join(it.quote for it in stated), at=day(at) + timedelta(minutes=number))
        for number, (at, stated) in enumerate(ordered)
    ]
    alone, together = Subject(), Subject()
    for of, (_, stated) in zip(turns, ordered, strict=True):
        alone.take(of, proposal(of, stated))
    occasion = session(turns)
    of_turns = [
        it.model_copy(update={"turn_id": of.turn_id})
        for of, (_, stated) in zip(turns, ordered, strict=True)
        for it in stated
    ]
    outcome = together.closes(occasion, proposed(occasion.record_id, of_turns))
    assert {one.turn_id for one in outcome.settled} == {of.turn_id for of in turns}
    for slot in (Slot.RESIDENCE, Slot.PREFERENCE, Slot.DIET, Slot.TASK):
        for about in ("user", "sister"):
            # What one turn states of a slot of one value stays side by side, so a session may hold
            # more than its turns one by one, whose order within a minute tells.
            assert set(alone.live(slot, about)) <= set(together.live(slot, about))
