"""Histories of one subject, made up by hypothesis: every kind of event, in every order."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from hypothesis import strategies as st

from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Memory
from schemas.records import Closing, Outcome
from tests.support.log_writer import NOON, at, memory

SUBJECT = UUID(int=1)
GENERATION = "g1"


def turn_number(number: int) -> UUID:
    """Return the id of a history's turn."""
    return UUID(int=1000 + number)


def outcome_of(
    number: int,
    events: Sequence[MemoryEvent],
    *,
    closing: Closing | None = None,
    partition: int = 0,
) -> Outcome:
    """Return the outcome of a history's turn."""
    return Outcome(
        turn_id=turn_number(number),
        generation=GENERATION,
        turn_partition=partition,
        turn_offset=number,
        closing=closing or (Closing.STORED if events else Closing.NOTHING_FOUND),
        events=tuple(events),
        proposal_offset=number,
        proposals_floor=number,
        decided_at=NOON,
    )


@st.composite
def histories(
    draw: st.DrawFn, *, turns_max: int = 12, partition: int = 0, strays: bool = True
) -> list[Outcome]:
    """Return outcomes in the order of the log, each of another turn.

    Args:
        draw: given by hypothesis.
        turns_max: most outcomes.
        partition: the partition that they lie in.
        strays: whether events may name memories that come later, or never.
    """
    count = draw(st.integers(1, turns_max))
    outcomes: list[Outcome] = []
    known: list[UUID] = []
    for number in range(count):
        outcome_id = ids.outcome_id(GENERATION, turn_number(number))
        events: list[MemoryEvent] = []
        for index in range(draw(st.integers(0, 3))):
            memory_id = ids.memory_id(outcome_id, index)
            targets = known or [memory_id]
            if strays and draw(st.integers(0, 9)) == 0:
                later = ids.outcome_id(GENERATION, turn_number(draw(st.integers(0, count))))
                targets = [ids.memory_id(later, draw(st.integers(0, 2)))]
            event = draw(_events(memory_id, turn_number(number), targets))
            events.append(event)
            if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled):
                known.append(memory_id)
        outcomes.append(outcome_of(number, events, partition=partition))
    return outcomes


@st.composite
def _events(
    draw: st.DrawFn, memory_id: UUID, turn_id: UUID, targets: Sequence[UUID]
) -> MemoryEvent:
    target = draw(st.sampled_from(targets))
    moment = at(draw(st.integers(0, 100)))
    new = draw(_memories(memory_id, turn_id, target))
    choices: list[MemoryEvent] = [
        MemoryAdded(memory=new),
        MemorySuperseded(closes=target, memory=new),
        MemoryBackfilled(after=target, memory=new),
        MemoryBackfilled(after=None, memory=new),
        MemoryConfirmed(memory_id=target, turn_id=turn_id, quote="again", confirmed_at=moment),
        MemoryRetracted(memory_id=target, turn_id=turn_id, quote="not so", retracted_at=moment),
        ProposalRejected(operation=0, reasons=(RejectionReason.CONTENT_EMPTY,)),
    ]
    return draw(st.sampled_from(choices))


@st.composite
def _memories(draw: st.DrawFn, memory_id: UUID, turn_id: UUID, target: UUID) -> Memory:
    begins = draw(st.integers(0, 100))
    ends = draw(st.none() | st.integers(begins, 200))
    fields: dict[str, object] = {
        "lineage_id": draw(st.sampled_from([memory_id, target])),
        "content": draw(st.sampled_from(["lives in Zürich", "茶が好き", "a  b.", "C++"])),
        "valid_from": at(begins),
        "valid_to": None if ends is None else at(ends),
        "recorded_at": at(draw(st.integers(0, 200))),
        "expires_at": draw(st.none() | st.just(at(500))),
    }
    if draw(st.booleans()):
        fields["embedding"] = None
    return memory(memory_id, turn_id, **fields)
