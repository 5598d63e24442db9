"""Made-up ends of sessions with their summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from schemas.records import Closing, Outcome
from schemas.summaries import SummarySource, WithoutSummary
from schemas.summary_events import SessionNotSummarised, SessionSummarised
from schemas.tree import address_for
from tests.support.log_writer import NOON, AppendedTurn, LogWriter, at

CONVERSATION = "conversation"


def source_of(turn: AppendedTurn) -> SummarySource:
    """Return the source that a turn of a log writer is."""
    return SummarySource.of(
        turn_id=turn.turn_id,
        turn_offset=turn.offset,
        address=address_for(NOON, turn.turn_id),
    )


def summarised(sources: Sequence[SummarySource], text: str, **changed: Any) -> SessionSummarised:
    """Return the event of a summary, like any other but for what is told."""
    fields: dict[str, Any] = {
        "conversation_id": CONVERSATION,
        "summary": text,
        "sources": tuple(sources),
        "first_said_at": NOON,
        "last_said_at": at(5),
        "prompt_hash": "0123456789abcdef",
        "made_at": at(9),
    }
    return SessionSummarised(**(fields | changed))


def not_summarised(
    reason: WithoutSummary, sources: Sequence[SummarySource] = ()
) -> SessionNotSummarised:
    """Return the event that tells why there is no summary."""
    return SessionNotSummarised(
        conversation_id=CONVERSATION, reason=reason, sources=tuple(sources), made_at=at(9)
    )


async def said(writer: LogWriter, conversation_id: str = CONVERSATION) -> AppendedTurn:
    """Append a turn of a conversation and the outcome that closes it."""
    turn = await writer.turn()
    await writer.append(writer.outcome(turn, conversation_id=conversation_id))
    return turn


def end_outcome(
    writer: LogWriter, ended: AppendedTurn, event: SessionSummarised | SessionNotSummarised | None
) -> Outcome:
    """Return the outcome of a session's end."""
    return writer.outcome(
        ended,
        [] if event is None else [event],
        closing=Closing.NOTHING_FOUND,
        closes="session-end",
        conversation_id=CONVERSATION,
        extractor="openai",
        model="model-1",
    )


async def ended(
    writer: LogWriter, event: SessionSummarised | SessionNotSummarised | None
) -> AppendedTurn:
    """Append the end of a session, of which only its header counts, and its outcome."""
    end = await writer.turn(uuid4())
    await writer.append(end_outcome(writer, end, event))
    return end
