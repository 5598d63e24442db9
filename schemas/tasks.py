"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any, Final

_LOG: Final = logging.getLogger(__name__)

_AGAIN_S: Final = 2.0
"""How long a cancelled task may clean up before it is cancelled once more, the first time."""

_AGAIN_S_MAX: Final = 30.0


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and return once all of them are over; what they raise meanwhile is logged.

    One cancellation is not enough: ``asyncio.wait_for`` of Python 3.11, which connection pools
    are built on, returns its result instead of raising where that arrives at the same moment. The
    task then goes on as if nothing had been asked of it, and whoever awaits it waits for ever.
    """
    pending, pause_s = set(tasks), _AGAIN_S
    while pending:
        for task in pending:
            task.cancel()
        done, pending = await asyncio.wait(pending, timeout=pause_s)
        for task in done:
            error = None if task.cancelled() else task.exception()
            if error is not None:
                _LOG.debug("%s failed while it was ended", task.get_name(), exc_info=error)
        for task in pending:
            _LOG.warning("%s has not ended %.0f s after it was cancelled", task.get_name(), pause_s)
        pause_s = min(2 * pause_s, _AGAIN_S_MAX)
