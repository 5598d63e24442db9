"""What a recall answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from projections.recall_explanation import Explanation
from schemas.memory import Confidence, MemoryKind, Precision, Provenance, Source
from schemas.slots import Slot


class EmptyReason(StrEnum):
    """Why a question brought no memory."""

    NONE_STORED = "none_stored"
    """Nothing of this user is held to be true (at the moment asked for)."""
    NONE_ABOVE_THRESHOLD = "none_above_threshold"
    """Something is, but nothing near enough to the question."""
    NONE_SEARCHABLE = "none_searchable"
    """Something is, but all of it waits for its vector, and holds no word of the question."""
    NONE_WITHIN_BUDGET = "none_within_budget"
    """Something is near enough, but too long for the budget of tokens."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecalledMemory:
    """One memory that was served.

    Attributes:
        memory_id: the version.
        lineage_id: the ``memory_id`` of the lineage's first version.
        score: cosine similarity of question and content, at most 1; ``None`` of a memory that has
            no vector (yet): its words were found, or it is served whatever is asked.
        kind, slot, about, content, importance, confidence, source, provenance: as in a memory.
        quote: the exact words that caused it; empty where no turn did.
        turn_id: the turn they were said in, or the record that caused it.
        valid_from: since when it is true.
        valid_from_precision: how exactly that was told.
        valid_to: until when it was true, as far as it was known at the moment asked for.
        recorded_at: when the ledger learnt it.
        pinned: whether a person pinned it, so that it is served whatever is asked.
    """

    memory_id: UUID
    lineage_id: UUID
    score: float | None
    kind: MemoryKind
    content: str
    slot: Slot
    about: str
    importance: int
    confidence: Confidence
    source: Source
    provenance: Provenance | None
    quote: str
    turn_id: UUID
    valid_from: datetime
    valid_from_precision: Precision
    valid_to: datetime | None
    recorded_at: datetime
    pinned: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """How many memories were to be served and were not.

    Attributes:
        pins: pinned ones beyond the policy's cap.
        safety: of the highest importance for the user's safety, beyond the cap.
        rules: procedural ones beyond the cap.
        limit: near enough to the question, beyond the limit.
        budget: of any sort, for which the budget of tokens had no room.
        duplicates: which say what another one that is served says.
    """

    pins: int = 0
    safety: int = 0
    rules: int = 0
    limit: int = 0
    budget: int = 0
    duplicates: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenUse:
    """How many tokens the block of notes takes.

    Attributes:
        used: those of the block as plain text, counted line by line; 0 without notes.
        budget: the most that it was given.
        counter: what counted: a tokenizer's name, or ``estimate``.
        exact: whether that is the tokenizer that was named for the model; an estimate is higher
            than the truth for nearly every text.
    """

    used: int
    budget: int
    counter: str
    exact: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallResult:
    """What a recall served.

    Attributes:
        recall_id: names this answer; a turn may say which one it was answered with.
        memories: what is served whatever is asked first (pins, then the user's safety, then rules),
            then what the question brought, the best first; equal scores by id.
        reason: why the question brought nothing, also where memories are served that are served
            whatever is asked; ``None`` where it brought something.
        unsearchable: memories held to be true that wait for a vector of this embedder, so that
            no question finds them by meaning yet; 0 unless the embedder failed when they were
            stored.
        policy: the name of the policy that chose.
        generation: the generation that was asked.
        position: every turn of the subject at or below it had closed; comparable with the position
            that ``POST /v1/turns`` answers. ``None`` before the first turn.
        left_out: what was to be served and was not.
        tokens: what the notes cost.
        explanation: if it was asked for.
    """

    recall_id: UUID
    memories: tuple[RecalledMemory, ...]
    reason: EmptyReason | None
    unsearchable: int
    policy: str
    generation: str
    position: str | None
    left_out: LeftOut
    tokens: TokenUse
    explanation: Explanation | None
