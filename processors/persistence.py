"""Taking a step again until every part that it needs is there."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from processors import metrics
from schemas.errors import KeyMissing, KeyringUnavailable, LogUnavailable, ReadModelUnavailable

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

BACKOFF_FIRST_S: Final = 0.2
_BACKOFF_MAX_S: Final = 5.0

_TRANSIENT: Final = (KeyringUnavailable, KeyMissing, LogUnavailable, ReadModelUnavailable)
"""What passes by itself or by an operator's hand, and never by skipping a turn."""


async def persistently(step: Callable[[], Awaitable[Result]], *, what: str) -> Result:
    """Return what a step gives, taken as often as it takes, ever more slowly.

    Args:
        step: the step; harmless to take again.
        what: what waits, for the log.

    Raises:
        Exception: what the step raised, where waiting would not help.
    """
    backoff_s = BACKOFF_FIRST_S
    while True:
        try:
            return await step()
        except _TRANSIENT as error:
            metrics.RETRIES.labels(type(error).__name__).inc()
            logger.warning("%s waits: %s", what, error)
            await asyncio.sleep(backoff_s)
            backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)
