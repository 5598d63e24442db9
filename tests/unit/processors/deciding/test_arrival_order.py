"""Whatever order turns arrive in, what is live comes out the same.

So does the history, where every confirmation is known; the read model tells the last one alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from schemas.memory import ABOUT_USER
from schemas.proposals import Action
from schemas.slots import Slot
from tests.support.deciding import Subject, day, operation, proposal, turn

Said = tuple[int, str]
"""The day of a turn and the value that it states."""

values = st.sampled_from(["Lives in Aachen", "Lives in Bern", "Lives in Cork"])
said = st.tuples(st.integers(0, 8), values)
turns = st.lists(said, min_size=1, max_size=9)
spread = st.lists(said, min_size=1, max_size=9, unique_by=lambda one: one[0])


def told(arrived: Sequence[Said], *, all_confirmations: bool = False) -> Subject:
    subject = Subject(all_confirmations=all_confirmations)
    for at, value in arrived:
        subject.says(at, operation(value))
    return subject


def expected(arrived: Sequence[Said]) -> list[tuple[str, datetime, datetime | None]]:
    """Return the history without any ledger: each value holds until another one is stated."""
    history: list[tuple[str, datetime, datetime | None]] = []
    last_of_day = dict(arrived)  # of two turns of one time the later in the log counts
    for at, value in sorted(last_of_day.items()):
        if history and history[-1][0] == value:
            continue
        if history:
            history[-1] = (*history[-1][:2], day(at))
        history.append((value, day(at), None))
    return history


def assert_sound(subject: Subject, slot: Slot = Slot.RESIDENCE, about: str = ABOUT_USER) -> None:
    rows = [row.memory for row in subject.rows(slot, about)]
    for before, after in pairwise(rows):
        assert before.valid_to is not None
        assert before.valid_from <= before.valid_to <= after.valid_from
    assert sum(row.valid_to is None for row in rows) <= 1


@given(turns)
def test_with_every_confirmation_the_history_is_that_of_the_times_not_of_the_arrivals(
    arrived: list[Said],
) -> None:
    subject = told(arrived, all_confirmations=True)
    assert_sound(subject)
    assert subject.history() == expected(arrived)


@given(turns)
def test_with_the_last_confirmation_alone_the_latest_turn_is_live(arrived: list[Said]) -> None:
    subject = told(arrived)
    assert_sound(subject)
    assert subject.live() == [expected(arrived)[-1][0]]


@given(spread.flatmap(lambda once: st.tuples(st.just(once), st.permutations(once))))
def test_every_order_of_arrival_leaves_the_same_value_live(
    orders: tuple[list[Said], list[Said]],
) -> None:
    in_order, shuffled = sorted(orders[0]), orders[1]
    assert told(shuffled).live() == told(in_order).live()


@given(spread)
def test_in_the_order_in_which_they_were_said_the_last_confirmation_is_enough(
    arrived: list[Said],
) -> None:
    in_order = sorted(arrived)
    assert told(in_order).history() == expected(in_order)


def test_a_late_turn_between_two_confirmations_may_be_given_too_long_a_stretch() -> None:
    aachen, bern, cork = (f"Lives in {city}" for city in ("Aachen", "Bern", "Cork"))
    arrived = [(1, aachen), (3, aachen), (5, aachen), (2, bern)]
    assert told(arrived).history() == [
        (aachen, day(1), day(2)),
        (bern, day(2), day(5)),
        (aachen, day(5), None),
    ]
    assert told(arrived, all_confirmations=True).history() == expected(arrived)
    assert told([*arrived, (4, cork)]).live() == [aachen]


def assert_adds_nothing_again(
    subject: Subject, arrived: Sequence[Said], data: st.DataObject
) -> None:
    before, count = subject.history(), len(subject.state.memories)
    at, value = data.draw(st.sampled_from(sorted(dict(arrived).items())))
    subject.says(at, operation(value))
    assert len(subject.state.memories) == count
    assert subject.history() == before


@given(turns, st.data())
def test_with_every_confirmation_saying_again_what_was_said_adds_nothing(
    arrived: list[Said], data: st.DataObject
) -> None:
    assert_adds_nothing_again(told(arrived, all_confirmations=True), arrived, data)


@given(spread, st.data())
def test_in_order_the_last_confirmation_is_enough_for_saying_again_to_add_nothing(
    arrived: list[Said], data: st.DataObject
) -> None:
    assert_adds_nothing_again(told(sorted(arrived)), arrived, data)


@given(turns, turns)
def test_another_about_or_slot_is_never_touched(mine: list[Said], others: list[Said]) -> None:
    subject = told(mine)
    before = subject.history()
    for at, value in others:
        subject.says(at, operation(value, about="sister"))
        subject.says(at, operation(value, slot=Slot.EMPLOYER))
        subject.says(at, operation(value, slot=Slot.NOTE))
    assert subject.history() == before
    assert subject.live(about="sister") == [expected(others)[-1][0]]
    assert subject.live(Slot.EMPLOYER) == [expected(others)[-1][0]]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 8),
            values,
            st.sampled_from([Action.ADD, Action.ADD, Action.UPDATE, Action.RETRACT]),
            st.integers(-4, 4),
        ),
        max_size=10,
    ),
    st.booleans(),
)
def test_no_sequence_of_operations_makes_versions_overlap(
    steps: list[tuple[int, str, Action, int]], all_confirmations: bool
) -> None:
    subject = Subject(all_confirmations=all_confirmations)
    for at, value, action, shift in steps:
        subject.says(at, operation(value, action=action, valid_from=day(at + shift)))
        assert_sound(subject)


@given(
    st.lists(st.tuples(st.integers(0, 8), values, st.integers(-4, 0)), min_size=1, max_size=8),
    st.booleans(),
)
def test_a_backdated_start_never_lets_an_older_turn_win(
    steps: list[tuple[int, str, int]], all_confirmations: bool
) -> None:
    subject = Subject(all_confirmations=all_confirmations)
    for at, value, shift in steps:
        subject.says(at, operation(value, valid_from=day(at + shift)))
    latest = max(at for at, _, _ in steps)
    assert subject.live() == [[value for at, value, _ in steps if at == latest][-1]]


@given(st.lists(st.tuples(st.integers(0, 8), values), min_size=1, max_size=9))
def test_many_valued_statements_are_each_live_once(arrived: list[Said]) -> None:
    subject = Subject()
    for at, value in arrived:
        subject.says(at, operation(value, slot=Slot.PREFERENCE))
    assert sorted(subject.live(Slot.PREFERENCE)) == sorted({value for _, value in arrived})
    assert len(subject.state.memories) == len({value for _, value in arrived})


@given(turns)
def test_a_decision_made_again_is_the_same(arrived: list[Said]) -> None:
    subject = told(arrived)
    said_now = turn("Lives in Zug", at=day(4))
    proposed = proposal(said_now, [operation("Lives in Zug")])
    assert subject.decide(said_now, proposed) == subject.decide(said_now, proposed)
