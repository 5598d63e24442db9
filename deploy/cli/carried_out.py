"""Seeing through what was appended: how its record closed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Protocol
from uuid import UUID

from schemas.errors import ReadModelUnavailable
from schemas.records import Closing

WAIT_S: Final = 30.0
"""How long a record is waited for to be carried out, unless told otherwise."""

_POLL_S: Final = 0.1


class ClosedTurns(Protocol):
    """Tells how records of the turns topic closed."""

    async def closings(self, turns: Mapping[UUID, Collection[UUID]]) -> Counter[str]:
        """Return how many of some records, by subject, closed in which way."""
        ...


async def closing_of(
    closed: ClosedTurns, *, subject: UUID, record_id: UUID, timeout_s: float
) -> Closing | None:
    """Wait until a record is closed and return how; ``None`` where that takes too long.

    A read model that cannot be reached is asked again: it may come back in time, and what was
    appended stands.

    Args:
        closed: tells how records closed.
        subject: whose record it is.
        record_id: its id.
        timeout_s: how long to wait, in seconds.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            closings = await closed.closings({subject: [record_id]})
        except ReadModelUnavailable:
            closings = Counter()
        closing = next(iter(closings), None)
        if closing is not None:
            return Closing(closing)
        if time.monotonic() >= deadline:
            return None
        await asyncio.sleep(_POLL_S)
