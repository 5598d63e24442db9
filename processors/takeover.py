"""Taking over a partition: from where to read, what is closed already, which proposals stand."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from schemas.errors import LogUnavailable, ReadModelUnavailable, SealBroken
from schemas.log import reader
from schemas.log.sealed import LogRecord
from schemas.ports import Ledger, PartitionProgress
from schemas.topics import memories_topic, proposals_topic

logger = logging.getLogger(__name__)

_BACKOFF_S: Final = 1.0


@dataclass(kw_only=True, slots=True, eq=False)
class PartitionState:
    """What a worker knows of a partition that it holds.

    Attributes:
        partition: its number.
        progress: how far the ledger had come when the partition was taken over.
        proposals: proposals that stood then, by record id, each the append of the lowest offset.
        proposals_end: the end of the proposals topic as far as this worker knows.
        undelivered: offsets of proposals whose turn has no delivered outcome yet.
        ready: set once the projection has caught up and the standing proposals are read.
    """

    partition: int
    progress: PartitionProgress
    proposals: dict[UUID, LogRecord] = field(default_factory=dict)
    proposals_end: int = 0
    undelivered: set[int] = field(default_factory=set)
    ready: asyncio.Event = field(default_factory=asyncio.Event)

    def stand(self, offset: int) -> None:
        """Note that a proposal at ``offset`` waits for its outcome."""
        self.undelivered.add(offset)
        self.proposals_end = max(self.proposals_end, offset + 1)

    def floor(self, *, closing: int | None) -> int:
        """Return the offset below which no open turn has a proposal, once ``closing`` is closed.

        A proposal counts as needed until the outcome of its turn is *delivered*: an outcome that is
        decided and lost would else leave its proposal out of a successor's sight.
        """
        needed = self.undelivered - {closing} if closing is not None else self.undelivered
        return min(needed, default=self.proposals_end)


class Takeover:
    """Takes partitions over, so that nothing is skipped and no proposal is paid for twice."""

    def __init__(self, ledger: Ledger, *, bootstrap: str, generation: str, owner: str) -> None:
        """Wire the parts.

        Args:
            ledger: the projection's progress.
            bootstrap: the broker.
            generation: the generation that is written.
            owner: the name of this worker instance.
        """
        self._ledger = ledger
        self._bootstrap = bootstrap
        self._generation = generation
        self._owner = owner

    async def claim(self, partition: int) -> PartitionState:
        """Claim a partition and return from where it must be read; quick, and not ready yet.

        Raises:
            ReadModelUnavailable: the ledger's progress cannot be read.
        """
        await self._ledger.claim(partition, self._owner)
        progress = await self._ledger.progress(partition)
        return PartitionState(partition=partition, progress=progress)

    async def make_ready(self, state: PartitionState) -> None:
        """Wait for the projection, read the standing proposals, and let the lanes begin."""
        while True:
            try:
                await self._catch_up(state)
            except (LogUnavailable, ReadModelUnavailable) as error:
                logger.warning("partition %d waits: %s", state.partition, error)
                await asyncio.sleep(_BACKOFF_S)
            else:
                state.ready.set()
                return

    async def _catch_up(self, state: PartitionState) -> None:
        end = await asyncio.to_thread(self._memories_end, state.partition)
        if end > 0:
            await self._ledger.wait_applied(state.partition, end - 1)
        state.progress = await self._ledger.progress(state.partition)
        await asyncio.to_thread(self._read_proposals, state)

    def _memories_end(self, partition: int) -> int:
        consumer = reader.new_consumer(self._bootstrap, client_id=self._owner)
        try:
            return reader.bounds(consumer, memories_topic(self._generation), partition)[1]
        finally:
            consumer.close()

    def _read_proposals(self, state: PartitionState) -> None:
        state.proposals.clear()
        records = reader.read_to_end(
            self._bootstrap,
            proposals_topic(self._generation),
            state.partition,
            start=state.progress.proposals_floor,
            client_id=self._owner,
        )
        state.proposals_end = max(state.proposals_end, state.progress.proposals_floor)
        for record in records:
            state.proposals_end = max(state.proposals_end, record.position.offset + 1)
            if record.value is None:
                continue
            try:
                record_id = record.header().record_id
            except SealBroken as error:
                # It can be nobody's proposal; the turn it may have been meant for is asked again.
                logger.error("unreadable proposal at %s: %s", record.position, error)  # noqa: TRY400
                continue
            state.proposals.setdefault(record_id, record)
