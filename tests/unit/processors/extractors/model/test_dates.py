"""Dates of an answer: as precise as they were told, in the turn's own zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.extractors.model.dates import (
    WrongDate,
    local_day,
    period_end,
    period_start,
    precision_of,
)
from schemas.memory import Precision

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


@pytest.mark.parametrize(
    "text",
    ["", " ", "-", "never", "Never.", "none", "None", "N/A", "n/a", "null", "no", "unknown",
     "9999", "9999-12", "9999-12-31", "9000-01-01", "0000", "0001-01-01", "0001", "0999-12-31",
     "9999-99-99"],
)  # fmt: skip
def test_nothing_said_is_no_date(text: str) -> None:
    assert period_start(text, utc_offset_minutes=0) is None
    assert period_end(text, utc_offset_minutes=0) is None
    assert precision_of(text) is Precision.MOMENT


@pytest.mark.parametrize(
    ("text", "precision"),
    [("2026", Precision.YEAR), ("2026-03", Precision.MONTH), ("2026-03-01", Precision.DAY)],
)
def test_how_exactly_a_date_is_told(text: str, precision: Precision) -> None:
    assert precision_of(text) is precision


@pytest.mark.parametrize(
    "text",
    ["2026-02-29", "2026-13", "2026-00-01", "26", "2026-1-1", "tomorrow", "nevermore",
     "2026-03-01T10:00:00Z", "2026/03/01", "12026", "٢٠٢٦"],
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
    if start is None or end is None:
        assert start is end
        return
    assert start < end
    assert str(local_day(start, utc_offset_minutes=offset)).startswith(text)
