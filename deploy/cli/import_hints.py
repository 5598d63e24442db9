"""Telling a user whose import left no memory what would."""

from __future__ import annotations

import asyncio
import re
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
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})")


class ClosedTurns(Protocol):
    """Tells how turns closed."""

    async def closings(self, turns: Mapping[UUID, Collection[UUID]]) -> Counter[str]:
        """Return how many of some turns, by subject, closed in which way."""
        ...


async def hint_for(
    extractor: str,
    generation: str,
    appended: Collection[tuple[UUID, UUID]],
    projected: ClosedTurns,
) -> str | None:
    """Return a hint where the rules found nothing in the first turns of an import, or ``None``.

    A pipeline that is slow is no reason to say nothing: when the wait is over, the hint goes by the
    turns that closed by then, and where none did it says what to do if nothing comes of them.

    Args:
        extractor: the pipeline's.
        generation: the pipeline's.
        appended: subject and turn of the first turns that were appended.
        projected: tells what became of them.
    """
    if extractor != _RULES or not appended:
        return None
    turns: dict[UUID, list[UUID]] = {}
    for subject, turn_id in appended:
        turns.setdefault(subject, []).append(turn_id)
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            closings = await projected.closings(turns)
        except ReadModelUnavailable:
            return None
        if closings.keys() - {Closing.NOTHING_FOUND}:
            return None
        if closings.total() == len(appended) or time.monotonic() >= deadline:
            return _hint(closings.total(), generation)
        await asyncio.sleep(_POLL_S)


def _hint(closed: int, generation: str) -> str:
    beginning = (
        f"the extractor `rules` found nothing in the first {closed:,} turns: it knows plain "
        "statements in English alone. To keep every turn as it was said"
        if closed
        else "the extractor `rules` has not come to these turns yet, and knows plain statements in "
        "English alone. If `memledger memories` stays empty, keep every turn as it was said"
    )
    return (
        f"{beginning}: run `memledger down`, then `MEMLEDGER_EXTRACTOR=verbatim "
        f"MEMLEDGER_GENERATION={_next(generation)} memledger up --detach`. The import need not be "
        "repeated: a new generation reads every turn from the log"
    )


def _next(generation: str) -> str:
    """Return a name for the generation behind one: ``g2`` for ``g1``."""
    numbered = _NUMBERED.fullmatch(generation)
    return "verbatim" if numbered is None else f"{numbered[1]}{int(numbered[2]) + 1}"
