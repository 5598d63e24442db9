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
        hits: which memory holds which word.
    """

    bm25: NDArray[np.float64]
    share: NDArray[np.float64]
    hits: Hits

    def words_in(self, row: int) -> list[int]:
        """Return which of the question's words a memory holds, by their places in it."""
        return sorted(self.hits.words[self.hits.rows == row].tolist())


@dataclass(frozen=True, kw_only=True, slots=True)
class Hits:
    """Which memory holds which word of a question; one element for each such pair.

    Attributes:
        rows: the memory.
        words: the word, by its place in the question.
        counts: how often.
    """

    rows: NDArray[np.int64]
    words: NDArray[np.int64]
    counts: NDArray[np.uint32]


def word_scores(words: Sequence[Word], postings: Postings) -> WordScores:
    """Return what a question's words are worth.

    Args:
        words: the question's words.
        postings: the words of the memories that hold, and of no others: how rare a word is counts
            among them.
    """
    memories = len(postings.lengths)
    hits = _hits(words, postings)
    if not len(hits.rows):
        return WordScores(bm25=np.zeros(memories), share=np.zeros(memories), hits=hits)
    holding = np.bincount(hits.words, minlength=len(words))
    # Never negative, as a word in more than half of all memories would otherwise make it.
    weights = np.log1p((memories - holding + 0.5) / (holding + 0.5))
    mean = max(float(postings.lengths.mean()), 1.0)
    norms = K1 * (1 - B + B * postings.lengths[hits.rows] / mean)
    weight = weights[hits.words]
    bm25 = weight * hits.counts * (K1 + 1) / (hits.counts + norms)
    share = np.bincount(hits.rows, weight, memories) / weights.sum()
    return WordScores(
        bm25=np.asarray(np.bincount(hits.rows, bm25, memories), dtype=np.float64),
        # In whatever order they are added up, what is matched is no more than the whole.
        share=np.minimum(share, 1.0),
        hits=hits,
    )


def _hits(words: Sequence[Word], postings: Postings) -> Hits:
    """Return which memory holds which word: a word of several forms once, by what comes most."""
    of_form = sorted((form, place) for place, word in enumerate(words) for form in word.forms)
    forms = np.array([form for form, _ in of_form], dtype=np.uint32)
    places = np.array([place for _, place in of_form], dtype=np.int64)
    matches = postings.of(forms)
    rows, which, counts = matches.rows, matches.which, matches.counts
    if len(of_form) == len(words):
        return Hits(rows=rows, words=places[which], counts=counts)
    # A form may be that of several words, which then stand one behind the other.
    beyond = np.searchsorted(forms, forms, side="right")[which]
    each = beyond - which
    which = np.repeat(beyond - np.cumsum(each), each) + np.arange(each.sum())
    rows, counts = np.repeat(rows, each), np.repeat(counts, each)
    pairs, first = np.unique(rows * len(words) + places[which], return_inverse=True)
    most = np.zeros(len(pairs), dtype=np.uint32)
    np.maximum.at(most, first, counts)
    return Hits(rows=pairs // len(words), words=pairs % len(words), counts=most)
