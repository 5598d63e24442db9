"""Words as bytes: what is packed is found again, and fits beside a vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.words.analysis import document_words
from projections.words.postings import (
    WITHOUT_WORDS,
    forms_max,
    packed_words,
    unpacked_words,
)

_ENTRY_BYTES_MAX = 2_704
_OTHERS = 300  # see test_recall_index, which stores the longest entry


@given(st.lists(st.text(max_size=60), max_size=8))
def test_rows_stand_one_behind_the_other_and_are_told_apart(contents: list[str]) -> None:
    found = unpacked_words(b"".join(packed_words(content, 384) for content in contents))
    assert found.lengths.tolist() == [document_words(content).length for content in contents]
    ends = [*found.begins[1:].tolist(), len(found.numbers)]
    for row, content in enumerate(contents):
        numbers = found.numbers[int(found.begins[row]) + 2 : ends[row]].tolist()
        counts = {form: min(count, 15) for form, count in document_words(content).counts.items()}
        assert {number >> 4: number & 15 for number in numbers} == counts


def test_a_text_without_words_is_the_bytes_that_stand_for_it() -> None:
    assert packed_words("...", 384) == WITHOUT_WORDS
    assert unpacked_words(WITHOUT_WORDS).lengths.tolist() == [0]


def test_what_stands_in_front_of_the_words_of_a_memory_is_no_word() -> None:
    packed = packed_words("tea", 384)
    begins = [number >> 4 for number in (0, 2)]  # how it begins, and one word and one
    for form in begins:
        assert form not in document_words("tea").counts
        matches = unpacked_words(packed).of(np.array([form], dtype=np.uint32))
        assert (matches.rows.tolist(), matches.counts.tolist()) == ([], [])


@pytest.mark.parametrize("dimension", [4, 384, 768, 1000])
def test_the_words_of_the_longest_text_fit_beside_a_vector(dimension: int) -> None:
    longest = packed_words(" ".join(f"word{number}" for number in range(5_000)), dimension)
    assert len(longest) + 2 * dimension + _OTHERS <= _ENTRY_BYTES_MAX
    assert forms_max(dimension) >= 90


def test_of_a_long_text_the_first_words_are_kept_and_its_whole_length() -> None:
    text = " ".join(f"word{number}" for number in range(1_000))
    found = unpacked_words(packed_words(text, 384))
    forms = [number >> 4 for number in found.numbers[2:].tolist()]
    assert forms == list(document_words(text).counts)[: forms_max(384)]
    assert found.lengths.tolist() == [1_000]


_FORMS = st.integers(0, 3).flatmap(
    # Some are alike in their high bits.
    lambda low: st.integers(0, 3).map(lambda high: (high << 20) | low)
)


@given(st.lists(st.lists(_FORMS, max_size=6, unique=True), max_size=8), st.sets(_FORMS))
def test_forms_are_found_where_they_stand_and_nowhere_else(
    memories: list[list[int]], asked: set[int]
) -> None:
    numbers = [
        number
        for forms in memories
        for number in (0, len(forms) + 1, *((form << 4) | 1 for form in forms))
    ]
    forms = np.array(sorted(asked), dtype=np.uint32)
    matches = unpacked_words(np.array(numbers, dtype="<u4").tobytes()).of(forms)
    assert matches.counts.tolist() == [1] * len(matches.rows)
    found = list(zip(matches.rows.tolist(), forms[matches.which].tolist(), strict=True))
    assert found == [
        (row, form) for row, forms in enumerate(memories) for form in forms if form in asked
    ]
