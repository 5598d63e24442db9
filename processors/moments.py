"""Dates in words, resolved against the time of the turn in which they were said.

"Yesterday" is the day before the turn in the zone of the turn, whenever and wherever a worker reads
it, so a replay years later gives the same date. How precise the words were is kept: "in 2019" is a
year that begins on 1 January, which is not the same as 1 January.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from schemas.memory import Precision

MONTHS: Final = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
WEEKDAYS: Final = (
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
)
_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        ("", "a an one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    )
    for word in words.split()
} | {"eleven": 11, "twelve": 12, "a couple of": 2}
_YEAR_MIN: Final = 1900
"""A number below is no year of anybody's life."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """A period that words named.

    Attributes:
        start: when it begins, in UTC; never after the time it was said.
        first_day: its first day in the zone of the turn.
        precision: how long it is.
        span: where the words stand in the text, as offsets of code points.
    """

    start: datetime
    first_day: date
    precision: Precision
    span: tuple[int, int]

    @property
    def spelled(self) -> str:
        """The period in absolute words, as precise as it was told and no more."""
        day = self.first_day
        month = MONTHS[day.month - 1].capitalize()
        match self.precision:
            case Precision.YEAR:
                return str(day.year)
            case Precision.MONTH:
                return f"{month} {day.year}"
            case Precision.WEEK:
                return f"the week of {day.day} {month} {day.year}"
            case _:
                return f"{day.day} {month} {day.year}"


def find_moment(text: str, *, said_at: datetime, utc_offset_minutes: int) -> Moment | None:
    """Return the first past or present period that ``text`` names, or ``None``.

    Args:
        text: English text; it is searched whole.
        said_at: the time of the turn, aware.
        utc_offset_minutes: the zone of the turn, east of UTC.
    """
    # No tzinfo: it refuses an offset of a whole day, which a turn may carry.
    offset = timedelta(minutes=utc_offset_minutes)
    today = (said_at.astimezone(UTC) + offset).date()
    for found in _EXPRESSION.finditer(text):
        resolved = _resolved(found, today)
        if resolved is None:
            continue
        first_day, precision = resolved
        start = datetime.combine(first_day, time(), tzinfo=UTC) - offset
        if start <= said_at:
            return Moment(start=start, first_day=first_day, precision=precision, span=found.span())
    return None


_MONTH: Final = "|".join((*MONTHS, "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec"))
_COUNT: Final = r"\d{1,3}|a\ couple\ of|" + "|".join(
    sorted((word for word in _NUMBERS if " " not in word), key=len, reverse=True)
)
_EXPRESSION: Final = re.compile(
    rf"""\b(?:(?:since|from|on|in|back\ in|as\ of|starting|ever\ since|the\ year)\s+){{0,2}}(?:
        (?P<iso>(?:19|20)\d\d-\d\d-\d\d)
      | (?P<before_yesterday>(?:the\s+)?day\s+before\s+yesterday)
      | (?P<yesterday>yesterday|last\s+night)
      | (?P<today>today|this\s+(?:morning|afternoon|evening)|tonight)
      | (?P<this>this|earlier\s+this)\s+(?P<this_unit>week|month|year)
      | last\s+(?P<last_unit>week|month|year)
      | last\s+(?P<weekday>{"|".join(WEEKDAYS)})
      | (?P<ago>{_COUNT})\s+(?P<ago_unit>day|week|month|year)s?\s+ago
      | for\s+(?:(?:the\s+(?:last|past)|about|over|almost|nearly|around|more\s+than)\s+)?
        (?P<lasting>{_COUNT})\s+(?P<lasting_unit>day|week|month|year)s?\b
      | (?:the\s+)?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<day_month>{_MONTH})\.?
        ,?\s+(?P<day_year>(?:19|20)\d\d)
      | (?P<us_month>{_MONTH})\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+
        (?P<us_year>(?:19|20)\d\d)
      | (?P<month>{_MONTH})\.?,?\s+(?:of\s+)?(?P<month_year>(?:19|20)\d\d)
      | last\s+(?P<last_month>{_MONTH})
      | (?<=since\s)(?P<since_month>{_MONTH})
      | (?<=in\s)(?P<in_month>{"|".join(month for month in MONTHS if month != "may")})
      | (?<=\bin\s)(?P<in_year>(?:19|20)\d\d)(?![-/\d])
      | (?<=since\s)(?P<since_year>(?:19|20)\d\d)(?![-/\d])
    )\b""",
    re.IGNORECASE | re.VERBOSE,
)

_Resolved = tuple[date, Precision] | None


def _resolved(found: re.Match[str], today: date) -> _Resolved:
    words = {name: text.lower() for name, text in found.groupdict().items() if text is not None}
    for names, resolve in _RESOLVERS:
        if names <= words.keys():
            try:
                return resolve(words, today)
            except (ValueError, OverflowError):
                return None  # "31 February 2020", or a time before the calendar
    return None


def _month_number(word: str) -> int:
    return next(index for index, month in enumerate(MONTHS, 1) if month.startswith(word[:3]))


def _days_back(today: date, days: int) -> _Resolved:
    return today - timedelta(days=days), Precision.DAY


def _ago(unit: str, count: int, today: date) -> _Resolved:
    match unit:
        case "day":
            return _days_back(today, count)
        case "week":
            monday = today - timedelta(days=today.weekday())
            return monday - timedelta(weeks=count), Precision.WEEK
        case "month":
            months = today.year * 12 + today.month - 1 - count
            return date(months // 12, months % 12 + 1, 1), Precision.MONTH
        case _:
            return _year(today.year - count)


def _weekday(word: str, today: date) -> _Resolved:
    back = (today.weekday() - WEEKDAYS.index(word)) % 7 or 7
    return _days_back(today, back)


def _latest_month(word: str, today: date) -> _Resolved:
    """Return the latest month of that name that is over: in June, "last March" is this year's."""
    month = _month_number(word)
    year = today.year if month < today.month else today.year - 1
    return date(year, month, 1), Precision.MONTH


