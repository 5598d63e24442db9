"""The partitions that a worker holds, from one assignment of the consumer group to the next."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping

from processors import metrics
from processors.lanes import Handle, Lanes, Window
from processors.partition_state import PartitionState
from processors.takeover import Takeover
from schemas.errors import SealBroken
from schemas.log.sealed import LogRecord
from schemas.tasks import end_tasks

logger = logging.getLogger(__name__)


class Assignments:
    """Begins and ends assignments: claims partitions, opens lanes, and closes both in time."""

    def __init__(
        self,
        takeover: Takeover,
        handle: Handle[PartitionState],
        *,
        window_max: int,
        hold: Callable[[int], None],
        release: Callable[[int], None],
    ) -> None:
        """Begin without any partition.

        Args:
            takeover: takes partitions over.
            handle: works on one turn.
            window_max: most turns of one partition that are held at once.
            hold: called with a partition that is full, to hold its fetching back.
            release: called with a partition that has room again.
        """
        self._takeover = takeover
        self._lanes: Lanes[PartitionState] = Lanes(
            handle,
            lane_of=lane_of,
            window_max=window_max,
            hold=hold,
            release=release,
            advanced=PartitionState.turns_closed_below,
        )
        self._claimed: dict[int, PartitionState] = {}
        self._takeovers: set[asyncio.Task[None]] = set()
        metrics.watch(self)

    async def claim(self, partitions: Collection[int]) -> Mapping[int, int]:
        """Claim partitions and return the offset from which each must be read.

        Nothing is worked on before :meth:`open`, which is called once the reader stands there.
        """
        await self.close(grace_s=0)
        states = await asyncio.gather(
            *(self._takeover.claim(partition) for partition in sorted(partitions))
        )
        self._claimed = {state.partition: state for state in states}
        return {partition: self._start(state) for partition, state in self._claimed.items()}

    def open(self, assignment: int) -> None:
        """Work on what is read of the claimed partitions from now on, under ``assignment``."""
        states, self._claimed = list(self._claimed.values()), {}
        starts = {state.partition: self._start(state) for state in states}
        self._lanes.open(
            Window(
                partition=state.partition,
                assignment=assignment,
                next_offset=starts[state.partition],
                head=starts[state.partition],
                context=state,
            )
            for state in states
        )
        for state in states:
            task = asyncio.create_task(self._takeover.make_ready(state))
            self._takeovers.add(task)
            task.add_done_callback(self._taken_over)
        logger.info("holding partitions from offsets: %s", starts)

    def admit(self, record: LogRecord, *, assignment: int) -> None:
        """Take one record that was read under ``assignment``; never waits."""
        self._lanes.admit(record, assignment=assignment)

    async def close(self, *, grace_s: float) -> None:
        """Give every partition up; lanes may finish their turns within ``grace_s`` seconds."""
        self._claimed = {}
        takeovers = list(self._takeovers)
        for task in takeovers:
            task.cancel()
        await self._lanes.close(grace_s=grace_s)
        await end_tasks(takeovers)

    @property
    def heads(self) -> Mapping[int, int]:
        """By partition, the offset below which this process has finished everything."""
        return self._lanes.heads

    @property
    def waiting(self) -> int:
        """How many turns are held and not closed."""
        return self._lanes.waiting

    @property
    def ready(self) -> Mapping[int, bool]:
        """By partition that is held, whether it is caught up with."""
        return {state.partition: state.ready.is_set() for state in self._lanes.contexts}

    def _start(self, state: PartitionState) -> int:
        # What this process finished itself counts too: the projection may be behind.
        return max(state.progress.watermark, self._lanes.heads.get(state.partition, 0))

    def _taken_over(self, task: asyncio.Task[None]) -> None:
        self._takeovers.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            # Its lanes wait for ever, which shows as partitions that do not become ready.
            logger.error("a takeover failed", exc_info=error)


def lane_of(record: LogRecord) -> bytes:
    """Return the lane of a record: its subject's, or one of its own where none can be read."""
    try:
        return record.header().subject.bytes
    except SealBroken:
        return b"unreadable %d" % record.position.offset
