"""BM25 against its formula, written out for one word and one memory at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.words.analysis import question_words
from projections.words.bm25 import K1, B, WordScores, word_scores
from projections.words.postings import packed_words, unpacked_words

_WORDS = ("tea", "rust", "oslo", "violin", "garden")
_texts = st.lists(st.sampled_from(_WORDS), min_size=0, max_size=12).map(" ".join)


def _scored(question: str, memories: Sequence[str]) -> WordScores:
    packed = b"".join(packed_words(memory, 384) for memory in memories)
    return word_scores(question_words(question), unpacked_words(packed))


def _by_formula(asked: Sequence[str], memories: Sequence[str]) -> list[float]:
    held = [memory.split() for memory in memories]
    mean = max(sum(map(len, held)) / len(held), 1)
    scores = [0.0] * len(held)
    for word in asked:
        holding = sum(word in words for words in held)
        weight = math.log(1 + (len(held) - holding + 0.5) / (holding + 0.5))
        for place, words in enumerate(held):
            count = words.count(word)
            norm = K1 * (1 - B + B * len(words) / mean)
            scores[place] += weight * count * (K1 + 1) / (count + norm)
    return scores


@given(st.lists(_texts, min_size=1, max_size=8), st.lists(st.sampled_from(_WORDS), unique=True))
def test_scores_are_those_of_the_formula(memories: list[str], asked: list[str]) -> None:
    found = _scored(" ".join(asked), memories)
    assert found.bm25.tolist() == pytest.approx(_by_formula(asked, memories))
    assert all(0 <= share <= 1 for share in found.share)


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    found = _scored("tea rust", ["tea"] * 9 + ["rust"])
    assert found.bm25[-1] > found.bm25[0] > 0
    assert found.share[-1] > 0.5 > found.share[0]


def test_the_share_is_of_all_that_is_asked_and_no_best_hit_is_the_whole() -> None:
    found = _scored("violin lessons in oslo", ["likes tea in oslo", "likes tea"])
    # Two of three words stand nowhere, so the only hit covers less than half.
    assert 0 < found.share[0] < 0.5
    assert found.share[1] == 0


def test_a_form_of_another_language_counts_once() -> None:
    question = "Was ist mit den Allergien?"
    (word,) = question_words(question)
    assert len(word.forms) == 2
    # The second holds both forms, and one word all the same.
    one, both = _scored(question, ["Hat eine Allergie", "Hat die Allergien"]).bm25
    assert one == both > 0


def test_nothing_is_scored_where_nothing_is_held_or_asked() -> None:
    assert _scored("tea", []).bm25.tolist() == []
    assert _scored("hello", ["tea"]).share.tolist() == [0.0]
