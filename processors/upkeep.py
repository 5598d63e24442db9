"""What a worker does beside the turns, again and again: looking for what is due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from processors import metrics
from schemas.errors import MemledgerError
from schemas.tasks import end_tasks

logger = logging.getLogger(__name__)


async def look_again_and_again(
    look: Callable[[], Awaitable[int]], stop: asyncio.Event, *, every_s: float, what: str
) -> None:
    """Look until ``stop`` is set; no failure ends it.

    Args:
        look: looks once and returns how much was due.
        stop: ends it.
        every_s: the pause between two looks, in seconds.
        what: what is looked for, for the log.
    """
    stopped = asyncio.ensure_future(stop.wait())
    try:
        while not stop.is_set():
            try:
                found = await look()
                if found:
                    logger.info("%s: %d", what, found)
            except MemledgerError as error:
                metrics.RETRIES.labels(type(error).__name__).inc()
                logger.warning("%s: later, since %s", what, error)
            except Exception:
                # Ending here would leave everything due until a restart.
                logger.exception("%s failed unexpectedly; trying again", what)
            await asyncio.wait([stopped], timeout=every_s)
    finally:
        await end_tasks([stopped])
