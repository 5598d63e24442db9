"""The clock that everything reads unless it is given another one."""

from __future__ import annotations

from datetime import UTC, datetime


def utc_now() -> datetime:
    """Return the current time, aware, in UTC."""
    return datetime.now(UTC)
