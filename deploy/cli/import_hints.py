"""Telling a user whose import left no memory what would."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Protocol
from uuid import UUID

from schemas.errors import ReadModelUnavailable
from schemas.records import Closing

WAIT_S: Final = 5.0
"""How long an import waits to see what became of its first turns."""

_POLL_S: Final = 0.2
_RULES: Final = "rules"


class ClosedTurns(Protocol):
    """Tells how turns closed."""

    async def closings(self, turns: Mapping[UUID, Collection[UUID]]) -> Counter[str]:
        """Return how many of some turns, by subject, closed in which way."""
        ...


async def hint_for(
    extractor: str, appended: Collection[tuple[UUID, UUID]], projected: ClosedTurns
) -> str | None:
    """Return a hint where the rules found nothing in the first turns of an import, or ``None``.

    Args:
        extractor: the pipeline's.
        appended: subject and turn of the first turns that were appended.
        projected: tells what became of them.
    """
    if extractor != _RULES or not appended:
        return None
    turns: dict[UUID, list[UUID]] = {}
    for subject, turn_id in appended:
        turns.setdefault(subject, []).append(turn_id)
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        try:
            closings = await projected.closings(turns)
        except ReadModelUnavailable:
            return None
        if closings.keys() - {Closing.NOTHING_FOUND}:
            return None
        if closings.total() == len(appended):
            return (
                f"the extractor `rules` found nothing in the first {len(appended):,} turns: it "
                "knows plain statements in English alone. With MEMLEDGER_EXTRACTOR=verbatim and a "
                "MEMLEDGER_GENERATION of its own, every turn is kept as it was said"
            )
        await asyncio.sleep(_POLL_S)
    return None
