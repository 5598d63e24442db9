"""Histories of one subject, made up by hypothesis: every kind of event, in every order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from schemas import ids
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoriesDeleted,
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryCorrected,
    MemoryEnded,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemorySuperseded,
    MemoryVouched,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
    Renewal,
)
from schemas.memory import Confidence, Memory, MemoryKind, Provenance, Source
from schemas.proposals import Action, Operation, Usage
from schemas.records import Closing, Deferral, DeferralCause, Outcome, Settled
from schemas.slots import Slot
from tests.support.log_writer import NOON, at, memory

SUBJECT = UUID(int=1)
GENERATION = "g1"
_EMPTY = (RejectionReason.CONTENT_EMPTY,)
_OWED = 'gets "50%" off, für immer'
_KEYS = (b"one key of 16 by", b"another of these")
_OPENING = MemoryAdded | MemorySuperseded | MemoryBackfilled | MemoriesMerged | MemoryCorrected


def turn_number(number: int) -> UUID:
    """Return the id of a history's turn."""
    return UUID(int=1000 + number)


def outcome_of(
    number: int,
    events: Sequence[MemoryEvent],
    *,
    closing: Closing | None = None,
    partition: int = 0,
    **changed: Any,
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
    ).model_copy(update=changed)


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
            if isinstance(event, _OPENING):
                known.append(memory_id)
        outcomes.append(
            outcome_of(number, events, partition=partition, **draw(_beside_events(number)))
        )
    return outcomes


@st.composite
def _beside_events(draw: st.DrawFn, number: int) -> dict[str, Any]:
    """Let a turn wait, or settle others; and say what it cost."""
    fields: dict[str, Any] = {}
    if draw(st.booleans()):
        fields["closing"] = Closing.DEFERRED
        fields["deferral"] = Deferral(
            conversation_id=draw(st.sampled_from(["one", "two"])),
            cause=draw(st.sampled_from(DeferralCause)),
            occurred_at=at(number),
            received_at=at(draw(st.integers(0, 100))),
        )
    # Of turns before it, of itself and of those behind it, whether they wait or not.
    fields["settled"] = tuple(
        Settled(turn_id=turn_number(turn), turn_offset=turn, closing=draw(st.sampled_from(Closing)))
        for turn in draw(st.lists(st.integers(0, number + 1), max_size=2))
    )
    if draw(st.booleans()):
        fields["extractor"], fields["model"] = "openai", draw(st.sampled_from(["large", "small"]))
        fields["usage"] = Usage(calls=1, input_tokens=draw(st.integers(0, 1000)))
    return fields


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
        MemoryConfirmed(
            memory_id=target,
            turn_id=turn_id,
            quote="again",
            confirmed_at=moment,
            renewal=Renewal(expires_at=draw(st.none() | st.integers(600, 700).map(at))),
        ),
        MemoryEnded(memory_id=target, valid_to=moment, because_of=memory_id, ended_at=moment),
        MemoriesMerged(
            memory=new.model_copy(update={"merged_from": (target, memory_id)}),
            replaces=tuple(draw(st.lists(st.sampled_from(targets), max_size=2))),
        ),
        MemoryRetracted(memory_id=target, turn_id=turn_id, quote="not so", retracted_at=moment),
        ProposalRejected(
            operation=draw(st.integers(0, 1)),
            reasons=draw(st.sampled_from([_EMPTY, (*_EMPTY, RejectionReason.SECRET)])),
            turn_id=draw(st.none() | st.just(turn_id)),
        ),
        _flagged(turn_id, draw(st.integers(1, 2)), **draw(_named(target))),
        MemoryVouched(memory_id=target, turn_id=turn_id, actor="ann", vouched_at=moment),
        MemoryPinned(
            memory_id=target,
            pinned=draw(st.booleans()),
            turn_id=turn_id,
            actor=draw(st.sampled_from(["ann", None])),
            pinned_at=moment,
        ),
        MemoryCorrected(
            corrects=draw(st.sampled_from([target, None])),
            memory=new.model_copy(
                update={
                    "curated_at": moment,
                    "merged_from": draw(st.sampled_from([(), (target,)])),
                }
            ),
            actor="ann",
            suppresses=tuple(draw(st.sets(st.sampled_from(_KEYS)))),
        ),
        MemoriesDeleted(
            memory_ids=tuple(draw(st.lists(st.sampled_from(targets), max_size=3, unique=True))),
            suppresses=tuple(draw(st.sets(st.sampled_from(_KEYS)))),
            turn_id=turn_id,
            actor="ann",
            deleted_at=moment,
        ),
        FlagApproved(flag_id=_flag_id(1), actor="ann", reason="it is so", decided_at=moment),
        FlagRefused(flag_id=_flag_id(2), actor="ben", reason="it is not", decided_at=moment),
    ]
    return draw(st.sampled_from(choices))


def _flag_id(number: int) -> UUID:
    return UUID(int=5000 + number)


@st.composite
def _named(draw: st.DrawFn, target: UUID) -> dict[str, Any]:
    """Let an operation name a version, in one of the ways, or none."""
    return draw(
        st.sampled_from([{}, {"reference": target}, {"against": target}, {"merges": (target,)}])
    )


