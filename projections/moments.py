"""Moments that a question asks about: any time with its zone or any day, also one to come."""

from __future__ import annotations

from datetime import UTC, date, datetime, time

from schemas.errors import InvalidInput
from schemas.text import DATE_ALONE, read_iso_8601


def read_moment(field: str, value: str) -> datetime:
    """Return the moment that an ISO 8601 text names, in UTC.

    A date alone means its last microsecond in UTC: what held as of a day is what held at its end.

    Args:
        field: the field's name, as the caller spells it.
        value: date, time and zone, such as ``2026-03-01T09:30:00+01:00``, or a date alone.

    Raises:
        InvalidInput: it is not such a time, names no zone, or lies beyond the calendar in UTC.
    """
    if DATE_ALONE.fullmatch(value):
        return _end_of_day(field, value)
    try:
        moment = read_iso_8601(field, value)
    except InvalidInput as error:
        raise InvalidInput(
            field=field,
            problem=error.problem,
            remedy=f"{error.remedy}; in an address a + is spelled %2B",
        ) from None
    if moment.utcoffset() is None:
        raise InvalidInput(
            field=field,
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00; in an address a + is spelled %2B",
        )
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(
            field=field,
            problem="lies beyond the calendar",
            remedy="send a time between the years 1 and 9999 in UTC",
        ) from None


def _end_of_day(field: str, value: str) -> datetime:
    try:
        return datetime.combine(date.fromisoformat(value), time.max, UTC)
    except ValueError:
        raise InvalidInput(
            field=field,
            problem="is not in the calendar",
            remedy="send a day that there is, such as 2026-03-01, or a time with its zone",
        ) from None
