"""Seeing through what was appended: how its record closed, and which rules refused it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar
from uuid import UUID

import click

from projections.turns import ClosedRecord
from schemas.errors import ReadModelUnavailable

WAIT_S: Final = 30.0
"""How long a record is waited for to be carried out, unless told otherwise."""

_POLL_S: Final = 0.1

Verb = TypeVar("Verb", bound=Callable[..., Any])


def wait_option(told: str, *, seconds: float = WAIT_S) -> Callable[[Verb], Verb]:
    """Return what adds ``--timeout`` to a verb.

    Args:
        told: its help.
        seconds: how long it is waited, unless told otherwise.
    """
    return click.option(
        "--timeout",
        type=click.FloatRange(0, 3600),
        default=seconds,
        show_default=True,
        help=told,
    )


class ClosedRecords(Protocol):
    """Tells how records of the turns topic closed."""

    async def closed(self, subject: UUID, record_id: UUID) -> ClosedRecord | None:
        """Return how a subject's record closed; ``None`` while it has not."""
        ...


async def carried_out(
    records: ClosedRecords, *, subject: UUID, record_id: UUID, timeout_s: float
) -> ClosedRecord | None:
    """Wait until a record is closed and return how; ``None`` where that takes too long.

    A read model that cannot be reached is asked again: it may come back in time, and what was
    appended stands.

    Args:
        records: tells how records closed.
        subject: whose record it is.
        record_id: its id.
        timeout_s: how long to wait, in seconds.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            closed = await records.closed(subject, record_id)
        except ReadModelUnavailable:
            closed = None
        if closed is not None or time.monotonic() >= deadline:
            return closed
        await asyncio.sleep(_POLL_S)


def with_rules(told: str, closed: ClosedRecord) -> str:
    """Return what something came to, with the names of the rules that refused it behind it."""
    rules = ", ".join(reason.value for reason in closed.reasons)
    return f"{told}: {rules}" if rules else told
