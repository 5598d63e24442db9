"""What workers ask about turns that wait, and for consolidations, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from projections.consolidation_room import fill_room
from projections.fold import MemoryRow
from schemas.consolidation import Crowded, next_attempt
from schemas.ids import consolidation_id
from schemas.log.sealed import LogRecord
from schemas.memory import Memory, MemoryKind
from schemas.partitioning import partition_for
from schemas.records import Closing
from schemas.topics import TURNS
from schemas.waiting import WaitingConversation, WaitingTurn
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog


class MemoryTurnRecords:
    """Reads single records of a log in memory.

    Attributes:
        failure: raised by every call while it is set.
        read_offsets: what was read, call by call.
    """

    def __init__(self, log: MemoryLog) -> None:
        self.failure: Exception | None = None
        self.read_offsets: list[tuple[int, ...]] = []
        self._log = log

    async def read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        """Return the records at some offsets; those that are gone are left out."""
        if self.failure is not None:
            raise self.failure
        self.read_offsets.append(tuple(offsets))
        wanted = set(offsets)
        return tuple(
            record
            for record in self._log.records(TURNS, partition)
            if record.position.offset in wanted
        )


class MemoryWaiting:
    """The turns that wait, as the ledger in memory has folded them."""

    def __init__(self, ledger: MemoryLedger, *, partitions: int) -> None:
        self._ledger = ledger
        self._partitions = partitions

    async def of_conversation(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[WaitingTurn, ...]:
        """Return the turns of a conversation that wait, by offset."""
        turns = [
            turn
            for turn in self._ledger.state(subject).waiting.values()
            if turn.deferral.conversation_id == conversation_id and turn.turn_offset < below
        ]
        return tuple(sorted(turns, key=lambda turn: turn.turn_offset)[:limit])

    async def quiet_since(
        self, *, partition: int, moment: datetime, after: WaitingConversation | None, limit: int
    ) -> tuple[WaitingConversation, ...]:
        """Return conversations whose last waiting turn was accepted before a moment."""
        found = []
        for subject in self._ledger.subjects:
            if partition_for(subject, self._partitions) != partition:
                continue
            names = {
                turn.deferral.conversation_id
                for turn in self._ledger.state(subject).waiting.values()
            }
            for name in sorted(names):
                turns = await self.of_conversation(
                    subject=subject, conversation_id=name, below=1 << 62, limit=1 << 30
                )
                found.append(
                    WaitingConversation(
                        subject=subject,
                        conversation_id=name,
                        first_turn_id=turns[0].turn_id,
                        last_turn_id=turns[-1].turn_id,
                        last_received_at=turns[-1].deferral.received_at,
                        turns=len(turns),
                    )
                )
        quiet = [
            one
            for one in sorted(found, key=_quiet_order)
            if one.last_received_at < moment
            and (after is None or _quiet_order(one) > _quiet_order(after))
        ]
        return tuple(quiet[:limit])


def _quiet_order(one: WaitingConversation) -> tuple[datetime, UUID, bytes]:
    return one.last_received_at, one.subject, one.conversation_id.encode()


class MemoryConsolidating:
    """What consolidations look through, as the ledger in memory has folded it."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self._ledger = ledger

    async def crowded(
        self, *, episodes_min: int, after: UUID | None, limit: int
    ) -> tuple[Crowded, ...]:
        """Return subjects, by id, that hold many episodes."""
        found = []
        for subject in sorted(self._ledger.subjects):
            if after is not None and subject <= after:
                continue
            episodes = [it for it in self._live(subject) if it.kind is MemoryKind.EPISODIC]
            if sum(not it.merged_from for it in episodes) < episodes_min:
                continue
            state = self._ledger.state(subject)
            newest = max(
                (row.memory for row in state.memories.values() if not row.memory.merged_from),
                key=lambda memory: (memory.recorded_at, memory.memory_id),
            )
            closings: list[Closing | None] = []
            while closed := state.closed.get(
                consolidation_id(subject, newest.memory_id, len(closings))
            ):
                closings.append(closed.closing)
            found.append(
                Crowded(
                    subject=subject,
                    newest=newest.memory_id,
                    recorded_at=newest.recorded_at,
                    attempt=next_attempt(closings),
                )
            )
        return tuple(found[:limit])

    async def memories(
        self, *, subject: UUID, episodes_max: int, facts_max: int
    ) -> tuple[Memory, ...]:
        """Return what a consolidation of a subject looks through."""
        rows = self._ledger.state(subject).memories
        sources = {
            memory_id: row.memory for memory_id, row in rows.items() if row.retracted_at is None
        }
        return fill_room(
            self._live(subject), sources, episodes_max=episodes_max, facts_max=facts_max
        )

    def _live(self, subject: UUID) -> list[Memory]:
        rows = self._ledger.state(subject).memories.values()
        return sorted((row.memory for row in rows if _live(row)), key=_said)


def _live(row: MemoryRow) -> bool:
    return row.memory.valid_to is None and row.retracted_at is None and row.merged_into is None


def _said(memory: Memory) -> tuple[datetime, UUID]:
    return memory.valid_from, memory.memory_id
