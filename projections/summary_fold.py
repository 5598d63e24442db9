"""What summaries of sessions mean: which of them stand, and when they must be gone.

A summary holds the words of its turns in others, so it never outlives one of them. Topics are read
independently of each other, so the order in which a summary and the end of its turn are applied
changes nothing: what is forgotten is noted, and what comes later is held against the notes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from schemas import ids
from schemas.records import Outcome
from schemas.summaries import SummarySource, WithoutSummary
from schemas.summary_events import SentencesRefused, SessionNotSummarised, SessionSummarised

RETRIED = frozenset({WithoutSummary.UNAVAILABLE, WithoutSummary.SOURCE_ERASED})
"""Why a worker ends a session again by itself."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryRow:
    """What the end of a session came to: a summary, or why there is none.

    Attributes:
        record_id: the end of the session.
        conversation_id: the conversation.
        turn_offset: where that end stands in the turns topic, which orders summaries.
        summary: the summary; ``None`` where there is none.
        reason: why there is none.
        turn_ids: the turns that it tells of.
        refused, cut, shortened, more, first_said_at, last_said_at, prompt_hash, made_at: as in the
            event.
        extractor, model: who wrote it.
        source_ids: the ids of all that must stand for it to stand: the turns, the end of the
            session, and the outcomes of either.
    """

    record_id: UUID
    conversation_id: str
    turn_offset: int
    summary: str | None
    reason: WithoutSummary | None
    turn_ids: tuple[UUID, ...]
    refused: tuple[SentencesRefused, ...]
    cut: int
    shortened: int
    more: bool
    first_said_at: datetime | None
    last_said_at: datetime | None
    extractor: str | None
    model: str | None
    prompt_hash: str | None
    made_at: datetime
    source_ids: frozenset[UUID]


def summary_of(outcome: Outcome) -> SummaryRow | None:
    """Return what an outcome says of a session's summary; ``None`` where it says nothing."""
    for event in outcome.events:
        if isinstance(event, SessionSummarised | SessionNotSummarised):
            return _row(outcome, event)
    return None


def sources_of(outcome: Outcome) -> Iterator[SummarySource]:
    """Yield the turns that an outcome's summary was made from."""
    for event in outcome.events:
        if isinstance(event, SessionSummarised | SessionNotSummarised):
            yield from event.sources


def ended_conversation(outcome: Outcome) -> str | None:
    """Return the conversation whose session an outcome ends; ``None`` where it ends none."""
    return outcome.conversation_id if outcome.closes == "session-end" else None


def fold_summary(
    found: MutableMapping[UUID, SummaryRow], forgotten: Collection[UUID], outcome: Outcome
) -> None:
    """Fold in what an outcome says of a session's summary.

    What tells of the same turn gives way, and so does what told only why there was no summary.

    Args:
        found: what stands of the subject, by the end of the session.
        forgotten: the ids of turns, and of outcomes, that are known to be gone.
        outcome: the outcome.
    """
    row = summary_of(outcome)
    if row is None:
        return
    for other in list(found.values()):
        empty = other.conversation_id == row.conversation_id and not other.turn_ids
        if empty or not set(row.turn_ids).isdisjoint(other.turn_ids):
            del found[other.record_id]
    if row.source_ids.isdisjoint(forgotten):
        found[row.record_id] = row


def forget_sources(found: MutableMapping[UUID, SummaryRow], gone: Collection[UUID]) -> None:
    """Let go of what was made from what is gone.

    Args:
        found: what stands of the subject.
        gone: ids of turns and of outcomes.
    """
    for row in list(found.values()):
        if not row.source_ids.isdisjoint(gone):
            del found[row.record_id]


def _row(outcome: Outcome, event: SessionSummarised | SessionNotSummarised) -> SummaryRow:
    turn_ids = tuple(dict.fromkeys(source.turn_id for source in event.sources))
    records = (outcome.turn_id, *turn_ids)
    outcome_ids = (ids.outcome_id(outcome.generation, record_id) for record_id in records)
    made = event if isinstance(event, SessionSummarised) else None
    return SummaryRow(
        record_id=outcome.turn_id,
        conversation_id=event.conversation_id,
        turn_offset=outcome.turn_offset,
        summary=None if made is None else made.summary,
        reason=event.reason if isinstance(event, SessionNotSummarised) else None,
        turn_ids=turn_ids,
        refused=event.refused,
        cut=0 if made is None else made.cut,
        shortened=0 if made is None else made.shortened,
        more=event.more,
        first_said_at=None if made is None else made.first_said_at,
        last_said_at=None if made is None else made.last_said_at,
        extractor=outcome.extractor,
        model=outcome.model,
        prompt_hash=None if made is None else made.prompt_hash,
        made_at=event.made_at,
        source_ids=frozenset((*records, *outcome_ids)),
    )
