"""Records other than turns, for tests of what is decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from processors.deciding.occasions import (
    Occasion,
    WaitingText,
    occasion_of_consolidation,
    occasion_of_curation,
    occasion_of_session,
)
from schemas.commands import (
    ConsolidationStart,
    Curation,
    Decision,
    FlagDecision,
    SessionEnd,
    SessionEndCause,
)
from schemas.events import (
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryEvent,
    MemorySuperseded,
    ProposalFlagged,
)
from schemas.memory import Memory, Source
from schemas.proposals import InvalidItem, Operation, Proposal, Usage
from schemas.records import Settled, Turn
from tests.support.deciding import GENERATION, NOW, day


def kinds(events: Sequence[MemoryEvent]) -> list[str]:
    """Return the names of events."""
    return [event.event for event in events]


def opened(event: MemoryEvent) -> Memory:
    """Return the memory that an event brings forth."""
    assert isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled | MemoriesMerged)
    return event.memory


def session(turns: Sequence[Turn], settled: Sequence[Settled] = ()) -> Occasion:
    """Return the end of a session in which these turns wait, in the order of the log."""
    end = SessionEnd(
        turn_id=uuid4(),
        conversation_id="conversation",
        cause=SessionEndCause.EXPLICIT,
        occurred_at=NOW,
        received_at=NOW,
    )
    waiting = [WaitingText(turn=turn, turn_offset=at) for at, turn in enumerate(turns)]
    return occasion_of_session(end, waiting, settled)


def curation(decision: Decision, *, source: Source, at: datetime) -> Occasion:
    """Return a curation of a time."""
    return occasion_of_curation(
        Curation(
            turn_id=uuid4(),
            source=source,
            actor="ann",
            decision=decision,
            occurred_at=at,
            received_at=NOW,
        )
    )


def ruling(flag: ProposalFlagged, *, approved: bool, at: float = 30) -> Occasion:
    """Return a person's decision about a flag."""
    decision = FlagDecision(
        flag_id=flag.flag_id,
        approved=approved,
        reason="agreed",
        operation=flag.proposed,
        source_turn_id=flag.turn_id,
        conversation_id=flag.conversation_id,
        said_at=flag.said_at,
        utc_offset_minutes=flag.utc_offset_minutes,
    )
    return curation(decision, source=Source.CURATION, at=day(at))


def consolidation(at: float) -> Occasion:
    """Return a consolidation of a day."""
    return occasion_of_consolidation(ConsolidationStart(turn_id=uuid4(), occurred_at=day(at)))


def proposed(
    record_id: UUID, operations: Sequence[Operation], invalid: Sequence[InvalidItem] = ()
) -> Proposal:
    """Return what was proposed for any record, by a model that costs something."""
    return Proposal(
        turn_id=record_id,
        generation=GENERATION,
        extractor="model",
        model="model-1",
        prompt_hash="hash",
        operations=tuple(operations),
        invalid=tuple(invalid),
        usage=Usage(calls=1, input_tokens=100, output_tokens=10),
        proposed_at=NOW,
    )
