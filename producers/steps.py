"""Giving way to the event loop within long work, which recalls wait for."""

from __future__ import annotations

import asyncio
import time
from typing import Final

STEP_SECONDS: Final = 0.001
"""How long work goes on before others have their turn: a recall takes a few of them."""


class Steps:
    """Work in steps of about a millisecond, however much of it one item takes."""

    def __init__(self) -> None:
        self._began = time.perf_counter()

    async def give_way(self) -> None:
        """Let the event loop do what is due, if this step has lasted long enough."""
        if time.perf_counter() - self._began >= STEP_SECONDS:
            await asyncio.sleep(0)
            self._began = time.perf_counter()
