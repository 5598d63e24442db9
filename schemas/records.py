"""The records of the log: turns, proposals, outcomes and dead letters."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal
from uuid import UUID

from pydantic import Field

from schemas.events import MemoryEvent
from schemas.memory import Confidence, MemoryKind, Record, UtcDatetime
from schemas.slots import Slot

Stage = Literal["open", "decode", "extract", "reconcile", "project"]
"""What was being done with a record that became a dead letter."""


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


class Action(StrEnum):
    """What the model proposes to do."""

    ADD = "add"
    UPDATE = "update"
    RETRACT = "retract"


class Operation(Record):
    """One thing that the model proposes.

    Attributes:
        action: add a statement, update the one that ``reference`` names (or that holds the slot),
            or retract it.
        kind, slot, about, content, importance, confidence: as in a memory.
        quote: the exact words of the user that are the evidence.
        reference: the memory that it speaks of, resolved from the short name it was shown under.
        valid_from: since when it is true, where the words say so; else the turn's own time counts.
        expires_at: when it ceases by itself, or ``None``.
    """

    action: Action
    kind: MemoryKind
    slot: Slot
    about: str
    content: str
    importance: int = Field(ge=1, le=5)
    confidence: Confidence
    quote: str
    reference: UUID | None = None
    valid_from: UtcDatetime | None = None
    expires_at: UtcDatetime | None = None


class InvalidItem(Record):
    """One item of the model's answer that could not be read; the others were kept.

    Attributes:
        position: its place in the answer, from 0.
        problem: what is wrong with it, without its content.
    """

    position: int = Field(ge=0)
    problem: str


class Usage(Record):
    """What an extraction cost, in the provider's own units."""

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)


class Proposal(Record):
    """All that the model proposed for one turn. The append of the lowest offset is final.

    Attributes:
        turn_id: the turn.
        generation: the generation that asked.
        extractor: the extractor's name.
        model: the model's name; the extractor's own where no model is behind it.
        prompt_hash: hash of prompt, schema and rules: the extractor's version.
        operations: what it proposed, in order.
        invalid: the items that could not be read.
        usage: what it cost.
        proposed_at: when the answer was complete.
    """

    turn_id: UUID
    generation: str
    extractor: str
    model: str
    prompt_hash: str
    operations: tuple[Operation, ...]
    invalid: tuple[InvalidItem, ...] = ()
    usage: Usage = Usage()
    proposed_at: UtcDatetime


class Closing(StrEnum):
    """How a turn closed."""

    STORED = "stored"
    NOTHING_FOUND = "nothing_found"
    REJECTED = "rejected"
    DEAD_LETTERED = "dead_lettered"
    ERASED = "erased"
    """The keys of its subject are destroyed; this outcome is sealed for the system subject."""


class Outcome(Record):
    """What became of one turn: its memory events and how it closed, as one record.

    Attributes:
        turn_id: the turn.
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
