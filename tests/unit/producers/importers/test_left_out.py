"""What was left out, in words."""

from __future__ import annotations

import pytest

from producers.importers.left_out import LeftOut, counted


@pytest.mark.parametrize("reason", LeftOut)
def test_every_reason_has_a_plural(reason: LeftOut) -> None:
    assert counted(1, reason) == f"1 {reason}"
    several = counted(1_204, reason)
    assert several.startswith("1,204 ")
    assert several != f"1,204 {reason}"


def test_plurals_are_english() -> None:
    assert counted(4, LeftOut.NO_QUESTION) == "4 assistant messages without a user message in front"
    assert counted(2, LeftOut.NOT_A_MESSAGE) == "2 entries that are not messages"
    assert counted(3, LeftOut.NOT_TEXT) == "3 parts that are not text"
    assert counted(2, LeftOut.PROFILE) == "2 messages that hold the user's profile or instructions"
    assert counted(5, LeftOut.COLUMN) == "5 values of an unknown column"
