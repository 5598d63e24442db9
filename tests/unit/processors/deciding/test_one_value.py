"""What may take the place of what, in a slot of one value."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from processors.deciding.one_value import guessed, holds_slot
from schemas.events import ProposalRejected, RejectionReason
from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action, Operation
from schemas.records import Closing, Outcome
from schemas.slots import Slot
from tests.support.deciding import Subject, day, operation
from tests.unit.processors.deciding.occasions import kinds, opened

INFERRED = Confidence.INFERRED
HOME, GOA = "Lives in Pune", "Is in Goa this week"


def job(content: str, **changed: Any) -> Operation:
    return operation(content, slot=Slot.OCCUPATION, **changed)


def rejected(outcome: Outcome) -> tuple[RejectionReason, ...]:
    (event,) = outcome.events
    assert isinstance(event, ProposalRejected)
    return event.reasons


@pytest.mark.parametrize("by_reference", [True, False])
@pytest.mark.parametrize("kind", [MemoryKind.EPISODIC, MemoryKind.PROCEDURAL])
def test_an_episode_or_a_rule_never_ends_a_fact(kind: MemoryKind, *, by_reference: bool) -> None:
    subject = Subject()
    home = opened(subject.says(1, operation(HOME)).events[0])
    visited = operation(
        "Visited Goa last week",
        kind=kind,
        action=Action.UPDATE if by_reference else Action.ADD,
        reference=home.memory_id if by_reference else None,
    )
    assert kinds(subject.says(5, visited).events) == ["memory-added"]
    assert subject.live() == [HOME, "Visited Goa last week"]


def test_episodes_of_a_slot_of_one_value_stay_side_by_side() -> None:
    subject = Subject()
    for at in (1, 2):
        subject.says(at, operation(f"Moved for the {at}. time", kind=MemoryKind.EPISODIC))
    subject.says(3, operation(HOME))
    assert len(subject.live()) == 3


@pytest.mark.parametrize("by_reference", [True, False])
def test_what_ceases_by_itself_lies_over_what_lasts(*, by_reference: bool) -> None:
    subject = Subject()
    home = opened(subject.says(1, operation(HOME)).events[0])
    away = operation(
        GOA,
        expires_at=day(9),
        action=Action.UPDATE if by_reference else Action.ADD,
        reference=home.memory_id if by_reference else None,
    )
    assert kinds(subject.says(3, away).events) == ["memory-added"]
    assert subject.live() == [HOME, GOA]
    # Said again without its end it is still the same, and takes no place.
    assert kinds(subject.says(4, operation(GOA)).events) == ["memory-confirmed"]
    assert kinds(subject.says(5, operation(HOME)).events) == ["memory-confirmed"]
    # Once it is over, the same words may well be where somebody lives now.
    assert kinds(subject.says(20, operation(GOA)).events) == ["memory-superseded"]


def test_an_update_that_names_what_lies_over_the_value_ends_both() -> None:
    subject = Subject()
    subject.says(1, operation(HOME))
    away = opened(subject.says(3, operation(GOA, expires_at=day(30))).events[0])
    moved = operation("Lives in Goa", action=Action.UPDATE, reference=away.memory_id)
    assert kinds(subject.says(8, moved).events) == ["memory-superseded", "memory-ended"]
    assert subject.live() == ["Lives in Goa"]


def test_a_conclusion_never_takes_the_place_of_what_was_stated() -> None:
    subject = Subject()
    subject.says(1, operation(HOME))
    outcome = subject.says(5, operation("Lives in Oslo", confidence=INFERRED))
    assert rejected(outcome) == (RejectionReason.CONTRADICTION,)
    assert outcome.closing is Closing.REJECTED
    assert subject.live() == [HOME]


def test_a_statement_takes_the_place_of_a_conclusion_and_conclusions_of_each_other() -> None:
    subject = Subject()
    subject.says(1, operation("Lives in Oslo", confidence=INFERRED))
    subject.says(2, operation("Lives in Bergen", confidence=INFERRED))
    assert subject.live() == ["Lives in Bergen"]
    subject.says(3, operation(HOME))
    assert subject.live() == [HOME]


def test_what_was_concluded_and_then_stated_counts_as_stated() -> None:
    subject = Subject()
    subject.says(1, operation(HOME, confidence=INFERRED))
    subject.says(2, operation(HOME))
    outcome = subject.says(3, operation("Lives in Oslo", confidence=INFERRED))
    assert rejected(outcome) == (RejectionReason.CONTRADICTION,)


def test_a_conclusion_gives_way_to_what_had_been_stated_before_it_and_arrives_late() -> None:
    subject = Subject()
    subject.says(5, operation("Lives in Oslo", confidence=INFERRED))
    assert kinds(subject.says(3, operation(HOME)).events) == ["memory-added", "memory-ended"]
    assert subject.history() == [(HOME, day(3), None)]


def test_two_values_of_one_turn_stand_side_by_side() -> None:
    subject = Subject()
    subject.says(1, job("Is a teacher"))
    both = job("Is a nurse"), job("Is a DJ at weekends")
    assert kinds(subject.says(3, *both).events) == ["memory-superseded", "memory-added"]
    assert subject.live(Slot.OCCUPATION) == ["Is a nurse", "Is a DJ at weekends"]
    assert kinds(subject.says(4, *both).events) == ["memory-confirmed"] * 2
    assert kinds(subject.says(5, both[1]).events) == ["memory-confirmed"]


def test_the_next_turn_takes_the_place_of_both() -> None:
    subject = Subject()
    subject.says(1, job("Is a nurse"), job("Is a DJ at weekends"))
    subject.says(4, job("Is a pilot"))
    assert subject.live(Slot.OCCUPATION) == ["Is a pilot"]
    assert sorted(subject.history(Slot.OCCUPATION)[:2]) == [
        ("Is a DJ at weekends", day(1), day(4)),
        ("Is a nurse", day(1), day(4)),
    ]


def test_an_update_of_one_of_both_leaves_the_other() -> None:
    subject = Subject()
    outcome = subject.says(1, job("Is a nurse"), job("Is a DJ at weekends"))
    music = opened(outcome.events[1])
    subject.says(4, job("Is a producer", action=Action.UPDATE, reference=music.memory_id))
    assert subject.live(Slot.OCCUPATION) == ["Is a nurse", "Is a producer"]


def test_a_turn_that_confirms_one_value_adds_the_other_beside_it() -> None:
    for stated in (["Is a nurse", "Is a DJ"], ["Is a DJ", "Is a nurse"]):
        subject = Subject()
        subject.says(1, job("Is a nurse"))
        subject.says(3, *map(job, stated))
        assert sorted(subject.live(Slot.OCCUPATION)) == ["Is a DJ", "Is a nurse"]


def test_two_values_of_a_late_turn_both_end_where_the_next_one_begins() -> None:
    subject = Subject()
    subject.says(9, job("Is a pilot"))
    subject.says(3, job("Is a nurse"), job("Is a DJ"))
    assert subject.live(Slot.OCCUPATION) == ["Is a pilot"]
    rows = subject.rows(Slot.OCCUPATION)
    assert [(row.memory.valid_from, row.memory.valid_to) for row in rows] == [
        (day(3), day(9)),
        (day(3), day(9)),
        (day(9), None),
    ]
    # Versions of one lineage never overlap.
    assert rows[0].memory.lineage_id != rows[1].memory.lineage_id


STATED_VALUES = ("Lives in Aachen", "Lives in Bern", "Lives in Cork")
GUESSED_VALUES = ("Lives in Oslo", "Lives in Bergen")
Fact = tuple[int, str, Confidence]


def facts_of(guessed_values: tuple[str, ...]) -> st.SearchStrategy[list[Fact]]:
    stated = st.tuples(
        st.integers(0, 8), st.sampled_from(STATED_VALUES), st.just(Confidence.STATED)
    )
    concluded = st.tuples(st.integers(0, 8), st.sampled_from(guessed_values), st.just(INFERRED))
    return st.lists(stated | concluded, min_size=1, max_size=7, unique_by=lambda one: one[0])


once = facts_of(GUESSED_VALUES)
orders_of_once = once.flatmap(lambda facts: st.tuples(st.just(facts), st.permutations(facts)))
FEW = settings(max_examples=60)


def told(arrived: list[Fact]) -> Subject:
    subject = Subject()
    for at, value, confidence in arrived:
        subject.says(at, operation(value, confidence=confidence))
    return subject


@FEW
@given(orders_of_once)
def test_whatever_order_they_arrive_in_what_was_stated_last_is_live(
    orders: tuple[list[Fact], list[Fact]],
) -> None:
    in_order, shuffled = sorted(orders[0]), orders[1]
    stated = [value for _, value, confidence in in_order if confidence is Confidence.STATED]
    latest = stated[-1] if stated else in_order[-1][1]
    assert told(in_order).live() == [latest]
    assert told(shuffled).live() == [latest]


@FEW
@given(facts_of((*STATED_VALUES, *GUESSED_VALUES)))
def test_once_anything_was_stated_only_what_was_stated_is_live(facts: list[Fact]) -> None:
    stated = {value for _, value, confidence in facts if confidence is Confidence.STATED}
    live = told(facts).live()
    assert len(live) == 1
    assert not stated or stated.issuperset(live)


others = st.lists(
    st.tuples(
        st.integers(0, 8),
        st.sampled_from(
            [
                {"kind": MemoryKind.EPISODIC},
                {"kind": MemoryKind.PROCEDURAL},
                {"expires_at": day(30)},
            ]
        ),
    ),
    max_size=6,
)


@FEW
@given(once, others, st.randoms())
def test_nothing_but_a_lasting_fact_touches_the_history_of_a_slot(
    facts: list[Fact],
    beside: list[tuple[int, dict[str, Any]]],
    order: Any,
) -> None:
    def history(subject: Subject) -> list[Any]:
        held = [row.memory for row in subject.rows() if holds_slot(row.memory)]
        return [(one.content, one.valid_from, one.valid_to, guessed(one)) for one in held]

    alone, mixed = told(facts), Subject()
    steps: list[tuple[int, Operation]] = [
        (at, operation(f"Was in {place} on day {at}", **changed))
        for place, (at, changed) in enumerate(beside)
    ]
    for at, value, confidence in facts:
        while steps and order.random() < 0.5:
            mixed.says(steps[-1][0], steps.pop()[1])
        mixed.says(at, operation(value, confidence=confidence))
    assert history(mixed) == history(alone)
