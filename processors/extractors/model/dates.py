"""Dates of an answer, resolved against the turn's own time and zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from schemas.memory import Precision

_DATE: Final = re.compile("(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?")
_YEAR_MIN: Final = 1000
_YEAR_MAX: Final = 9000
"""Between these the ends of a period and every zone stay within the calendar of the language."""


class WrongDate(ValueError):
    """A text that should be a date, a month, a year or empty is none of them."""


def period_start(text: str, *, utc_offset_minutes: int) -> datetime | None:
    """Return when a period begins in a zone, in UTC; ``None`` for an empty text.

    Args:
        text: ``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY`` or empty.
        utc_offset_minutes: the zone, east of UTC.

    Raises:
        WrongDate: it is none of these, or no day of the calendar.
    """
    days = _days(text)
    return None if days is None else _midnight(days[0], utc_offset_minutes)


def precision_of(text: str) -> Precision:
    """Return how exactly a text of one of the shapes of :func:`period_start` tells a time."""
    match text.count("-"):
        case 0 if text:
            return Precision.YEAR
        case 1:
            return Precision.MONTH
        case 2:
            return Precision.DAY
    return Precision.MOMENT


def period_end(text: str, *, utc_offset_minutes: int) -> datetime | None:
    """Return when a period is over in a zone, in UTC: the first moment after its last day.

    Args:
        text: as for :func:`period_start`.
        utc_offset_minutes: the zone, east of UTC.

    Raises:
        WrongDate: it is none of these, or no day of the calendar.
    """
    days = _days(text)
    return None if days is None else _midnight(days[1], utc_offset_minutes)


def local_day(moment: datetime, *, utc_offset_minutes: int) -> date:
    """Return the day that it is in a zone."""
    # No tzinfo: it refuses an offset of a whole day, which a turn may carry.
    return (moment.astimezone(UTC) + timedelta(minutes=utc_offset_minutes)).date()


def _days(text: str) -> tuple[date, date] | None:
    """Return the first day of a period and the first one after it."""
    if not text:
        return None
    found = _DATE.fullmatch(text)
    if found is None:
        raise WrongDate("it is neither YYYY-MM-DD nor YYYY-MM nor YYYY nor empty")
    year, month, day = (int(part) if part else None for part in found.groups())
    if year is None or not _YEAR_MIN <= year <= _YEAR_MAX:
        raise WrongDate("its year is out of range")
    try:
        if month is None:
            return date(year, 1, 1), date(year + 1, 1, 1)
        if day is None:
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        first = date(year, month, day)
    except ValueError:
        raise WrongDate("there is no such day") from None
    return first, first + timedelta(days=1)


def _midnight(day: date, utc_offset_minutes: int) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC) - timedelta(minutes=utc_offset_minutes)
