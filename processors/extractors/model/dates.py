"""Dates of an answer, resolved against the turn's own time and zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

from schemas.memory import Precision

_DATE: Final = re.compile("(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?")
_YEAR_MIN: Final = 1000
_YEAR_MAX: Final = 9000
"""Between these the ends of a period and every zone stay within the calendar of the language.

No user tells a time beyond them: where a model writes one, it stands for "never" or "not known".
"""

_NOTHING_TOLD: Final = frozenset(
    {"", "-", "--", "\u2013", "\u2014", "?", "0", "never", "none", "null", "nil", "no", "n/a", "na"}
    | {"n.a.", "not applicable", "unknown", "unspecified", "undefined", "not specified", "forever"}
    | {"no expiry", "no expiration", "indefinite", "indefinitely", "always", "ongoing"}
)
"""What models write into a field that is to stay empty."""


class WrongDate(ValueError):
    """A text that should be a date, a month, a year or empty is none of them.

    An empty one may be filled with a word for it ("never", "n/a"), or with a year that no user
    tells ("9999-12-31", "0001-01-01").
    """


def period_start(text: str, *, utc_offset_minutes: int) -> datetime | None:
    """Return when a period begins in a zone, in UTC; ``None`` where none is told.

    Args:
        text: ``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY`` or empty, or what models write for that.
        utc_offset_minutes: the zone, east of UTC.

    Raises:
        WrongDate: it is none of these, or no day of the calendar.
    """
    days = _days(text)
    return None if days is None else _midnight(days[0], utc_offset_minutes)


def precision_of(text: str) -> Precision:
    """Return how exactly a text of one of the shapes of :func:`period_start` tells a time."""
    found = _told(text)
    match -1 if found is None else found.group().count("-"):
        case 0:
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
    found = _told(text)
    if found is None:
        return None
    year, month, day = int(found["year"]), _number(found["month"]), _number(found["day"])
    try:
        if month is None:
            return date(year, 1, 1), date(year + 1, 1, 1)
        if day is None:
            return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)
        first = date(year, month, day)
    except ValueError:
        raise WrongDate("there is no such day") from None
    return first, first + timedelta(days=1)


def _told(text: str) -> re.Match[str] | None:
    """Return the parts of what is told; ``None`` where nothing is.

    Raises:
        WrongDate: it is neither.
    """
    if " ".join(text.casefold().split()).rstrip(".") in _NOTHING_TOLD:
        return None
    found = _DATE.fullmatch(text)
    if found is None:
        raise WrongDate("it is neither YYYY-MM-DD nor YYYY-MM nor YYYY nor empty")
    return found if _YEAR_MIN <= int(found["year"]) < _YEAR_MAX else None


def _number(part: str | None) -> int | None:
    return int(part) if part else None


def _midnight(day: date, utc_offset_minutes: int) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC) - timedelta(minutes=utc_offset_minutes)
