"""Weighing: what each memory is worth for a question, and whether it is near enough at all.

Whether is absolute: a cosine from the embedder's threshold on, or words that cover enough of the
question's matter. Which of those first is relative to the other memories of the user.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.recall_held import Held
from projections.recall_policies import Policy
from projections.words.analysis import Word
from projections.words.bm25 import WordScores, word_scores
from schemas.slots import Slot

MEANING_WEIGHT: Final = 0.5
"""What meaning counts for in relevance, as measured best together with words."""

_DAY_S: Final = 86_400.0
_IMPORTANCE_MAX: Final = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Weighed:
    """What memories are worth for a question; the arrays have one element for each.

    Attributes:
        held: the memories.
        asked: the question's words.
        words: what a memory's words are worth.
        relevance: meaning and words blended, 0 to 1, for ranking alone.
        recency: what its age is worth; 1 for what is no episode.
        importance: as the policy counts it.
        final: what it is ranked by.
        similar: whether its meaning is near enough.
        worded: whether its words are enough.
        topical: whether the question is about what its slot is good for.
        near: whether it is near enough to the question, by any of the three.
    """

    held: Held
    asked: Sequence[Word]
    words: WordScores
    relevance: NDArray[np.float64]
    recency: NDArray[np.float64]
    importance: NDArray[np.int16]
    final: NDArray[np.float64]
    similar: NDArray[np.bool_]
    worded: NDArray[np.bool_]
    topical: NDArray[np.bool_]
    near: NDArray[np.bool_]


def weigh(
    held: Held,
    words: Sequence[Word],
    policy: Policy,
    *,
    min_similarity: float,
    now_s: float,
    topics: Mapping[Slot, float] = MappingProxyType({}),
    meaning_weight: float = MEANING_WEIGHT,
) -> Weighed:
    """Weigh memories for a question.

    Args:
        held: the memories that hold.
        words: the question's words.
        policy: how.
        min_similarity: the cosine from which meaning is near enough.
        topics: the slots whose topic is asked for, with the question's cosine to it.
        now_s: the moment that ages are counted from, in seconds since 1970.
        meaning_weight: what meaning counts for in relevance; words count for the rest.
    """
    worth = word_scores(words, held.postings)
    relevance = meaning_weight * _spread(held.cosine)
    relevance += (1 - meaning_weight) * _of_best(worth.bm25)
    topical = np.zeros(len(held), dtype=bool)
    for slot, cosine in topics.items():
        of_slot = held.of_slot(slot)
        topical |= of_slot
        # What it says may be far from the question: its topic is what brings it.
        relevance = np.where(of_slot, np.maximum(relevance, cosine), relevance)
    days = np.maximum(now_s - held.valid_from_s, 0) / _DAY_S
    recency = np.where(held.episodic, policy.fading_a_day**days, 1.0)
    importance = held.importance
    if policy.pinned_importance is not None:
        importance = np.where(held.pinned, np.int16(policy.pinned_importance), importance)
    final = policy.relevance_weight * relevance
    fades = not policy.recency_weight
    final = final * recency if fades else final + policy.recency_weight * recency
    final = final + policy.importance_weight * importance / _IMPORTANCE_MAX
    final = final + policy.importance_step * (importance - 1)
    similar = held.cosine >= min_similarity  # NaN is not
    worded = worth.share >= policy.words_share
    return Weighed(
        held=held,
        asked=words,
        words=worth,
        relevance=relevance,
        recency=recency,
        importance=importance,
        final=final,
        similar=similar,
        worded=worded,
        topical=topical,
        near=similar | worded | topical,
    )


def _spread(cosine: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return cosines between 0 for the least and 1 for the greatest; 0 without a vector."""
    # NaN only where all are.
    low, high = (float(least.reduce(cosine, initial=np.nan)) for least in (np.fmin, np.fmax))
    spread = (cosine - low) / (high - low) if high > low else np.ones(len(cosine))
    spread[np.isnan(cosine)] = 0.0
    return spread


def _of_best(bm25: NDArray[np.float64]) -> NDArray[np.float64]:
    best = float(bm25.max()) if len(bm25) else 0.0
    return bm25 / best if best else bm25
