"""Positions and moments as clients send them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from projections.moments import read_moment
from projections.positions import TurnPosition
from schemas.errors import InvalidInput


def test_a_position_reads_back_as_it_was_written() -> None:
    position = TurnPosition.parse("at_least", "3:1042")

    assert (position.partition, position.offset) == (3, 1042)
    assert str(position) == "3:1042"


@pytest.mark.parametrize(
    "text",
    ["", "3", "3:", ":5", "3:5:1", "-1:5", "3:x", " 3:5", "3:\u0665", "3:5\n", "3:" + "9" * 19],
)
def test_what_is_no_position_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"at_least: is not a position; .*POST /v1/turns"):
        TurnPosition.parse("at_least", text)


@pytest.mark.parametrize(
    "text", ["2026-03-01T10:30:00+01:00", "2026-03-01T09:30:00Z", "2026-03-01t09:30:00z"]
)
def test_a_moment_is_brought_to_utc(text: str) -> None:
    assert read_moment("as_of", text) == datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
    assert read_moment("as_of", text).tzinfo is UTC


@pytest.mark.parametrize("text", ["2026-03-01", "20260301", "2026-W09-7"])
def test_a_date_alone_is_the_end_of_that_day_in_utc(text: str) -> None:
    assert read_moment("as_of", text) == datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("yesterday", "not an ISO 8601 time"),
        ("1767225600", "not an ISO 8601 time"),
        ("", "not an ISO 8601 time"),
        ("2026-02-30", "not in the calendar"),
        ("2026-03", "not an ISO 8601 time"),
        ("2026-03-01T09:30:00", "names no time zone"),
        ("2026-03-01T09:30:00 01:00", "not an ISO 8601 time"),
        ("0001-01-01T00:00:00+01:00", "beyond the calendar"),
        ("9999-12-31T23:59:59-01:00", "beyond the calendar"),
    ],
)
def test_what_is_no_moment_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=f"as_of: .*{problem}"):
        read_moment("as_of", text)