def _begun_month(word: str, today: date) -> _Resolved:
    """Return the latest month of that name that has begun."""
    month = _month_number(word)
    year = today.year if month <= today.month else today.year - 1
    return date(year, month, 1), Precision.MONTH


def _count(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[" ".join(word.split())]


def _year(year: int) -> _Resolved:
    return (date(year, 1, 1), Precision.YEAR) if year >= _YEAR_MIN else None


def _day(year: str, month: str, day: str) -> _Resolved:
    return date(int(year), _month_number(month), int(day)), Precision.DAY


_RESOLVERS: Final[
    tuple[tuple[frozenset[str], Callable[[dict[str, str], date], _Resolved]], ...]
] = tuple(
    (frozenset(names.split()), resolve)
    for names, resolve in (
        ("iso", lambda words, _: (date.fromisoformat(words["iso"]), Precision.DAY)),
        ("before_yesterday", lambda _, today: _days_back(today, 2)),
        ("yesterday", lambda _, today: _days_back(today, 1)),
        ("today", lambda _, today: _days_back(today, 0)),
        ("this_unit", lambda words, today: _ago(words["this_unit"], 0, today)),
        ("last_unit", lambda words, today: _ago(words["last_unit"], 1, today)),
        ("weekday", lambda words, today: _weekday(words["weekday"], today)),
        (
            "ago ago_unit",
            lambda words, today: _ago(words["ago_unit"], _count(words["ago"]), today),
        ),
        (
            "lasting lasting_unit",
            lambda words, today: _ago(words["lasting_unit"], _count(words["lasting"]), today),
        ),
        (
            "day day_month day_year",
            lambda words, _: _day(words["day_year"], words["day_month"], words["day"]),
        ),
        (
            "us_month us_day us_year",
            lambda words, _: _day(words["us_year"], words["us_month"], words["us_day"]),
        ),
        (
            "month month_year",
            lambda words, _: (
                date(int(words["month_year"]), _month_number(words["month"]), 1),
                Precision.MONTH,
            ),
        ),
        ("last_month", lambda words, today: _latest_month(words["last_month"], today)),
        ("since_month", lambda words, today: _begun_month(words["since_month"], today)),
        ("in_month", lambda words, today: _begun_month(words["in_month"], today)),
        ("in_year", lambda words, _: _year(int(words["in_year"]))),
        ("since_year", lambda words, _: _year(int(words["since_year"]))),
    )
)
