"""Why a recall served what it served: each candidate's parts, and why it is in or out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from schemas.memory import MemoryKind

CANDIDATES_MAX: int = 50
"""Most candidates that an explanation lists; the others are counted by their verdict."""


class Verdict(StrEnum):
    """What became of a candidate."""

    PINNED = "pinned"
    """Served whatever is asked: a person pinned it."""
    SAFETY = "safety"
    """Served whatever is asked: it is of the highest importance for the user's safety."""
    RULE = "rule"
    """Served whatever is asked: how the assistant should behave."""
    SIMILAR = "similar"
    """Served: its meaning is near enough to the question."""
    WORDS = "words"
    """Served: it holds enough of the question's words."""
    TOPIC = "topic"
    """Served: the question is about what its slot is good for, as dinner is of a diet."""
    BELOW_THRESHOLD = "below_threshold"
    """Left out: neither its meaning nor its words are near enough."""
    DUPLICATE = "duplicate"
    """Left out: one that is served says the same."""
    LIMIT = "limit"
    """Left out: near enough, beyond the limit."""
    CAP = "cap"
    """Left out: one that is served whatever is asked, beyond the policy's cap."""
    BUDGET = "budget"
    """Left out: the budget of tokens had no room for it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Candidate:
    """One memory that holds, as it was weighed.

    Attributes:
        memory_id: the version.
        content: what it says.
        kind: semantic, episodic or procedural.
        cosine: similarity of question and content; ``None`` without a vector.
        bm25: what the matched words are worth among the user's memories.
        words: the question's words that it holds.
        share: how much of the question's matter these words are, 0 to 1.
        relevance: meaning and words blended, 0 to 1, for ranking alone.
        recency: what its age is worth, 0 to 1; 1 where age does not count.
        importance: 1 to 5, as the policy counts it.
        final: what it is ranked by under the policy.
        verdict: what became of it.
        duplicate_of: the memory that is served for it.
    """

    memory_id: UUID
    content: str
    kind: MemoryKind
    cosine: float | None
    bm25: float
    words: tuple[str, ...]
    share: float
    relevance: float
    recency: float
    importance: int
    final: float
    verdict: Verdict
    duplicate_of: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """Why a recall served what it served. What does not hold is no candidate, and never listed.

    Attributes:
        embedder: the model that cosines are taken in; they hold within it alone.
        min_similarity: the cosine from which meaning is near enough.
        min_share: the share of the question's words from which words alone are enough.
        limit: the most memories that the question could bring.
        stored: memories held to be true at the moment asked for.
        searched: those of them that have a vector of this model.
        nearest: the best cosine of all, served or not; ``None`` where nothing was searched.
        words: the words of the question that were looked for.
        candidates: the best of them and all that is served, at most ``CANDIDATES_MAX``.
        unlisted: the others, counted by verdict.
    """

    embedder: str
    min_similarity: float
    min_share: float
    limit: int
    stored: int
    searched: int
    nearest: float | None
    words: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    unlisted: Mapping[Verdict, int]
