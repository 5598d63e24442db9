"""What memory events mean, and that reading the log again changes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from datetime import datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from projections.fold import LoggedOutcome, MemoryRow, SubjectState, fold
from projections.turn_fold import ClosedTurn
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
)
from schemas.records import Closing, Outcome
from tests.support.histories import SUBJECT, histories, outcome_of, turn_number
from tests.support.log_writer import at, memory


def _state(*events: MemoryEvent) -> SubjectState:
    logged = [
        LoggedOutcome(offset=number, outcome=outcome_of(number, [event]))
        for number, event in enumerate(events)
    ]
    return fold(logged, subject=SUBJECT)


def _added(number: int, **changed: object) -> MemoryAdded:
    return MemoryAdded(memory=memory(_memory_id(number), turn_number(number), **changed))


def _memory_id(number: int) -> UUID:
    return ids.memory_id(ids.outcome_id("g1", turn_number(number)), 0)


def _row(state: SubjectState, number: int) -> MemoryRow:
    return state.memories[_memory_id(number)]


def _known_then(state: SubjectState, *, true_at: datetime, known_at: datetime) -> UUID | None:
    """Which version of the one lineage held at a time, by what was known at another."""
    holding = []
    for row in state.memories.values():
        version = row.memory
        learnt = row.closed_recorded_at is None or row.closed_recorded_at <= known_at
        ends = version.valid_to if learnt else None
        began = version.recorded_at <= known_at and version.valid_from <= true_at
        if began and (ends is None or true_at < ends):
            holding.append(version)
    return max(holding, key=lambda version: version.valid_from).memory_id if holding else None


def test_an_added_memory_is_there_as_it_was_written() -> None:
    added = _added(0, valid_from=at(5))

    row = _row(_state(added), 0)

    assert row.memory == added.memory
    assert row.last_confirmed_at == at(5)
    assert (row.confirmations, row.closed_recorded_at, row.retracted_at) == (0, None, None)


def test_a_superseded_version_ends_where_the_next_begins() -> None:
    after = memory(_memory_id(1), turn_number(1), valid_from=at(10), recorded_at=at(12))

    state = _state(_added(0), MemorySuperseded(closes=_memory_id(0), memory=after))

    assert _row(state, 0).memory.valid_to == at(10)
    assert _row(state, 0).closed_recorded_at == at(12)
    assert _row(state, 1).memory == after


def test_a_backfilled_version_takes_its_place_and_what_is_live_stays_live() -> None:
    state = _backfilled()

    assert (_row(state, 0).memory.valid_to, _row(state, 0).closed_recorded_at) == (at(10), at(40))
    assert (_row(state, 2).memory.valid_to, _row(state, 2).closed_recorded_at) == (at(20), None)
    assert _row(state, 1).memory.valid_to is None


def test_what_was_known_before_a_backfill_can_still_be_told() -> None:
    state = _backfilled()
    first, live, late = _memory_id(0), _memory_id(1), _memory_id(2)

    assert _known_then(state, true_at=at(15), known_at=at(10)) == first
    assert _known_then(state, true_at=at(15), known_at=at(30)) == first
    assert _known_then(state, true_at=at(25), known_at=at(30)) == live
    assert _known_then(state, true_at=at(15), known_at=at(40)) == late
    assert _known_then(state, true_at=at(5), known_at=at(40)) == first
    assert _known_then(state, true_at=at(25), known_at=at(40)) == live


def _backfilled() -> SubjectState:
    lineage = _memory_id(0)
    live = memory(
        _memory_id(1), turn_number(1), lineage_id=lineage, valid_from=at(20), recorded_at=at(21)
    )
    late = memory(
        _memory_id(2),
        turn_number(2),
        lineage_id=lineage,
        valid_from=at(10),
        valid_to=at(20),
        recorded_at=at(40),
    )
    return _state(
        _added(0, valid_from=at(0), recorded_at=at(1)),
        MemorySuperseded(closes=_memory_id(0), memory=live),
        MemoryBackfilled(after=_memory_id(0), memory=late),
    )


def test_a_backfilled_version_may_be_the_oldest() -> None:
    early = memory(_memory_id(1), turn_number(1), valid_from=at(-10), valid_to=at(0))

    state = _state(_added(0), MemoryBackfilled(after=None, memory=early))

    assert _row(state, 0).memory.valid_to is None
    assert _row(state, 1).memory == early


def test_confirmations_are_counted_and_the_latest_time_stays() -> None:
    later, earlier = (
        MemoryConfirmed(
            memory_id=_memory_id(0), turn_id=turn_number(1), quote="q", confirmed_at=at(minutes)
        )
        for minutes in (30, 20)
    )

    row = _row(_state(_added(0), later, earlier), 0)

    assert (row.confirmations, row.last_confirmed_at) == (2, at(30))


def test_a_retracted_memory_keeps_the_time_that_was_first_learnt() -> None:
    first, second = (
        MemoryRetracted(
            memory_id=_memory_id(0), turn_id=turn_number(1), quote="q", retracted_at=at(minutes)
        )
        for minutes in (20, 30)
    )

    row = _row(_state(_added(0), first, second), 0)

    assert row.retracted_at == at(20)
    assert row.memory.valid_to is None


def test_a_change_of_a_memory_that_is_not_there_is_void() -> None:
    confirmed = MemoryConfirmed(
        memory_id=_memory_id(7), turn_id=turn_number(0), quote="q", confirmed_at=at(1)
    )

    assert _state(confirmed).memories == {}


def test_the_first_outcome_of_a_turn_counts_whatever_a_later_one_says() -> None:
    added = outcome_of(0, [_added(0)])
    nothing = outcome_of(0, [], closing=Closing.NOTHING_FOUND)

    state = fold(
        [LoggedOutcome(offset=3, outcome=added), LoggedOutcome(offset=9, outcome=nothing)],
        subject=SUBJECT,
    )

    assert state.closed[turn_number(0)].closing is Closing.STORED
    assert state.closed[turn_number(0)].offset == 3
    assert list(state.memories) == [_memory_id(0)]


@given(histories(), st.data())
def test_folding_any_stretch_again_changes_nothing(
    history: list[Outcome], data: st.DataObject
) -> None:
    logged = [LoggedOutcome(offset=at, outcome=outcome) for at, outcome in enumerate(history)]
    start = data.draw(st.integers(0, len(logged)))
    end = data.draw(st.integers(start, len(logged)))
    state = fold(logged, subject=SUBJECT)
    before = deepcopy(state)

    counted = [state.apply(again) for again in logged[start:end]]

    assert not any(counted)
    assert state == before


@given(histories(), st.data())
def test_outcomes_that_are_appended_twice_far_apart_change_nothing(
    history: list[Outcome], data: st.DataObject
) -> None:
    doubled = list(history)
    for outcome in data.draw(st.lists(st.sampled_from(history), max_size=5)):
        after = doubled.index(outcome) + 1
        doubled.insert(data.draw(st.integers(after, len(doubled))), outcome)

    plain, twice = (
        fold(
            [LoggedOutcome(offset=at, outcome=outcome) for at, outcome in enumerate(outcomes)],
            subject=SUBJECT,
        )
        for outcomes in (history, doubled)
    )

    assert twice.memories == plain.memories
    assert {turn: how.closing for turn, how in twice.closed.items()} == {
        turn: how.closing for turn, how in plain.closed.items()
    }


def _refusing(outcomes: Sequence[Outcome], refused: Mapping[int, bool]) -> SubjectState:
    """Fold outcomes at even offsets; those named are set aside right before or after."""
    state = SubjectState(subject=SUBJECT)
    for number, outcome in enumerate(outcomes):
        outcome_id = ids.outcome_id(outcome.generation, outcome.turn_id)
        before = refused.get(number)
        if before is True:
            state.refuse(outcome_id, 2 * number - 1)
        state.apply(LoggedOutcome(offset=2 * number, outcome=outcome))
        if before is False:
            state.refuse(outcome_id, 2 * number + 1)
    return state


@given(
    outcomes=histories(),
    refused=st.dictionaries(st.integers(0, 11), st.booleans()),
)
def test_what_was_set_aside_before_an_outcome_is_as_if_the_outcome_were_not_there(
    outcomes: list[Outcome], refused: dict[int, bool]
) -> None:
    before = {number for number, first in refused.items() if first}
    kept = [
        LoggedOutcome(offset=2 * number, outcome=outcome)
        for number, outcome in enumerate(outcomes)
        if number not in before
    ]

    state = _refusing(outcomes, refused)

    expected = fold(kept, subject=SUBJECT)
    assert (state.memories, state.closed) == (expected.memories, expected.closed)
    for number, outcome in enumerate(outcomes):
        outcome_id = ids.outcome_id(outcome.generation, outcome.turn_id)
        closed = state.refused_closing(outcome.turn_id, outcome_id)
        if number in before:
            assert closed == ClosedTurn(closing=Closing.DEAD_LETTERED, offset=2 * number - 1)
        else:
            assert closed is None
