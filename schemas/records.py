"""Records of the log: turns, outcomes and dead letters."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from schemas.events import MemoryEvent
from schemas.memory import Record, UtcDatetime
from schemas.proposals import Usage

Stage = Literal["open", "decode", "extract", "reconcile", "project"]
"""What was being done with a record that became a dead letter."""

Closes = Literal["turn", "curation", "session-end", "consolidation"]
"""What an outcome closes: the schema of that record of the turns topic."""


class Origin(StrEnum):
    """Through which door a turn came in."""

    HTTP = "http"
    IMPORT = "import"


class Turn(Record):
    """One user turn with the assistant's answer.

    Attributes:
        turn_id: derived from the client's id of the turn, or random.
        conversation_id: the client's id of the conversation.
        user_text: what the user said.
        assistant_text: what the assistant answered, if it did.
        occurred_at: when the user said it.
        utc_offset_minutes: the zone it was said in, for "yesterday"; 0 where it was not told.
        received_at: when it was accepted.
        origin: the door it came in by.
        recall_id: the recall that was served for this turn, if one was.
    """

    turn_id: UUID
    conversation_id: str
    user_text: str
    assistant_text: str | None
    occurred_at: UtcDatetime
    utc_offset_minutes: int = Field(ge=-24 * 60, le=24 * 60)
    received_at: UtcDatetime
    origin: Origin
    recall_id: UUID | None = None


class Closing(StrEnum):
    """How a turn closed."""

    STORED = "stored"
    NOTHING_FOUND = "nothing_found"
    REJECTED = "rejected"
    FLAGGED = "flagged"
    """Nothing was stored, and a person must decide about something."""
    DEFERRED = "deferred"
    """It waits for its session, or for its tenant's budget; another record's outcome settles it. Of
    a consolidation: nothing was looked at, and a worker starts another where one is due."""
    DEAD_LETTERED = "dead_lettered"
    ERASED = "erased"
    """The keys of its subject are destroyed; this outcome is sealed for the system subject."""


class DeferralCause(StrEnum):
    """What a deferred turn waits for."""

    SESSION = "session"
    BUDGET = "budget"


class Deferral(Record):
    """A turn waits.

    Attributes:
        conversation_id: its conversation, whose end settles it.
        cause: what it waits for.
        occurred_at: the turn's own time.
        received_at: when it was accepted, from which the idle time counts.
    """

    conversation_id: str
    cause: DeferralCause
    occurred_at: UtcDatetime
    received_at: UtcDatetime


class Settled(Record):
    """How a turn that was deferred closed at last.

    Attributes:
        turn_id: the turn.
        turn_offset: where it stands in the log.
        closing: how it closed.
    """

    turn_id: UUID
    turn_offset: int = Field(ge=0)
    closing: Closing


class Outcome(Record):
    """What became of one turn: its memory events and how it closed, as one record.

    Attributes:
        turn_id: the turn; or the curation, the end of a session or the consolidation.
        generation: the generation that decided.
        turn_partition, turn_offset: where the turn stands in the log.
        closing: how it closed.
        events: what was decided, in order; the memories they carry have this order's ids.
        proposal_offset: where its proposal stands in the proposals topic; ``None`` for a dead
            letter, which has none.
        proposals_floor: every proposal for a turn that is still open stands at or above this offset
            of the proposals topic, so a worker that takes over reads from here.
        decided_at: when it was decided; the ``recorded_at`` of its memories.
        error: the error's class, for a dead letter.
        deferral: what a deferred turn waits for; ``None`` for every other one.
        settled: the deferred turns that this outcome, of the end of their session, closes.
        extractor, model: who proposed; ``None`` where nobody was asked.
        usage: what asking cost.
        closes: what sort of record it closes: what was spent is told by turn.
        recall_id: the recall that was served for the turn, as the turn tells it, so that whoever
            reads no turn knows it too.
        conversation_id: the turn's conversation, for the same reason; ``None`` for what is no turn,
            for a turn that could not be worked on, and in what was recorded before it was told.
    """

    turn_id: UUID
    generation: str
    turn_partition: int = Field(ge=0)
    turn_offset: int = Field(ge=0)
    closing: Closing
    events: tuple[MemoryEvent, ...] = ()
    proposal_offset: int | None = Field(default=None, ge=0)
    proposals_floor: int = Field(ge=0)
    decided_at: UtcDatetime
    error: str | None = None
    deferral: Deferral | None = None
    settled: tuple[Settled, ...] = ()
    extractor: str | None = None
    model: str | None = None
    usage: Usage = Usage()
    closes: Closes = "turn"
    recall_id: UUID | None = None
    conversation_id: str | None = None


class DeadLetter(Record):
    """A record that could not be processed, kept whole.

    Attributes:
        topic, partition, offset: where it stands.
        generation: the generation that could not process it.
        stage: what was being done with it.
        error: the error's class.
        detail: the error's message, without content of the record.
        value: the record's value as it was read (still sealed); ``None`` for a tombstone. Where it
            is above ``DEAD_LETTER_VALUE_BYTES_MAX`` it is cut and ``value_bytes`` tells.
        value_bytes: the length of the whole value.
        headers: the record's headers as they were read.
        occurred_at: when it was given up.
    """

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    generation: str
    stage: Stage
    error: str
    detail: str
    value: bytes | None
    value_bytes: int = Field(ge=0)
    headers: tuple[tuple[str, bytes], ...]
    occurred_at: UtcDatetime


DEAD_LETTER_VALUE_BYTES_MAX = 512 * 1024
"""The most of a value that a dead letter repeats: the record itself stays in its topic."""
