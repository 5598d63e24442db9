"""Dates of an answer: as precise as they were told, in the turn's own zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.dates import WrongDate, local_day, period_end, period_start

INDIA = 330


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-03-01", "2026-02-28T18:30", "2026-03-01T18:30"),
        ("2026-12-31", "2026-12-30T18:30", "2026-12-31T18:30"),
        ("2024-02-29", "2024-02-28T18:30", "2024-02-29T18:30"),
        ("2026-02", "2026-01-31T18:30", "2026-02-28T18:30"),
        ("2026-12", "2026-11-30T18:30", "2026-12-31T18:30"),
        ("2026", "2025-12-31T18:30", "2026-12-31T18:30"),
    ],
)
def test_a_period_begins_and_ends_at_midnight_where_the_user_is(
    text: str, start: str, end: str
) -> None:
    found = (
        period_start(text, utc_offset_minutes=INDIA),
        period_end(text, utc_offset_minutes=INDIA),
    )

    assert found == tuple(
        datetime.fromisoformat(moment).replace(tzinfo=UTC) for moment in (start, end)
    )


def test_nothing_said_is_no_date() -> None:
    assert period_start("", utc_offset_minutes=0) is None
    assert period_end("", utc_offset_minutes=0) is None


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "2026-13", "2026-00-01", "0000", "9999-12-31", "26", "2026-1-1", "tomorrow",
     "2026-03-01T10:00:00Z", "2026/03/01", " ", "٢٠٢٦"],
)  # fmt: skip
def test_what_is_no_date_is_told(text: str) -> None:
    with pytest.raises(WrongDate):
        period_start(text, utc_offset_minutes=0)
    with pytest.raises(WrongDate):
        period_end(text, utc_offset_minutes=0)


@given(
    text=st.dates().map(str) | st.from_regex(r"\d{4}(-\d{2}(-\d{2})?)?", fullmatch=True),
    offset=st.integers(-1440, 1440),
)
def test_any_date_in_any_zone_is_a_period_or_wrong(text: str, offset: int) -> None:
    try:
        start = period_start(text, utc_offset_minutes=offset)
        end = period_end(text, utc_offset_minutes=offset)
    except WrongDate:
        return
    assert start is not None
    assert end is not None
    assert start < end
    assert str(local_day(start, utc_offset_minutes=offset)).startswith(text)
