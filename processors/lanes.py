"""Lanes: one subject's turns strictly in order, many subjects at once, progress from the head.

Each assigned partition has a window of cells in the order of the log. A subject's cells form its
lane, worked on by one task. A cell is done when the projection has applied what became of it; the
head moves over done cells only, so a slow turn holds the head back and loses nothing behind it.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from schemas.log.sealed import LogRecord
from schemas.tasks import end_tasks

logger = logging.getLogger(__name__)

Context = TypeVar("Context")

Handle = Callable[[LogRecord, Context], Awaitable[None]]
"""Work on one record until its outcome is applied; must not raise, but for a cancellation."""

LaneKey = bytes

WINDOW_BYTES_MAX: Final = 64 * 1024 * 1024
"""The most that the records of one partition take before fetching is held back: room for a window
of ordinary turns many times over, and for 16 of the largest, which would fill memory by number."""


@dataclass(slots=True, eq=False)
class _Cell:
    """A place in a window; its record is dropped as soon as it is done."""

    offset: int
    record: LogRecord | None

    @property
    def done(self) -> bool:
        return self.record is None


@dataclass(kw_only=True, slots=True, eq=False)
class Window(Generic[Context]):
    """One assignment of one partition.

    Attributes:
        partition: its number.
        assignment: which assignment of the consumer group it belongs to.
        next_offset: the first offset that was not admitted yet.
        head: every record below it is done.
        context: what the handler needs to know of the partition.
        full: whether fetching is held back.
        ending: whether the assignment is over; lanes then begin no further record.
        held_bytes: what the records that are not done take.
    """

    partition: int
    assignment: int
    next_offset: int
    head: int
    context: Context
    full: bool = False
    ending: bool = False
    held_bytes: int = 0
    cells: deque[_Cell] = field(default_factory=deque)
    lanes: dict[LaneKey, deque[_Cell]] = field(default_factory=dict)
    tasks: dict[LaneKey, asyncio.Task[None]] = field(default_factory=dict)

    def advance(self) -> bool:
        """Move the head over done cells and tell whether it moved.

        Gaps between offsets are crossed with the cell behind them.
        """
        before = self.head
        while self.cells and self.cells[0].done:
            self.head = self.cells.popleft().offset + 1
        return self.head != before


class Lanes(Generic[Context]):
    """The windows of all partitions that are assigned now."""

    def __init__(
        self,
        handle: Handle[Context],
        *,
        lane_of: Callable[[LogRecord], LaneKey],
        window_max: int,
        window_bytes_max: int = WINDOW_BYTES_MAX,
        hold: Callable[[int], None],
        release: Callable[[int], None],
        advanced: Callable[[Context, int], None] = lambda _context, _head: None,
    ) -> None:
        """Make lanes without any partition.

        Args:
            handle: works on one record; see :data:`Handle`.
            lane_of: the lane of a record: records of one lane are handled in order.
            window_max: most cells of one partition; fetching is held back beyond.
            window_bytes_max: most bytes of their records; fetching is held back beyond.
            hold: called with a partition that is full, to hold its fetching back.
            release: called with a partition that has room again.
            advanced: called with a partition's context and its head when that has moved.
        """
        self._handle = handle
        self._lane_of = lane_of
        self._window_max = window_max
        self._window_bytes_max = window_bytes_max
        self._hold = hold
        self._release = release
        self._advanced = advanced
        self._windows: dict[int, Window[Context]] = {}
        self._heads: dict[int, int] = {}

    @property
    def heads(self) -> dict[int, int]:
        """By partition, the offset below which this process has finished everything."""
        return {**self._heads, **{number: w.head for number, w in self._windows.items()}}

    @property
    def contexts(self) -> Iterable[Context]:
        """The contexts of the partitions that are assigned now."""
        return [window.context for window in self._windows.values()]

    @property
    def waiting(self) -> int:
        """How many admitted records are not done."""
        return sum(len(window.cells) for window in self._windows.values())

    def open(self, windows: Iterable[Window[Context]]) -> None:
        """Begin an assignment; the one before must be closed."""
        assert not self._windows, "an assignment begins before the one before it ended"  # noqa: S101
        self._windows = {window.partition: window for window in windows}

    def admit(self, record: LogRecord, *, assignment: int) -> None:
        """Take one record; never waits.

        Args:
            record: the record; one of another assignment, or that was admitted, is ignored.
            assignment: the assignment it was fetched under.
        """
        window = self._windows.get(record.position.partition)
        if window is None or window.assignment != assignment:
            return
        if record.position.offset < window.next_offset:
            return
        window.next_offset = record.position.offset + 1
        cell = _Cell(record.position.offset, record)
        window.cells.append(cell)
        window.held_bytes += _size(record)
        if not window.full and (
            len(window.cells) >= self._window_max or window.held_bytes >= self._window_bytes_max
        ):
            window.full = True
            self._hold(window.partition)
        key = self._lane_of(record)
        lane = window.lanes.get(key)
        if lane is not None:
            lane.append(cell)
            return
        window.lanes[key] = deque((cell,))
        window.tasks[key] = asyncio.create_task(self._drain(window, key))

    async def close(self, *, grace_s: float) -> None:
        """End the assignment: let lanes finish their record for ``grace_s`` seconds, then cancel.

        The cells of cancelled lanes stay unfinished: whoever gets the partition next works on them.
        """
        windows, self._windows = self._windows, {}
        for window in windows.values():
            window.ending = True
        tasks = [task for window in windows.values() for task in window.tasks.values()]
        if tasks and grace_s > 0:
            await asyncio.wait(tasks, timeout=grace_s)
        await end_tasks(tasks)
        for partition, window in windows.items():
            self._heads[partition] = window.head

    async def _drain(self, window: Window[Context], key: LaneKey) -> None:
        lane = window.lanes[key]
        while lane and not window.ending:
            record = lane[0].record
            assert record is not None, "a cell that is done leaves its lane"  # noqa: S101
            try:
                await self._handle(record, window.context)
            except asyncio.CancelledError:
                if not window.ending:
                    logger.exception("a lane was cancelled at %s", record.position)
                raise
            except Exception:
                # The handler promises not to raise. A bug must not skip a turn: the cell stays at
                # the head of its lane, the partition stops there and its progress shows it.
                logger.exception("a lane stopped at %s", record.position)
                return
            lane.popleft().record = None
            window.held_bytes -= _size(record)
            if window.advance():
                self._advanced(window.context, window.head)
            self._make_room(window)
        # Nothing is awaited between the check above and here, so no record can slip in between.
        del window.lanes[key]
        del window.tasks[key]

    def _make_room(self, window: Window[Context]) -> None:
        # After the end the partition may be another's, or held back under the next assignment.
        roomy = (
            len(window.cells) <= self._window_max // 2
            and window.held_bytes <= self._window_bytes_max // 2
        )
        if window.full and not window.ending and roomy:
            window.full = False
            self._release(window.partition)


def _size(record: LogRecord) -> int:
    headers = sum(len(name) + len(value) for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
