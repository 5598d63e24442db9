"""BM25 over the memories of one subject."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.words.analysis import Word
from projections.words.postings import Matches, Postings

K1: Final = 1.2
B: Final = 0.75
"""How soon a repeated word adds nothing, and how far a long text counts less. Robertson and
Zaragoza, "The Probabilistic Relevance Framework" (2009), found 1.2 to 2 and 0.5 to 0.8 good."""


@dataclass(frozen=True, kw_only=True, slots=True)
class WordScores:
    """What the words of a question are worth in some memories.

    Attributes:
        bm25: shape ``(memories,)``; 0 where no word matches.
        share: how much of the question's matter is matched: the weights of the matched words over
            those of all, 0 to 1, shape ``(memories,)``. Unlike ``bm25`` it means the same for every
            question and user.
        holding: for each word the memories that hold it.
    """

    bm25: NDArray[np.float64]
    share: NDArray[np.float64]
    holding: Sequence[NDArray[np.int64]]


def word_scores(words: Sequence[Word], postings: Postings) -> WordScores:
    """Return what a question's words are worth.

    Args:
        words: the question's words.
        postings: the words of the memories that hold, and of no others: how rare a word is counts
            among them.
    """
    memories = len(postings.lengths)
    mean = max(float(postings.lengths.mean()), 1.0) if memories else 1.0
    norm = K1 * (1 - B + B * postings.lengths / mean)
    bm25, matched = np.zeros(memories), np.zeros(memories)
    holding: list[NDArray[np.int64]] = []
    total = 0.0
    matches = postings.of(form for word in words for form in word.forms)
    for word in words:
        rows, counts = _found(word, matches, memories)
        # Never negative, as a word in more than half of all memories would otherwise make it.
        weight = math.log1p((memories - len(rows) + 0.5) / (len(rows) + 0.5))
        bm25[rows] += weight * counts * (K1 + 1) / (counts + norm[rows])
        matched[rows] += weight
        total += weight
        holding.append(rows)
    # Never above 1: what is added to the whole is added here too, or left out, in the same order.
    share = matched / total if total else matched
    return WordScores(bm25=bm25, share=share, holding=holding)


def _found(
    word: Word, matches: Matches, memories: int
) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    """Return which memories hold a word, and how often; of its forms the one that comes more."""
    rows, counts = matches.holding(word.forms[0])
    for form in word.forms[1:]:
        others, more = matches.holding(form)
        both = np.zeros(memories, dtype=np.uint32)
        both[rows] = counts
        both[others] = np.maximum(both[others], more)
        rows = np.flatnonzero(both)
        counts = both[rows]
    return rows, counts
