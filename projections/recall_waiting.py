"""Waiting until a subject's own turns are processed: what ``at_least`` asks for."""

from __future__ import annotations

import asyncio
import time
from typing import Final
from uuid import UUID

from projections.positions import TurnPosition
from projections.read_model import ReadModel
from projections.reading import read_rows
from schemas.errors import InvalidInput, NotCaughtUp
from schemas.queries import load_queries
from schemas.topics import TURNS

WAIT_S: Final = 5.0
"""How long ``at_least`` waits before it gives up."""

_QUERIES: Final = load_queries("projections", "sql/recall.sql")
_POLL_FIRST_S: Final = 0.01
_POLL_MAX_S: Final = 0.03
"""A turn is projected within 50 to 100 ms: a longer pause would be felt, a shorter one costs."""


async def wait_closed(
    read_model: ReadModel, subject: UUID, position: TurnPosition, *, partition: int, wait_s: float
) -> None:
    """Wait until every turn of a subject up to a position is closed.

    Args:
        read_model: the tables.
        subject: whose turns; a stranger's slow turn makes nobody wait.
        position: the last of them.
        partition: the subject's partition.
        wait_s: how long, in seconds.

    Raises:
        InvalidInput: the position lies in another partition.
        NotCaughtUp: they were not closed in time.
        ReadModelUnavailable: the read model cannot be reached.
    """
    if position.partition != partition:
        raise InvalidInput(
            field="at_least",
            problem=f"is a position in partition {position.partition}, where this user has no "
            "turns",
            remedy="send the position of a turn of the same user",
        )
    deadline = time.monotonic() + wait_s
    pause_s = _POLL_FIRST_S
    while not await _closed(read_model, subject, position):
        if time.monotonic() + pause_s > deadline:
            raise NotCaughtUp(
                f"the turns up to position {position} were not processed within "
                f"{wait_s:g} s: ask again, or leave out at_least"
            )
        await asyncio.sleep(pause_s)
        pause_s = min(pause_s * 2, _POLL_MAX_S)


async def _closed(read_model: ReadModel, subject: UUID, position: TurnPosition) -> bool:
    parameters = {
        "subject": subject,
        "turns_topic": TURNS,
        "partition": position.partition,
        "offset": position.offset,
    }
    rows = await read_rows(read_model, subject, _QUERIES["turns_closed"], parameters)
    return bool(rows[0]["closed"])
