"""Ending tasks for certain."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

_AGAIN_S: Final = 0.1
"""How long a cancelled task may take before it is cancelled once more."""


async def end_tasks(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and return once all of them are over; what they raise meanwhile is dropped.

    One cancellation is not enough: ``asyncio.wait_for`` of Python 3.11, which connection pools
    are built on, returns its result instead of raising where that arrives at the same moment. The
    task then goes on as if nothing had been asked of it, and whoever awaits it waits for ever.
    """
    pending = set(tasks)
    while pending:
        for task in pending:
            task.cancel()
        done, pending = await asyncio.wait(pending, timeout=_AGAIN_S)
        for task in done:
            if not task.cancelled():
                task.exception()  # looked at, so that nobody is told that nobody did
