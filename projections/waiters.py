"""Waiting until the projector has come to an offset."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Mapping
from itertools import count


class Waiters:
    """Those who wait for offsets to be applied, for each partition."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        self._waiting: dict[int, list[tuple[int, int, asyncio.Future[None]]]] = {}
        self._order = count()
        self._heard = 0
        self._heard_last: dict[int, int] = {}

    def __bool__(self) -> bool:
        """Whether anybody waits."""
        return any(self._waiting.values())

    async def wait(self, partition: int, offset: int) -> None:
        """Return once ``offset`` lies below what is known to be applied in the partition."""
        if offset < self._next.get(partition, 0):
            return
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(partition, [])
        # The number keeps futures, which have no order, out of the comparison.
        heapq.heappush(waiting, (offset, next(self._order), future))
        try:
            await future
        finally:
            self._drop_finished(partition)

    def heard(self, partition: int, next_offset: int) -> None:
        """Take note that a batch was committed, which never takes a partition back."""
        self._heard += 1
        self._heard_last[partition] = self._heard
        self._note(partition, max(next_offset, self._next.get(partition, 0)))

    def mark(self) -> int:
        """Return what :meth:`read` wants to know: how much was heard before a reading began."""
        return self._heard

    def read(self, positions: Mapping[int, int], *, since: int) -> None:
        """Take note of positions that were read; a read model that began anew is behind.

        Args:
            positions: the first offset that is not applied, for each partition.
            since: what :meth:`mark` returned before they were read. A partition of which something
                was heard meanwhile may be further than was read.
        """
        for partition, next_offset in positions.items():
            if self._heard_last.get(partition, 0) > since:
                self._note(partition, max(next_offset, self._next.get(partition, 0)))
            else:
                self._note(partition, next_offset)

    def _note(self, partition: int, next_offset: int) -> None:
        self._next[partition] = next_offset
        waiting = self._waiting.get(partition, [])
        while waiting and waiting[0][0] < next_offset:
            _, _, future = heapq.heappop(waiting)
            if not future.done():
                future.set_result(None)

    def _drop_finished(self, partition: int) -> None:
        waiting = self._waiting.get(partition, [])
        while waiting and waiting[0][2].done():
            heapq.heappop(waiting)
