"""Dates in words are resolved against the turn, and stay as precise as they were told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.moments import Moment, find_moment
from schemas.memory import Precision

WEDNESDAY = datetime(2024, 6, 12, 15, 30, tzinfo=UTC)


def found(text: str, *, at: datetime = WEDNESDAY, offset: int = 0) -> Moment | None:
    return find_moment(text, said_at=at, utc_offset_minutes=offset)


@pytest.mark.parametrize(
    ("text", "start", "precision", "spelled"),
    [
        ("I moved yesterday", "2024-06-11", Precision.DAY, "11 June 2024"),
        ("the day before yesterday", "2024-06-10", Precision.DAY, "10 June 2024"),
        ("I started today", "2024-06-12", Precision.DAY, "12 June 2024"),
        ("last night", "2024-06-11", Precision.DAY, "11 June 2024"),
        ("3 days ago", "2024-06-09", Precision.DAY, "9 June 2024"),
        ("a week ago", "2024-06-03", Precision.WEEK, "the week of 3 June 2024"),
        ("last week", "2024-06-03", Precision.WEEK, "the week of 3 June 2024"),
        ("this week", "2024-06-10", Precision.WEEK, "the week of 10 June 2024"),
        ("a couple of weeks ago", "2024-05-27", Precision.WEEK, "the week of 27 May 2024"),
        ("last month", "2024-05-01", Precision.MONTH, "May 2024"),
        ("two months ago", "2024-04-01", Precision.MONTH, "April 2024"),
        ("six months ago", "2023-12-01", Precision.MONTH, "December 2023"),
        ("last year", "2023-01-01", Precision.YEAR, "2023"),
        ("3 years ago", "2021-01-01", Precision.YEAR, "2021"),
        ("for the last 5 years", "2019-01-01", Precision.YEAR, "2019"),
        ("last Monday", "2024-06-10", Precision.DAY, "10 June 2024"),
        ("last Wednesday", "2024-06-05", Precision.DAY, "5 June 2024"),
        ("last Friday", "2024-06-07", Precision.DAY, "7 June 2024"),
        ("since last March", "2024-03-01", Precision.MONTH, "March 2024"),
        ("since last June", "2023-06-01", Precision.MONTH, "June 2023"),
        ("since June", "2024-06-01", Precision.MONTH, "June 2024"),
        ("in December", "2023-12-01", Precision.MONTH, "December 2023"),
        ("in March 2020", "2020-03-01", Precision.MONTH, "March 2020"),
        ("since Sept 2020", "2020-09-01", Precision.MONTH, "September 2020"),
        ("since 2019", "2019-01-01", Precision.YEAR, "2019"),
        ("in 2019", "2019-01-01", Precision.YEAR, "2019"),
        ("on 5 March 2021", "2021-03-05", Precision.DAY, "5 March 2021"),
        ("on March 5th, 2021", "2021-03-05", Precision.DAY, "5 March 2021"),
        ("since 2021-03-05", "2021-03-05", Precision.DAY, "5 March 2021"),
    ],
)
def test_words_name_a_period(text: str, start: str, precision: Precision, spelled: str) -> None:
    moment = found(text)
    assert moment is not None
    assert moment.start == datetime.fromisoformat(start).replace(tzinfo=UTC)
    assert (moment.precision, moment.spelled) == (precision, spelled)


@pytest.mark.parametrize(
    "text",
    [
        "", "I live in Pune", "in 2050", "next week", "tomorrow", "for 2 hours", "31 February 2020",
        "in 1234", "in 20199", "999 years ago", "we may go", "version 2019", "room 2019",
        "on 31 December 2024", "\u6628\u65e5",
    ],
)  # fmt: skip
def test_other_words_name_none(text: str) -> None:
    assert found(text) is None


def test_an_impossible_date_does_not_hide_a_good_one() -> None:
    moment = found("not 31 February 2020 but in March 2021")
    assert moment is not None
    assert moment.spelled == "March 2021"


@pytest.mark.parametrize(
    ("offset", "start"),
    [
        (330, "2024-06-12T18:30:00+00:00"),
        (-480, "2024-06-11T08:00:00+00:00"),
        (0, "2024-06-11T00:00:00+00:00"),
    ],
)
def test_yesterday_is_that_of_the_turns_zone(offset: int, start: str) -> None:
    late = (
        datetime(2024, 6, 12, 22, tzinfo=UTC)
        if offset != 330
        else datetime(2024, 6, 13, 20, tzinfo=UTC)
    )
    moment = found("yesterday", at=late, offset=offset)
    assert moment is not None
    assert moment.start == datetime.fromisoformat(start)


def test_the_span_is_that_of_the_words() -> None:
    text = "I moved to Pune in March 2020 with my dog"
    moment = found(text)
    assert moment is not None
    assert text[slice(*moment.span)] == "in March 2020"


_WORDS = """
    yesterday today last week month year Monday 3 days weeks months years ago in since for
    2019 2031 March May 5 th , of the
"""
_words = st.sampled_from(tuple(_WORDS.split()))


@given(
    st.lists(_words, max_size=8).map(" ".join),
    st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive by the strategy's interface
    st.integers(-1440, 1440),
)
def test_a_period_never_begins_after_the_turn(text: str, at: datetime, offset: int) -> None:
    moment = found(text, at=at, offset=offset)
    if moment is not None:
        assert moment.start <= at
        local = moment.start + timedelta(minutes=offset)
        assert (local.hour, local.minute, local.date()) == (0, 0, moment.first_day)


@given(st.text(max_size=60))
def test_any_text_is_read_without_a_failure(text: str) -> None:
    found(text)
