"""What else changes a subject, beside turns: each is a record of the turns topic with an outcome.

It stands in the subject's own line, so its effect is the same in whatever order and how often it is
read, and it is accounted for as turns are.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from schemas.memory import MemoryKind, Precision, Provenance, Record, Source, UtcDatetime
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


class CuratedMemory(Record):
    """The version that a person decides about, as it was held when that was decided.

    It tells enough to find its counterpart in a generation in which the model proposed something
    else, and to make one where there is none.

    Attributes:
        memory_id, lineage_id: the version, in the generation that the person saw.
        kind, slot, about, content, importance, valid_from, valid_from_precision: as in a memory.
        turn_id: the turn that caused it, or the record that did where no turn stands behind it.
        quote: the words of the turn that did; empty without a turn.
    """

    memory_id: UUID
    lineage_id: UUID
    kind: MemoryKind
    slot: Slot
    about: str = Field(min_length=1)
    content: str = Field(min_length=1)
    importance: int = Field(ge=1, le=5)
    valid_from: UtcDatetime
    valid_from_precision: Precision = Precision.MOMENT
    turn_id: UUID
    quote: str


class PersonRemembers(Record):
    """A person states something that is to be remembered.

    Attributes:
        kind, slot, about, content, importance: as in a memory.
        valid_from: since when it is true; ``None`` for the time of the curation.
        expires_at: when it ceases by itself, or ``None``.
        pinned: whether it is to be served whatever is asked.
    """

    decision: Literal["person-remembers"] = "person-remembers"
    kind: MemoryKind
    slot: Slot
    about: str
    content: str
    importance: int = Field(ge=1, le=5)
    valid_from: UtcDatetime | None = None
    expires_at: UtcDatetime | None = None
    pinned: bool = False


class PersonCorrects(Record):
    """A person says what a memory should have been: it never was true as it stood.

    Attributes:
        memory: the version that is wrong.
        content, slot, about, importance, kind: what it is to be; ``None`` leaves it as it is.
        pinned: whether it is to be served whatever is asked; ``None`` leaves that as it is.
        reason: why, in the person's words, if they told.
    """

    decision: Literal["person-corrects"] = "person-corrects"
    memory: CuratedMemory
    content: str | None = None
    slot: Slot | None = None
    about: str | None = None
    importance: int | None = Field(default=None, ge=1, le=5)
    kind: MemoryKind | None = None
    pinned: bool | None = None
    reason: str | None = None


class PersonPins(Record):
    """A person decides whether a memory is served whatever is asked.

    Attributes:
        memory: the version.
        pinned: whether it is pinned or no longer.
        reason: why, in the person's words, if they told.
    """

    decision: Literal["person-pins"] = "person-pins"
    memory: CuratedMemory
    pinned: bool
    reason: str | None = None


class PersonDeletes(Record):
    """A person has a memory deleted, with every version of it.

    Attributes:
        memory: any version of it.
        reason: why, in the person's words, if they told.
    """

    decision: Literal["person-deletes"] = "person-deletes"
    memory: CuratedMemory
    reason: str | None = None


AboutMemory: TypeAlias = PersonCorrects | PersonPins | PersonDeletes
"""A person's decision about a memory that is held."""

Decision: TypeAlias = Annotated[
    SystemFact | FlagDecision | PersonRemembers | PersonCorrects | PersonPins | PersonDeletes,
    Field(discriminator="decision"),
]
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
    SUMMARY = "summary"
    """It is not said to be over: its summary is to be made again, and nothing is settled."""


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
