"""What else changes a subject, beside turns: each is a record of the turns topic with an outcome.

It stands in the subject's own line, so its effect is the same in whatever order and how often it is
read, and it is accounted for as turns are.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from schemas.memory import MemoryKind, Provenance, Record, Source, UtcDatetime
from schemas.proposals import Operation
from schemas.slots import Slot


class SystemFact(Record):
    """A fact of the operator's own systems is to be remembered: an order that was late.

    Attributes:
        kind, slot, about, content, importance: as in a memory.
        provenance: the system that it comes from.
        valid_from: since when it is true; ``None`` for the time of the curation.
        expires_at: when it ceases by itself, or ``None``.
    """

    decision: Literal["system-fact"] = "system-fact"
    kind: MemoryKind
    slot: Slot
    about: str
    content: str
    importance: int = Field(ge=1, le=5)
    provenance: Provenance
    valid_from: UtcDatetime | None = None
    expires_at: UtcDatetime | None = None


class FlagDecision(Record):
    """A person decides what was flagged.

    It carries what it is about, so that it can be applied again in a generation in which the model
    proposed something else.

    Attributes:
        flag_id: the flag.
        approved: whether the proposal is to be carried out.
        reason: why, in the person's words.
        operation: what was flagged.
        source_turn_id: the turn whose words are the evidence.
        conversation_id: its conversation.
        said_at: when they were said.
        utc_offset_minutes: the zone that they were said in.
    """

    decision: Literal["flag"] = "flag"
    flag_id: UUID
    approved: bool
    reason: str = Field(min_length=1)
    operation: Operation
    source_turn_id: UUID
    conversation_id: str
    said_at: UtcDatetime
    utc_offset_minutes: int = Field(ge=-24 * 60, le=24 * 60)


Decision: TypeAlias = Annotated[SystemFact | FlagDecision, Field(discriminator="decision")]
"""Any decision of a curation, told apart by its ``decision`` field."""


class Curation(Record):
    """Somebody other than the model decides about a memory.

    Attributes:
        turn_id: the record's own id.
        source: ``curation`` where a person decides, ``system`` for one of the operator's programs.
        actor: who decided, as the caller names them.
        decision: what was decided.
        occurred_at: when.
        utc_offset_minutes: the zone of ``occurred_at``; 0 where it was not told.
        received_at: when it was accepted.
    """

    turn_id: UUID
    source: Source
    actor: str
    decision: Decision
    occurred_at: UtcDatetime
    utc_offset_minutes: int = Field(default=0, ge=-24 * 60, le=24 * 60)
    received_at: UtcDatetime


class SessionEndCause(StrEnum):
    """Why a chat session counts as over."""

    IDLE = "idle"
    EXPLICIT = "explicit"


class SessionEnd(Record):
    """A chat session is over: the turns of its conversation that were deferred are worked on.

    Attributes:
        turn_id: the record's own id.
        conversation_id: the conversation; its deferred turns below this record's offset are meant.
        cause: why it counts as over.
        occurred_at: when.
        received_at: when it was accepted.
    """

    turn_id: UUID
    conversation_id: str
    cause: SessionEndCause
    occurred_at: UtcDatetime
    received_at: UtcDatetime


class ConsolidationStart(Record):
    """A subject's memories are to be looked through: what belongs together, what contradicts.

    Attributes:
        turn_id: the record's own id.
        occurred_at: when it was started.
    """

    turn_id: UUID
    occurred_at: UtcDatetime