def _flagged(turn_id: UUID, number: int, **named: Any) -> ProposalFlagged:
    return ProposalFlagged(
        flag_id=_flag_id(number),
        operation=0,
        reasons=(RejectionReason.OPERATOR_OBLIGATION, RejectionReason.CONTRADICTION),
        proposed=Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.NOTE,
            about="user",
            content=_OWED,
            importance=3,
            confidence=Confidence.STATED,
            quote="50% off for ever",
            valid_from=at(1),
            **named,
        ),
        turn_id=turn_id,
        conversation_id="one",
        said_at=at(number),
        utc_offset_minutes=60,
        flagged_at=at(number + 1),
    )


@st.composite
def _memories(draw: st.DrawFn, memory_id: UUID, turn_id: UUID, target: UUID) -> Memory:
    begins = draw(st.integers(0, 100))
    ends = draw(st.none() | st.integers(begins, 200))
    fields: dict[str, object] = {
        "lineage_id": draw(st.sampled_from([memory_id, target])),
        "content": draw(st.sampled_from(["lives in Zürich", "茶が好き", "a  b.", "C++", _OWED])),
        "valid_from": at(begins),
        "valid_to": None if ends is None else at(ends),
        "recorded_at": at(draw(st.integers(0, 200))),
        "expires_at": draw(st.none() | st.just(at(500))),
    }
    if draw(st.booleans()):
        fields["curated_at"] = at(draw(st.integers(0, 100)))
    if draw(st.booleans()):
        fields["embedding"] = None
    if draw(st.booleans()):
        fields["source"] = Source.SYSTEM
        fields["provenance"] = Provenance(system="orders", type="late", reference="№ 7, {}")
    return memory(memory_id, turn_id, **fields)


def _again_and_again() -> list[Outcome]:
    """Return a history in which every sort of change befalls one version several times."""
    first = ids.memory_id(ids.outcome_id(GENERATION, turn_number(0)), 0)
    added = memory(first, turn_number(0), expires_at=at(500))
    outcomes = [outcome_of(0, [MemoryAdded(memory=added)])]
    # The latest time is said twice, and is not the last word.
    for number, minutes in enumerate((88, 90, 90, 89), start=1):
        turn_id = turn_number(number)
        memory_id = ids.memory_id(ids.outcome_id(GENERATION, turn_id), 0)
        moment = at(minutes)
        events: list[MemoryEvent] = [
            MemoriesMerged(
                memory=memory(
                    memory_id,
                    turn_id,
                    merged_from=(first,),
                    valid_from=moment,
                    recorded_at=at(number),
                )
            ),
            MemoryConfirmed(
                memory_id=first,
                turn_id=turn_id,
                quote="again",
                confirmed_at=moment,
                renewal=Renewal(expires_at=at(600 + number)),
            ),
            MemoryEnded(
                memory_id=first, valid_to=moment, because_of=memory_id, ended_at=at(number)
            ),
            MemoryRetracted(
                memory_id=first, turn_id=turn_id, quote="not so", retracted_at=at(number)
            ),
            _flagged(turn_id, 1),
            ProposalRejected(operation=0, reasons=_EMPTY, turn_id=turn_id),
            ProposalRejected(operation=0, reasons=(RejectionReason.SECRET,)),
            ProposalRejected(operation=1, reasons=_EMPTY),
            FlagApproved(flag_id=_flag_id(1), actor="ann", reason="yes", decided_at=at(number)),
            FlagRefused(flag_id=_flag_id(1), actor="ben", reason="no", decided_at=at(number)),
        ]
        outcomes.append(
            outcome_of(number, events, extractor="openai", model="large", usage=Usage(calls=number))
        )
    for number, minutes in enumerate((88, 90, 89), start=8):
        turn_id = turn_number(number)
        memory_id = ids.memory_id(ids.outcome_id(GENERATION, turn_id), 0)
        outcomes.append(outcome_of(number, _curated_again(first, memory_id, turn_id, minutes)))
    deferral = Deferral(
        conversation_id="one", cause=DeferralCause.SESSION, occurred_at=NOON, received_at=NOON
    )
    outcomes.append(outcome_of(5, [], closing=Closing.DEFERRED, deferral=deferral))
    for number, closing in ((6, Closing.STORED), (7, Closing.REJECTED)):
        settled = Settled(turn_id=turn_number(5), turn_offset=5, closing=closing)
        outcomes.append(outcome_of(number, [], settled=(settled,), closes="session-end"))
    return outcomes


def _curated_again(first: UUID, memory_id: UUID, turn_id: UUID, minutes: int) -> list[MemoryEvent]:
    """Return every sort of a person's decision about one version, and the end of another."""
    moment = at(minutes)
    right = memory(memory_id, turn_id, curated_at=moment, content=_OWED)
    return [
        MemoryVouched(memory_id=first, turn_id=turn_id, actor="ann", vouched_at=moment),
        MemoryPinned(
            memory_id=first, pinned=minutes == 89, turn_id=turn_id, actor="ann", pinned_at=moment
        ),
        MemoryCorrected(corrects=first, memory=right, actor="ann", suppresses=_KEYS),
        _flagged(turn_id, minutes, reference=first),
        _flagged(turn_id, minutes + 100),
        MemoriesDeleted(
            # It stands for others, which goes with the first of them.
            memory_ids=(memory_id,),
            suppresses=_KEYS[:1],
            turn_id=turn_id,
            actor="ann",
            deleted_at=moment,
        ),
    ]


AGAIN_AND_AGAIN = _again_and_again()
"""What chance seldom makes: every sort of change several times, of one version, turn, flag and
operation."""
