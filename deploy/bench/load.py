"""A steady load on a pipeline, behind what is being timed."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Final, Self

from deploy.bench.driver import Driver
from deploy.bench.turns import TurnSource
from schemas.tasks import end_tasks

_PAUSE_S: Final = 0.1


class Load:
    """Posts turns at a rate, in lists, for the length of an ``async with`` block.

    Leaving it raises what a post failed with: what was timed beside it had no load then.

    Args:
        driver: posts them.
        source: who says them.
        rate: turns a second that are wanted; less where the pipeline takes them more slowly.
    """

    def __init__(self, driver: Driver, source: TurnSource, *, rate: float) -> None:
        self._driver = driver
        self._source = source
        self._rate = rate
        self._posted = 0
        self._began = self._ended = 0.0
        self._posting: asyncio.Task[None] | None = None

    @property
    def turns_per_s(self) -> float:
        """How many turns a second there were."""
        return self._posted / (self._ended - self._began)

    async def __aenter__(self) -> Self:
        self._began = time.perf_counter()
        self._posting = asyncio.create_task(self._post(), name="bench-load")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended = time.perf_counter()
        if self._posting is None:
            return
        if self._posting.done():
            self._posting.result()  # it never ends by itself: this raises what it failed with
        await end_tasks([self._posting])

    async def _post(self) -> None:
        due = time.perf_counter()
        while True:
            number = max(1, round(self._rate * _PAUSE_S))
            await self._driver.post(self._source.take(number))
            self._posted += number
            due += _PAUSE_S
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
