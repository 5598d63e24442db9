"""Cutting the notes block out of a text: exactly the block, and what a cut message left of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.injection import BLOCK_END, BLOCK_START, FRAME, cut_injection

NOTES = ("- 2026-03-01: Lives in Lisbon.", "- 2025-01-01 to 2026-01-01 (about Ann): Was ill.")
BLOCK = "\n".join([BLOCK_START, FRAME, *NOTES, BLOCK_END])

_unmarked = st.text().filter(lambda text: BLOCK_START not in text and BLOCK_END not in text)


@given(_unmarked, _unmarked)
def test_exactly_the_block_is_cut(before: str, after: str) -> None:
    assert cut_injection(before + BLOCK + after) == before + after


@given(_unmarked)
def test_a_text_without_a_block_stays_as_it_is(text: str) -> None:
    assert cut_injection(text) == text


@given(st.lists(_unmarked, min_size=1, max_size=5))
def test_every_block_is_cut(parts: list[str]) -> None:
    assert cut_injection(BLOCK.join(parts)) == "".join(parts)


@pytest.mark.parametrize("length", range(len(BLOCK_START), len(BLOCK)))
def test_of_a_block_without_its_end_no_whole_note_is_left(length: int) -> None:
    left = cut_injection(f"Hello.\n{BLOCK[:length]}")

    assert left.startswith("Hello.\n")
    assert "Lisbon" not in left or "Lisbon." not in BLOCK[:length]
    for note in NOTES:
        assert note not in left
    assert FRAME not in left


@pytest.mark.parametrize("start", [1, len(BLOCK_START), len(BLOCK_START) + 1, 60])
def test_of_a_block_without_its_start_no_whole_note_is_left(start: int) -> None:
    left = cut_injection(f"{BLOCK[start:]}\nWhere do I live?")

    assert left.endswith("\nWhere do I live?")
    for note in NOTES:
        assert note not in left


def test_the_users_words_around_a_broken_block_stay() -> None:
    unended = "\n".join(["My list:", "- milk", BLOCK_START, FRAME, NOTES[0], "- eggs", "Thanks."])
    unstarted = "\n".join(["- milk", NOTES[1], BLOCK_END, "Thanks."])

    assert cut_injection(unended) == "My list:\n- milk\n- eggs\nThanks."
    assert cut_injection(unstarted) == "- milk\n\nThanks."


def test_an_unended_block_does_not_swallow_the_text_up_to_the_next() -> None:
    text = f"{BLOCK_START} I said this. {BLOCK} And that."

    assert cut_injection(text) == " I said this.  And that."


@given(st.lists(st.sampled_from([BLOCK_START, BLOCK_END, FRAME, *NOTES, "\n", "mine", "<"])))
def test_whatever_the_order_of_markers_no_word_of_the_user_is_lost(parts: list[str]) -> None:
    inside = False
    kept = 0
    for place, part in enumerate(parts):
        if part == BLOCK_START:
            following = next((p for p in parts[place + 1 :] if p in {BLOCK_START, BLOCK_END}), None)
            inside = following == BLOCK_END
        elif part == BLOCK_END:
            inside = False
        elif part == "mine" and not inside:
            kept += 1
    if not _glued_to_a_note(parts):
        assert cut_injection("".join(parts)).count("mine") == kept


def _glued_to_a_note(parts: list[str]) -> bool:
    """Whether a word stands behind a note on the same line: it counts as a part of the note."""
    on_the_line_of_a_note = False
    for part in parts:
        if part in {"\n", BLOCK_START, BLOCK_END}:
            on_the_line_of_a_note = False
        elif part in {FRAME, *NOTES}:
            on_the_line_of_a_note = True
        elif part == "mine" and on_the_line_of_a_note:
            return True
    return False


def test_many_markers_take_time_in_proportion() -> None:
    # A quadratic cut of this would take minutes; the run's time limit would end it.
    assert cut_injection(BLOCK_START * 200_000) == ""
    assert cut_injection(BLOCK_END * 200_000) == ""
