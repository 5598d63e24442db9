"""What renewals, merges, settled turns, flags and costs mean, however the log is read."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.fold import LoggedOutcome, MemoryRow, SubjectState, fold
from projections.rejection_fold import Rejection
from projections.spending_fold import Spent, SpentOn
from projections.turn_fold import ClosedTurn
from schemas import ids
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoriesMerged,
    MemoryAdded,
    MemoryConfirmed,
    MemoryEnded,
    MemoryEvent,
    MemoryRetracted,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
    Renewal,
)
from schemas.flags import FlagState
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.proposals import Action, Operation, Usage
from schemas.records import Closing, Deferral, DeferralCause, Outcome, Settled
from schemas.slots import Slot
from tests.support.histories import SUBJECT, outcome_of, turn_number
from tests.support.log_writer import NOON, at, memory

_ENDS = (Closing.STORED, Closing.NOTHING_FOUND, Closing.REJECTED, Closing.DEAD_LETTERED)


def _memory_id(number: int) -> UUID:
    return ids.memory_id(ids.outcome_id("g1", turn_number(number)), 0)


def _new(number: int, **changed: Any) -> Memory:
    return memory(_memory_id(number), turn_number(number), **changed)


def _folded(*outcomes: Outcome) -> SubjectState:
    logged = [LoggedOutcome(offset=offset, outcome=one) for offset, one in enumerate(outcomes)]
    return fold(logged, subject=SUBJECT)


def _of_events(*events: MemoryEvent) -> SubjectState:
    return _folded(*(outcome_of(number, [event]) for number, event in enumerate(events)))


def _row(state: SubjectState, number: int) -> MemoryRow:
    return state.memories[_memory_id(number)]


# Renewals


def _confirmed(minutes: int, renewal: Renewal | None) -> MemoryConfirmed:
    return MemoryConfirmed(
        memory_id=_memory_id(0),
        turn_id=turn_number(1),
        quote="again",
        confirmed_at=at(minutes),
        renewal=renewal,
    )


def _expiry(*said: tuple[int, Renewal | None]) -> datetime | None:
    added = MemoryAdded(memory=_new(0, expires_at=at(50)))
    confirmations = [_confirmed(minutes, renewal) for minutes, renewal in said]
    return _row(_of_events(added, *confirmations), 0).memory.expires_at


def test_a_confirmation_without_a_renewal_leaves_the_expiry() -> None:
    assert _expiry((10, None)) == at(50)
    assert _expiry((10, Renewal(expires_at=at(60))), (20, None)) == at(60)


def test_a_renewal_may_lift_the_expiry_and_set_it_again() -> None:
    assert _expiry((10, Renewal(expires_at=None))) is None
    assert _expiry((10, Renewal(expires_at=None)), (20, Renewal(expires_at=at(30)))) == at(30)


def test_of_renewals_said_at_one_time_the_last_in_the_log_counts() -> None:
    assert _expiry((10, Renewal(expires_at=at(60))), (10, Renewal(expires_at=at(55)))) == at(55)


@given(
    st.permutations(range(6)).flatmap(
        lambda minutes: st.tuples(
            st.just(minutes),
            st.lists(
                st.none()
                | st.just(Renewal(expires_at=None))
                | st.builds(Renewal, expires_at=st.integers(100, 200).map(at)),
                min_size=6,
                max_size=6,
            ),
        )
    )
)
def test_the_renewal_that_was_said_last_counts_in_whatever_order_it_is_read(
    said: tuple[list[int], list[Renewal | None]],
) -> None:
    told = list(zip(*said, strict=True))
    latest = max(
        ((minutes, renewal) for minutes, renewal in told if renewal is not None),
        default=None,
        key=lambda item: item[0],
    )

    assert _expiry(*told) == (at(50) if latest is None else latest[1].expires_at)


# Merges


def test_a_merged_memory_stands_for_its_sources_which_stay_in_the_history() -> None:
    merged = _new(
        2, merged_from=(_memory_id(0), _memory_id(1)), valid_from=at(5), recorded_at=at(9)
    )

    state = _of_events(
        MemoryAdded(memory=_new(0)),
        MemoryAdded(memory=_new(1)),
        MemoriesMerged(memory=merged),
    )

    assert _row(state, 2).memory == merged
    assert _row(state, 2).merged_into is None
    for number in (0, 1):
        row = _row(state, number)
        assert row.merged_into == merged.memory_id
        assert row.memory.valid_to is None
        assert row.merged is not None
        assert (row.merged.merged_valid_from, row.merged.merged_at) == (at(5), at(9))


def test_a_later_merge_stands_for_the_one_before_and_for_its_sources() -> None:
    first = _new(1, merged_from=(_memory_id(0),), valid_from=at(5), recorded_at=at(9))
    later = _new(2, merged_from=(_memory_id(0),), valid_from=at(7), recorded_at=at(20))

    state = _of_events(
        MemoryAdded(memory=_new(0)),
        MemoriesMerged(memory=first),
        MemoriesMerged(memory=later, replaces=(first.memory_id,)),
    )

    source, replaced = _row(state, 0).merged, _row(state, 1).merged
    assert source is not None
    assert replaced is not None
    assert source.merged_into == replaced.merged_into == later.memory_id
    # Since the first one it was not served, and was said by another.
    assert (source.merged_at, source.merged_valid_from) == (at(9), at(5))
    assert (replaced.merged_at, replaced.merged_valid_from) == (at(20), at(7))


def test_what_a_retracted_memory_stood_for_does_not_come_back() -> None:
    merged = _new(1, merged_from=(_memory_id(0),))
    retracted = MemoryRetracted(
        memory_id=merged.memory_id, turn_id=turn_number(2), quote="no", retracted_at=at(30)
    )

    state = _of_events(MemoryAdded(memory=_new(0)), MemoriesMerged(memory=merged), retracted)

    assert _row(state, 1).retracted_at == at(30)
    assert _row(state, 0).merged_into == merged.memory_id


def test_a_memory_never_stands_for_itself_or_for_what_is_not_there() -> None:
    merged = _new(0, merged_from=(_memory_id(0), _memory_id(7)))

    state = _of_events(MemoriesMerged(memory=merged))

    assert list(state.memories) == [merged.memory_id]
    assert _row(state, 0).merged is None


def test_what_ended_was_true_until_then() -> None:
    ended = MemoryEnded(
        memory_id=_memory_id(0), valid_to=at(20), because_of=_memory_id(5), ended_at=at(30)
    )

    row = _row(_of_events(MemoryAdded(memory=_new(0)), ended), 0)

    assert (row.memory.valid_to, row.closed_recorded_at) == (at(20), at(30))
    assert row.retracted_at is None


# Turns that wait


def _deferred(number: int) -> Outcome:
    deferral = Deferral(
        conversation_id="one",
        cause=DeferralCause.SESSION,
        occurred_at=at(number),
        received_at=at(number),
    )
    return outcome_of(number, [], closing=Closing.DEFERRED, deferral=deferral)


def _settling(number: int, *turns: int, closing: Closing = Closing.STORED) -> Outcome:
    settled = tuple(
        Settled(turn_id=turn_number(turn), turn_offset=turn, closing=closing) for turn in turns
    )
    return outcome_of(number, [], settled=settled, closes="session-end")


def test_a_deferred_turn_waits_until_an_outcome_settles_it() -> None:
    waiting = _folded(_deferred(0), _deferred(1))
    assert sorted(waiting.waiting) == [turn_number(0), turn_number(1)]
    assert waiting.closed[turn_number(0)] == ClosedTurn(closing=Closing.DEFERRED, offset=0)

    state = _folded(_deferred(0), _deferred(1), _settling(2, 0))

    assert list(state.waiting) == [turn_number(1)]
    assert state.closed[turn_number(0)] == ClosedTurn(
        closing=Closing.STORED, offset=0, settled_offset=2
    )


def test_a_turn_is_settled_once_and_never_waits_again() -> None:
    state = _folded(
        _deferred(0),
        _settling(1, 0, closing=Closing.REJECTED),
        _settling(2, 0, closing=Closing.STORED),
        _deferred(0),
        _settling(3, 0, closing=Closing.DEFERRED),
    )

    assert state.waiting == {}
    assert state.closed[turn_number(0)] == ClosedTurn(
        closing=Closing.REJECTED, offset=0, settled_offset=1
    )


@pytest.mark.parametrize("closing", _ENDS)
def test_a_turn_that_never_waited_is_not_settled(closing: Closing) -> None:
    state = _folded(outcome_of(0, [], closing=closing), _settling(1, 0, 1, 5))

    assert state.closed[turn_number(0)] == ClosedTurn(closing=closing, offset=0)
    assert turn_number(5) not in state.closed


@given(st.permutations([_deferred(0), _deferred(1), _settling(2, 0, 1), _settling(3, 1)]))
def test_whatever_the_order_a_turn_waits_or_is_settled_and_never_both(
    outcomes: list[Outcome],
) -> None:
    state = _folded(*outcomes)

    for turn in (turn_number(0), turn_number(1)):
        waits = state.closed[turn].closing is Closing.DEFERRED
        assert waits is (turn in state.waiting)
        assert waits is (state.closed[turn].settled_offset is None)


# Flags


def _flagged(number: int, content: str = "Gets 50% off") -> ProposalFlagged:
    return ProposalFlagged(
        flag_id=UUID(int=number),
        operation=0,
        reasons=(RejectionReason.OPERATOR_OBLIGATION,),
        proposed=Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.NOTE,
            about="user",
            content=content,
            importance=3,
            confidence=Confidence.STATED,
            quote="50% off",
        ),
        turn_id=turn_number(number),
        conversation_id="one",
        said_at=NOON,
        utc_offset_minutes=0,
        flagged_at=NOON,
    )


def _decision(number: int, *, approved: bool) -> FlagApproved | FlagRefused:
    kind = FlagApproved if approved else FlagRefused
    return kind(flag_id=UUID(int=number), actor="ann", reason="so", decided_at=at(9))


def test_the_first_decision_about_a_flag_counts() -> None:
    open_flag = _of_events(_flagged(1)).flags[UUID(int=1)]
    assert (open_flag.state, open_flag.raised) == (FlagState.OPEN, _flagged(1))

    state = _of_events(_flagged(1), _decision(1, approved=False), _decision(1, approved=True))

    flag = state.flags[UUID(int=1)]
    assert flag.state is FlagState.REFUSED
    assert flag.decided is not None
    assert flag.decided.turn_id == turn_number(1)


def test_a_decision_about_a_flag_that_is_not_there_is_kept_and_holds_when_it_comes() -> None:
    lone = _of_events(_decision(1, approved=True)).flags[UUID(int=1)]
    assert (lone.raised, lone.state) == (None, FlagState.APPROVED)

    state = _of_events(_decision(1, approved=True), _flagged(1), _flagged(1, "another"))

    flag = state.flags[UUID(int=1)]
    assert (flag.raised, flag.state) == (_flagged(1), FlagState.APPROVED)


# Refusals


def test_the_first_word_about_an_operation_counts_and_each_record_has_its_own() -> None:
    first = ProposalRejected(operation=0, reasons=(RejectionReason.SECRET,), turn_id=turn_number(9))
    later = ProposalRejected(operation=0, reasons=(RejectionReason.PASSWORD,))

    state = _folded(
        outcome_of(0, [first, later], closing=Closing.REJECTED, decided_at=at(3)),
        outcome_of(0, [later], closing=Closing.REJECTED),
        outcome_of(1, [later], closing=Closing.REJECTED),
    )

    assert state.rejected == {
        (turn_number(0), 0): Rejection(
            record_id=turn_number(0),
            place=0,
            turn_id=turn_number(9),
            reasons=(RejectionReason.SECRET,),
            rejected_at=at(3),
        ),
        (turn_number(1), 0): Rejection(
            record_id=turn_number(1),
            place=0,
            turn_id=None,
            reasons=(RejectionReason.PASSWORD,),
            rejected_at=NOON,
        ),
    }


# Costs


def _asked(number: int, **changed: Any) -> Outcome:
    fields: dict[str, Any] = {
        "extractor": "openai",
        "model": "large",
        "usage": Usage(calls=1, output_tokens=number),
    }
    return outcome_of(number, [], **(fields | changed))


def test_what_is_asked_for_is_added_up_by_day_extractor_and_model_each_outcome_once() -> None:
    late = at(12 * 60)
    state = _folded(
        _asked(1),
        _asked(1, usage=Usage(calls=100)),
        _asked(2),
        _asked(3, model="small"),
        _asked(4, decided_at=late),
        outcome_of(5, []),
    )

    assert state.spent == {
        SpentOn(NOON.date(), "openai", "large"): Spent(
            closings=2, turns=2, usage=Usage(calls=2, output_tokens=3)
        ),
        SpentOn(NOON.date(), "openai", "small"): Spent(
            closings=1, turns=1, usage=Usage(calls=1, output_tokens=3)
        ),
        SpentOn(late.date(), "openai", "large"): Spent(
            closings=1, turns=1, usage=Usage(calls=1, output_tokens=4)
        ),
    }


@pytest.mark.parametrize(
    ("changed", "turns"),
    [
        ({}, 1),
        ({"closing": Closing.DEFERRED}, 0),
        ({"closes": "consolidation"}, 0),
        ({"closes": "session-end", "settled": _settling(9, 5, 6).settled}, 2),
    ],
)
def test_a_session_stands_for_what_it_settles_and_what_is_no_turn_for_none(
    changed: dict[str, Any], turns: int
) -> None:
    (spent,) = _folded(_asked(1, **changed)).spent.values()

    assert (spent.closings, spent.turns) == (1, turns)
