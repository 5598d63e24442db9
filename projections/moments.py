"""Moments that a question asks about: any time with its zone, also one to come."""

from __future__ import annotations

from datetime import UTC, datetime

from schemas.errors import InvalidInput
from schemas.text import read_iso_8601


def read_moment(field: str, value: str) -> datetime:
    """Return the moment that an ISO 8601 text names, in UTC.

    Args:
        field: the field's name, as the caller spells it.
        value: date, time and zone, such as ``2026-03-01T09:30:00+01:00``.

    Raises:
        InvalidInput: it is not such a time, names no zone, or lies beyond the calendar in UTC.
    """
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
