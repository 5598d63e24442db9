"""What workers ask about summaries, in memory: as a ledger in memory has folded them."""

from __future__ import annotations

from uuid import UUID

from schemas.partitioning import partition_for
from schemas.records import Closing
from schemas.summaries import DueSummary, TurnToSummarise
from schemas.topics import TURNS
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog


class MemorySummaries:
    """Tells which turns no summary tells of; implements :class:`schemas.summaries.SummaryWork`.

    Attributes:
        due_now: what a test has due.
    """

    def __init__(self, ledger: MemoryLedger, log: MemoryLog, *, partitions: int) -> None:
        self.due_now: list[DueSummary] = []
        self._ledger = ledger
        self._log = log
        self._partitions = partitions

    async def turns_without(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[TurnToSummarise, ...]:
        """Return the turns of a conversation that no summary tells of, by offset."""
        partition = partition_for(subject, self._partitions)
        await self._ledger.project(partition)
        state = self._ledger.state(subject)
        told = {turn_id for row in state.summaries.values() for turn_id in row.turn_ids}
        found: dict[UUID, TurnToSummarise] = {}
        for record in self._log.records(TURNS, partition):
            turn_id, offset = record.header().record_id, record.position.offset
            closed = state.closed.get(turn_id)
            if closed is None or closed.conversation_id != conversation_id or offset >= below:
                continue
            if closed.closing is Closing.ERASED or turn_id in told | state.forgotten:
                continue
            waits = closed.closing is Closing.DEFERRED
            found[turn_id] = TurnToSummarise(turn_id=turn_id, turn_offset=offset, waits=waits)
        return tuple(found.values())[:limit]

    async def due(
        self, *, partition: int, after: DueSummary | None, limit: int
    ) -> tuple[DueSummary, ...]:
        """Return what a test has due, one behind the other."""
        theirs = [
            one for one in self.due_now if partition_for(one.subject, self._partitions) == partition
        ]
        start = 0 if after is None else theirs.index(after) + 1
        return tuple(theirs[start : start + limit])
