"""An event loop whose time passes only when nothing else is left to do."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


class Deadlock(Exception):
    """Every task waits for another one, and no timer is set."""


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """Runs what is ready; then the clock jumps to the next timer. Nothing depends on real time."""

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0

    def time(self) -> float:
        """Return virtual seconds."""
        return self._now

    def _run_once(self) -> None:
        ready: Any = self._ready  # type: ignore[attr-defined] # of asyncio's base loop
        scheduled: Any = self._scheduled  # type: ignore[attr-defined] # of asyncio's base loop
        while scheduled and scheduled[0]._cancelled:
            heapq.heappop(scheduled)._scheduled = False
        if not ready and not self._stopping:  # type: ignore[attr-defined] # of asyncio's base loop
            if not scheduled:
                raise Deadlock("every task waits for another one")
            self._now = max(self._now, scheduled[0]._when)
        super()._run_once()  # type: ignore[misc] # of asyncio's base loop


def run_virtual(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine in virtual time.

    Raises:
        Deadlock: it waits for what can never happen.
    """
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(main)
