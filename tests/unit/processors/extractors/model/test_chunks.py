"""A long text is cut into a bounded number of pieces, and its end is in one of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.chunks import (
    OVERLAP_CHARACTERS,
    PIECE_CHARACTERS,
    PIECES_MAX,
    groups_of,
    pieces_of,
)
from producers.turns_input import TEXT_CHARACTERS_MAX


def joined(pieces: list[str]) -> str:
    """Return the text that pieces were cut from."""
    text = pieces[0]
    for piece in pieces[1:]:
        overlap = text[-OVERLAP_CHARACTERS:]
        assert piece.startswith(overlap)
        text += piece[len(overlap) :]
    return text


def test_an_ordinary_turn_is_one_piece() -> None:
    assert pieces_of("I live in Bern.") == ["I live in Bern."]
    assert pieces_of("") == [""]
    assert len(pieces_of("x" * PIECE_CHARACTERS)) == 1


@pytest.mark.parametrize("sentence", ["I live in Bern. ", "緑茶が好きです。", "x", "a line\n", " "])
def test_the_longest_turn_is_read_to_its_end_in_pieces_of_the_documented_length(
    sentence: str,
) -> None:
    text = (sentence * TEXT_CHARACTERS_MAX)[:TEXT_CHARACTERS_MAX]

    pieces = pieces_of(text)

    assert len(pieces) == PIECES_MAX
    assert joined(pieces) == text
    assert max(map(len, pieces)) <= 1.15 * PIECE_CHARACTERS + OVERLAP_CHARACTERS


def test_cuts_are_made_between_paragraphs_before_sentences_before_words() -> None:
    text = "\n\n".join(f"Paragraph {number}. It has two sentences." for number in range(100))

    pieces = pieces_of(text, piece_characters=1_000)

    assert all(piece.endswith("\n\n") for piece in pieces[:-1])
    words = ("word " * 400).strip()
    assert all(piece.endswith(" ") for piece in pieces_of(words, piece_characters=500)[:-1])


@given(text=st.text(max_size=3_000), size=st.integers(1, 2_000))
def test_no_character_is_lost_and_the_number_is_bounded(text: str, size: int) -> None:
    pieces = pieces_of(text, piece_characters=size)

    assert 1 <= len(pieces) <= PIECES_MAX
    assert joined(pieces) == text


@given(
    texts=st.lists(st.text(max_size=400), min_size=1, max_size=30),
    beside=st.integers(0, 300),
    size=st.integers(50, 2_000),
)
def test_a_session_is_grouped_whole_and_in_order(texts: list[str], beside: int, size: int) -> None:
    groups = groups_of(texts, [beside] * len(texts), piece_characters=size)

    assert 1 <= len(groups) <= PIECES_MAX
    assert all(groups)
    parts = [part for group in groups for part in group]
    assert [part.index for part in parts] == sorted(part.index for part in parts)
    for index, text in enumerate(texts):
        assert joined([part.text for part in parts if part.index == index]) == text


def test_groups_of_a_long_session_are_about_equal() -> None:
    texts = [f"Turn {number} says something of its own." for number in range(2_000)]

    groups = groups_of(texts, [200] * len(texts))

    lengths = [sum(len(part.text) + 200 for part in group) for group in groups]
    assert len(groups) == PIECES_MAX
    assert max(lengths) < 1.1 * min(lengths)
