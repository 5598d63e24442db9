"""The times that exports tell."""

from __future__ import annotations

from datetime import datetime

from schemas import text
from schemas.errors import InvalidInput


def moment_of(value: object, *, now: datetime) -> datetime | None:
    """Return a time of an export in UTC, or ``None`` where it tells none that can be used.

    Args:
        value: any JSON value: an ISO 8601 text with its zone, or a number of seconds (or
            milliseconds) since 1970.
        now: the current time, aware; what lies in the future is no time that something was said.
    """
    try:
        if isinstance(value, str):
            return text.parse_moment("time", value, now=now)[0]
        # Zero is how some exports say that they do not know.
        if isinstance(value, int | float) and not isinstance(value, bool) and value:
            return text.parse_epoch("time", value, now=now)
    except InvalidInput:
        return None
    return None
