"""Proposals: what a model would have the ledger do, before code has decided anything."""

from __future__ import annotations

from enum import StrEnum
from uuid import UUID

from pydantic import Field

from schemas.memory import Confidence, MemoryKind, Precision, Record, UtcDatetime
from schemas.slots import Slot
from schemas.summaries import ProposedSummary


class Action(StrEnum):
    """What the model proposes to do."""

    ADD = "add"
    UPDATE = "update"
    RETRACT = "retract"
    MERGE = "merge"
    """Let one memory stand for several episodes; proposed by a consolidation alone."""
    CONTRADICT = "contradict"
    """Tell that two memories cannot both hold; proposed by a consolidation alone."""


class Speaker(StrEnum):
    """Whose words the evidence of an operation is."""

    USER = "user"
    ASSISTANT = "assistant"


class Operation(Record):
    """One thing that the model proposes.

    Attributes:
        action: add a statement, update the one that ``reference`` names (or that holds the slot),
            retract it, merge several, or tell of a contradiction.
        kind, slot, about, content, importance, confidence: as in a memory.
        quote: the exact words that are the evidence.
        said_by: whose words these are.
        reference: the memory that it speaks of, resolved from the short name it was shown under;
            of a contradiction the memory that was said first.
        turn_id: the turn that the words are of; ``None`` for the turn that the proposal is for.
        merges: the memories that ``content`` stands for, of a merge.
        against: the memory that contradicts ``reference``, of a contradiction.
        valid_from: since when it is true, where the words say so; else the turn's own time counts.
        valid_from_precision: how exactly the words say so.
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
    said_by: Speaker = Speaker.USER
    reference: UUID | None = None
    turn_id: UUID | None = None
    merges: tuple[UUID, ...] = ()
    against: UUID | None = None
    valid_from: UtcDatetime | None = None
    valid_from_precision: Precision = Precision.MOMENT
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
    """What an extraction cost, in the provider's own units.

    Attributes:
        calls: calls of the model, those included whose answer was of no use.
        input_tokens: tokens read at the full price.
        output_tokens: tokens written, thinking included.
        cache_read_tokens: tokens read from the provider's cache.
        cache_write_tokens: tokens written to it.
    """

    calls: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    output_tokens: int = Field(default=0, ge=0)
    cache_read_tokens: int = Field(default=0, ge=0)
    cache_write_tokens: int = Field(default=0, ge=0)

    def __add__(self, other: Usage) -> Usage:
        """Return what both cost together."""
        return Usage(
            calls=self.calls + other.calls,
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
        )


class Proposal(Record):
    """All that the model proposed for one record. The append of the lowest offset is final.

    Attributes:
        turn_id: the turn, or the end of a session or the consolidation that it was asked for.
        generation: the generation that asked.
        extractor: the extractor's name.
        model: the model's name; the extractor's own where no model is behind it.
        prompt_hash: hash of prompt, schema and rules: the extractor's version.
        operations: what it proposed, in order.
        invalid: the items that could not be read.
        usage: what it cost.
        stop_reasons: why the model stopped, call by call, in the provider's words.
        skipped: why the model was not asked, where code found that there is nothing to ask.
        failed: of the end of a session, the turns for which no usable answer could be had; the
            others were answered.
        summary: of the end of a session, what its summary is to be; ``None`` where none was asked
            for.
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
    stop_reasons: tuple[str, ...] = ()
    skipped: str | None = None
    failed: tuple[UUID, ...] = ()
    summary: ProposedSummary | None = None
    proposed_at: UtcDatetime
