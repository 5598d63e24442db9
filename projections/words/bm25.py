"""BM25 over the memories of one subject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.words.analysis import Word
from projections.words.postings import Postings

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
        matched: which word is matched where, shape ``(memories, words)``.
    """

    bm25: NDArray[np.float64]
    share: NDArray[np.float64]
    matched: NDArray[np.bool_]


def word_scores(words: Sequence[Word], postings: Postings) -> WordScores:
    """Return what a question's words are worth.

    Args:
        words: the question's words.
        postings: the words of the memories that hold, and of no others: how rare a word is counts
            among them.
    """
    memories = len(postings.lengths)
    counts = _counts(words, postings)
    matched = counts > 0
    holding = matched.sum(axis=0)
    # Never negative, as a word in more than half of all memories would otherwise make it.
    weights = np.log1p((memories - holding + 0.5) / (holding + 0.5))
    mean = max(float(postings.lengths.mean()), 1.0) if memories else 1.0
    norm = K1 * (1 - B + B * postings.lengths / mean)
    saturated = counts * (K1 + 1) / (counts + norm[:, np.newaxis])
    total = float(weights.sum())
    share = matched @ weights / total if total else np.zeros(memories)
    return WordScores(bm25=saturated @ weights, share=share, matched=matched)


def _counts(words: Sequence[Word], postings: Postings) -> NDArray[np.float64]:
    """Return how often each word occurs in each memory; of a word's forms the most frequent."""
    counts = np.zeros((len(postings.lengths), len(words)))
    pairs = sorted((form, place) for place, word in enumerate(words) for form in word.forms)
    if not pairs:
        return counts
    forms = np.array([form for form, _ in pairs], dtype=np.uint32)
    places = np.array([place for _, place in pairs])
    # A form that two words share stands twice in a row: the first one is found.
    at = np.minimum(np.searchsorted(forms, postings.forms), len(forms) - 1)
    hits = np.flatnonzero(forms[at] == postings.forms)
    np.maximum.at(counts, (postings.rows[hits], places[at[hits]]), postings.counts[hits])
    return counts
