"""Taking over a partition: from where to read, what is closed already, which proposals stand."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from processors import metrics
from processors.lease import Lease
from processors.log_tail import LogTail
from processors.partition_state import PartitionState
from schemas.errors import LogUnavailable, ReadModelUnavailable, SealBroken
from schemas.ports import Ledger

logger = logging.getLogger(__name__)

_BACKOFF_S: Final = 1.0
_HOLE_CHECK_S: Final = 5.0


class Takeover:
    """Takes partitions over, so that nothing is skipped and no proposal is paid for twice."""

    def __init__(self, ledger: Ledger, tail: LogTail, lease: Lease, *, owner: str) -> None:
        """Wire the parts.

        Args:
            ledger: the projection's progress.
            tail: the ends of the log.
            lease: tells whether the group has confirmed us.
            owner: the name of this worker instance.
        """
        self._ledger = ledger
        self._tail = tail
        self._lease = lease
        self._owner = owner

    async def claim(self, partition: int) -> PartitionState:
        """Claim a partition and return from where it must be read; quick, and not ready yet.

        A ledger that cannot be reached is waited for: the caller's deadline ends that.
        """
        while True:
            try:
                await self._ledger.claim(partition, self._owner)
                progress = await self._ledger.progress(partition)
            except ReadModelUnavailable as error:
                await _pause(f"partition {partition} cannot be claimed", error)
            else:
                return PartitionState(partition=partition, progress=progress)

    async def make_ready(self, state: PartitionState) -> None:
        """Let the lanes begin once the partition is caught up with, then watch for holes.

        It waits for the projection and reads the standing proposals; it goes on, until it is
        cancelled, to read what was appended beside this worker.
        """
        await self._catch_up_in_the_end(state)
        state.ready.set()
        while True:
            await asyncio.sleep(_HOLE_CHECK_S)
            if not state.known.has_hole:
                continue
            try:
                await self._read_proposals(state)
            except LogUnavailable as error:
                logger.warning("partition %d: %s", state.partition, error)

    async def regain(self, state: PartitionState, *, lost: int) -> None:
        """Claim a partition again once the group has confirmed us anew, and catch up again.

        Whoever held it meanwhile may have appended proposals and outcomes.

        Args:
            state: the partition.
            lost: the number of the claim that was lost; a later one has been made already.
        """
        async with state.claiming:
            if state.claims != lost:
                return
            await self._lease.renewed()
            while True:
                try:
                    await self._ledger.claim(state.partition, self._owner)
                except ReadModelUnavailable as error:
                    await _pause(f"partition {state.partition} cannot be claimed", error)
                else:
                    break
            await self._catch_up_in_the_end(state)
            state.claims += 1

    async def _catch_up_in_the_end(self, state: PartitionState) -> None:
        while True:
            try:
                return await self._catch_up(state)
            except (LogUnavailable, ReadModelUnavailable) as error:
                await _pause(f"partition {state.partition} waits", error)

    async def _catch_up(self, state: PartitionState) -> None:
        end = await self._tail.memories_end(state.partition)
        if end > 0:
            await self._ledger.wait_applied(state.partition, end - 1)
        state.progress = await self._ledger.progress(state.partition)
        await self._read_proposals(state)

    async def _read_proposals(self, state: PartitionState) -> None:
        start = max(state.known.end, state.progress.proposals_floor)
        stretch = await self._tail.proposals(state.partition, start=start)
        turns_end = await self._tail.turns_end(state.partition)
        found = []
        for record in stretch.records:
            if record.value is None:
                continue
            try:
                proposal_id = record.header().record_id
            except SealBroken as error:
                # It can be nobody's proposal; the turn it may have been meant for is asked again.
                logger.error("unreadable proposal at %s: %s", record.position, error)  # noqa: TRY400 - the traceback tells nothing more
                continue
            state.standing.setdefault(proposal_id, record)
            found.append((proposal_id, record.position.offset))
        state.known.read(found, end=stretch.end, turns_end=turns_end)


async def _pause(what: str, error: Exception) -> None:
    metrics.RETRIES.labels(type(error).__name__).inc()
    logger.warning("%s: %s", what, error)
    await asyncio.sleep(_BACKOFF_S)
