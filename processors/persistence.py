"""Taking a step again until every part that it needs is there."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from processors import metrics
from schemas.errors import (
    ExtractorUnavailable,
    KeyMissing,
    KeyringUnavailable,
    LogUnavailable,
    ReadModelUnavailable,
)

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

BACKOFF_FIRST_S: Final = 0.2
_BACKOFF_MAX_S: Final = 5.0

_ASKED_PAUSE_MAX_S: Final = 60.0
"""The longest pause that is kept because a part asks for it."""

_TRANSIENT: Final = (
    ExtractorUnavailable,
    KeyringUnavailable,
    KeyMissing,
    LogUnavailable,
    ReadModelUnavailable,
)
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
            await asyncio.sleep(max(backoff_s, _asked_pause_s(error)))
            backoff_s = min(2 * backoff_s, _BACKOFF_MAX_S)


def _asked_pause_s(error: Exception) -> float:
    if not isinstance(error, ExtractorUnavailable) or error.retry_after_s is None:
        return 0.0
    # A tenth more at random: the turns that wait must not all come back at one moment.
    spread = 1 + random.random() / 10  # noqa: S311 - spreads load, no secret
    return min(error.retry_after_s, _ASKED_PAUSE_MAX_S) * spread
