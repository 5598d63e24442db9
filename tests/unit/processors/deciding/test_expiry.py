"""When memories cease by themselves, and what a repetition does to that."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.expiry import expiry_of
from schemas.events import MemoryConfirmed, ProposalRejected, RejectionReason
from schemas.memory import Confidence, MemoryKind
from schemas.slots import Slot
from tests.support.deciding import FIRST_DAY, Subject, day, operation
from tests.unit.processors.deciding.occasions import kinds, opened

INFERRED, STATED = Confidence.INFERRED, Confidence.STATED
SEMANTIC, EPISODIC = MemoryKind.SEMANTIC, MemoryKind.EPISODIC


@pytest.mark.parametrize(
    ("slot", "kind", "confidence", "told", "expected"),
    [
        (Slot.PREFERENCE, SEMANTIC, STATED, None, None),
        (Slot.RULE, MemoryKind.PROCEDURAL, STATED, None, None),
        (Slot.NOTE, SEMANTIC, STATED, 400, 400),
        (Slot.NOTE, SEMANTIC, STATED, 1, 1),
        (Slot.PREFERENCE, SEMANTIC, INFERRED, None, 90),
        (Slot.PREFERENCE, SEMANTIC, INFERRED, 5, 5),
        (Slot.PREFERENCE, SEMANTIC, INFERRED, 400, 90),
        (Slot.TASK, SEMANTIC, STATED, None, 14),
        (Slot.TASK, SEMANTIC, STATED, 1, 7),
        (Slot.TASK, SEMANTIC, STATED, -5, 7),
        (Slot.TASK, SEMANTIC, STATED, 20, 20),
        (Slot.TASK, SEMANTIC, STATED, 365, 30),
        (Slot.TASK, SEMANTIC, INFERRED, 365, 30),
        (Slot.TASK, EPISODIC, STATED, None, 14),
        (Slot.DECISION, SEMANTIC, STATED, 10, None),
        (Slot.DECISION, SEMANTIC, INFERRED, None, None),
        (Slot.EPISODE, EPISODIC, STATED, None, None),
        (Slot.EPISODE, EPISODIC, INFERRED, None, None),
        (Slot.EVENT, EPISODIC, STATED, 3, 3),
        (Slot.EVENT, EPISODIC, STATED, -3, None),
    ],
)
def test_what_ceases_when(
    slot: Slot,
    kind: MemoryKind,
    confidence: Confidence,
    told: int | None,
    expected: int | None,
) -> None:
    said_at = day(10)
    found = expiry_of(
        kind=kind,
        slot=slot,
        confidence=confidence,
        told=None if told is None else said_at + timedelta(days=told),
        said_at=said_at,
    )
    assert found == (None if expected is None else said_at + timedelta(days=expected))


def says(subject: Subject, at: float, content: str, **changed: Any) -> MemoryConfirmed:
    (event,) = subject.says(at, operation(content, **changed)).events
    assert isinstance(event, MemoryConfirmed), event
    return event


def expiry(subject: Subject) -> datetime | None:
    (row,) = subject.state.memories.values()
    return row.memory.expires_at


def concluded(subject: Subject, at: float = 1, **changed: Any) -> None:
    subject.says(at, operation("Likes tea", slot=Slot.PREFERENCE, confidence=INFERRED, **changed))


def test_what_is_concluded_again_lasts_as_long_again() -> None:
    subject = Subject()
    concluded(subject)
    assert expiry(subject) == day(91)
    says(subject, 50, "likes tea", slot=Slot.PREFERENCE, confidence=INFERRED)
    assert expiry(subject) == day(140)


def test_what_was_concluded_and_is_stated_lasts() -> None:
    subject = Subject()
    concluded(subject)
    event = says(subject, 50, "Likes tea", slot=Slot.PREFERENCE)
    assert event.renewal is not None
    assert expiry(subject) is None
    # Nor does a later conclusion make it cease.
    assert says(subject, 60, "Likes tea", slot=Slot.PREFERENCE, confidence=INFERRED).renewal is None
    assert expiry(subject) is None


def test_what_was_stated_does_not_cease_since_it_is_concluded_too() -> None:
    subject = Subject()
    subject.says(1, operation("Likes tea", slot=Slot.PREFERENCE))
    assert says(subject, 5, "Likes tea", slot=Slot.PREFERENCE, confidence=INFERRED).renewal is None


def test_a_task_that_is_spoken_of_again_goes_on() -> None:
    subject = Subject()
    subject.says(1, operation("Writes a report", slot=Slot.TASK))
    assert expiry(subject) == day(15)
    says(subject, 10, "Writes a report", slot=Slot.TASK)
    assert expiry(subject) == day(24)


def test_a_late_repetition_moves_nothing_back() -> None:
    subject = Subject()
    subject.says(1, operation("Writes a report", slot=Slot.TASK))
    says(subject, 10, "Writes a report", slot=Slot.TASK)
    says(subject, 5, "Writes a report", slot=Slot.TASK)
    assert expiry(subject) == day(24)


def test_words_that_tell_no_time_leave_a_time_that_was_told() -> None:
    subject = Subject()
    visa: dict[str, Any] = {"slot": Slot.NOTE}
    subject.says(1, operation("Has a visa", expires_at=day(100), **visa))
    assert says(subject, 5, "Has a visa", **visa).renewal is None
    says(subject, 6, "Has a visa", expires_at=day(200), **visa)
    assert expiry(subject) == day(200)


def test_the_rules_are_those_of_the_slot_that_a_statement_is_held_in() -> None:
    subject = Subject()
    subject.says(1, operation("Writes a report", slot=Slot.TASK))
    says(subject, 10, "Writes a report", slot=Slot.NOTE)
    assert expiry(subject) == day(24)


def test_what_had_ceased_and_is_said_again_is_a_new_version() -> None:
    subject = Subject()
    subject.says(1, operation("Writes a report", slot=Slot.TASK))
    (event,) = subject.says(40, operation("Writes a report", slot=Slot.TASK)).events
    assert opened(event).expires_at == day(54)
    assert kinds([event]) == ["memory-superseded"]


@pytest.mark.parametrize("slot", [Slot.NOTE, Slot.RESIDENCE])
def test_what_had_ceased_before_it_was_said_is_refused_and_displaces_nothing(slot: Slot) -> None:
    subject = Subject()
    subject.says(1, operation("Something that holds", slot=slot))
    over = operation("Something that is over", slot=slot, expires_at=day(4))
    outcome = subject.says(5, over)
    assert outcome.events == (
        ProposalRejected(
            operation=0, reasons=(RejectionReason.ALREADY_PAST,), turn_id=outcome.turn_id
        ),
    )
    assert subject.live(slot) == ["Something that holds"]


def test_an_end_that_lies_behind_an_episode_is_no_reason_to_forget_it() -> None:
    subject = Subject()
    trip = operation("Was in Goa", slot=Slot.EVENT, kind=EPISODIC, expires_at=day(4))
    assert opened(subject.says(5, trip).events[0]).expires_at is None


repetitions = st.lists(
    st.tuples(st.integers(1, 60), st.sampled_from([INFERRED, STATED])), min_size=1, max_size=6
)


@given(repetitions)
def test_a_task_lasts_from_the_last_time_it_was_said_in_whatever_order_that_arrives(
    said: list[tuple[int, Confidence]],
) -> None:
    # Within a week of each other, so that none finds the task over.
    days = sorted({at % 7 for at, _ in said})
    task = [operation("Writes a report", slot=Slot.TASK) for _ in days]
    for arrived in (days, days[::-1]):
        subject = Subject()
        for at, one in zip(arrived, task, strict=True):
            subject.says(at, one)
        live = [
            row.memory.expires_at
            for row in subject.state.memories.values()
            if row.memory.valid_to is None
        ]
        assert live == [FIRST_DAY + timedelta(days=days[-1] + 14)]


@given(repetitions)
def test_what_was_stated_once_never_ceases_in_whatever_order_that_arrives(
    said: list[tuple[int, Confidence]],
) -> None:
    subject = Subject()
    for at, confidence in said:
        subject.says(at, operation("Likes tea", slot=Slot.PREFERENCE, confidence=confidence))
    stated = any(confidence is STATED for _, confidence in said)
    (row,) = subject.state.memories.values()
    assert (row.memory.expires_at is None) is stated
