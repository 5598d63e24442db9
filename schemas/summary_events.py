"""What the end of a chat session came to, as events of its outcome."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.memory import Record, UtcDatetime
from schemas.rejections import RejectionReason
from schemas.summaries import SummarySource, WithoutSummary


class SentencesRefused(Record):
    """Sentences of a summary that were left out for one reason.

    Attributes:
        reason: why.
        sentences: how many; one that is refused for two reasons counts for both.
    """

    reason: RejectionReason
    sentences: int = Field(ge=1)


class SessionSummarised(Record):
    """What a chat session came to, made from its own turns alone.

    Of two summaries of a conversation that tell of the same turn the later one counts. One of whose
    turns any is erased counts no more.

    Attributes:
        conversation_id: the conversation.
        summary: what it came to, in the user's language.
        sources: the turns that it was made from.
        first_said_at, last_said_at: when the first and the last of them were said.
        shortened: of how many of them the middle was left out, since they were long.
        refused: what was left out of what the model wrote, by reason.
        cut: how many sentences were left out behind those that fit.
        more: whether turns of the session were left to the next end of it, since they were many.
        prompt_hash: what shaped the model's answer; extractor and model are the outcome's.
        made_at: when.
    """

    event: Literal["session-summarised"] = "session-summarised"
    version: Literal[1] = 1
    conversation_id: str
    summary: str = Field(min_length=1)
    sources: tuple[SummarySource, ...] = Field(min_length=1)
    first_said_at: UtcDatetime
    last_said_at: UtcDatetime
    shortened: int = Field(default=0, ge=0)
    refused: tuple[SentencesRefused, ...] = ()
    cut: int = Field(default=0, ge=0)
    more: bool = False
    prompt_hash: str
    made_at: UtcDatetime


class SessionNotSummarised(Record):
    """The end of a chat session brought no summary.

    Attributes:
        conversation_id: the conversation.
        reason: why.
        sources: the turns that count as summarised all the same: of what was refused.
        refused: what was left out, by reason.
        more: as in a summary.
        made_at: when it was decided.
    """

    event: Literal["session-not-summarised"] = "session-not-summarised"
    version: Literal[1] = 1
    conversation_id: str
    reason: WithoutSummary
    sources: tuple[SummarySource, ...] = ()
    refused: tuple[SentencesRefused, ...] = ()
    more: bool = False
    made_at: UtcDatetime
