"""One worker that holds a partition of a log in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TypeVar
from uuid import UUID, uuid4

from processors.closers.turns import ExtractionMode
from processors.partition_state import PartitionState
from processors.ports import Budget, PaidCall
from schemas.commands import SessionEnd, SessionEndCause
from schemas.log.sealed import LogRecord, open_record, seal_record
from schemas.memory import Record
from schemas.partitioning import partition_for
from schemas.ports import Embedder, Extractor
from schemas.proposals import Usage
from schemas.records import Closing, DeadLetter, Outcome
from schemas.topics import DEAD_LETTERS, TURNS, proposals_topic
from schemas.tree import address_for
from tests.support.embedder import CountingEmbedder
from tests.support.extractors import NotingExtractor
from tests.support.memory_log import Delivery
from tests.support.memory_worker import GENERATION, MemorySite, MemoryWorker
from tests.support.turns import NOON, sealed_turn

Result = TypeVar("Result")


class Budgeting:
    """A budget that a test exhausts and renews.

    Attributes:
        over: whether it is exhausted.
        calls: for whom which model was asked.
        usages: what that cost.
    """

    def __init__(self) -> None:
        self.over = False
        self.calls: list[tuple[str | None, str]] = []
        self.usages: list[Usage] = []

    def asking(self, tenant: str | None, model: str) -> AbstractContextManager[PaidCall]:
        """Note that a model is asked."""
        self.calls.append((tenant, model))
        return nullcontext(self)

    def spent(self, usage: Usage) -> None:
        """Note what that cost."""
        self.usages.append(usage)

    async def exhausted(self, tenant: str | None) -> object | None:
        """Return the tenant while the budget is exhausted."""
        return tenant if self.over else None


class SubjectDesk:
    """A worker, one subject, and what becomes of its records.

    Attributes:
        site, extractor, budget, keys, worker: as their names say.
    """

    def __init__(
        self,
        *,
        extractor: Extractor | None = None,
        embedder: Embedder | None = None,
        mode: ExtractionMode = ExtractionMode.TURN,
        site: MemorySite | None = None,
        summarises: bool = False,
    ) -> None:
        self.site = site or MemorySite()
        self.extractor = extractor or NotingExtractor()
        self.budget: Budgeting = Budgeting()
        self.keys = self.site.subject()
        self.worker = MemoryWorker(
            self.site,
            self.extractor,
            embedder or CountingEmbedder(),
            mode=mode,
            budget=self._budget(),
            clock=self._clock,
            summarises=summarises,
        )
        self._state: PartitionState | None = None
        self._decisions = 0

    def _clock(self) -> datetime:
        # Every decision has a time of its own, as it has under a clock that runs.
        self._decisions += 1
        return NOON + timedelta(microseconds=self._decisions)

    def _budget(self) -> Budget:
        return self.budget

    def say(self, text: str, *, minute: int = 0, conversation: str = "conversation") -> LogRecord:
        """Append a turn and return it as it is read."""
        sealed = sealed_turn(
            self.keys,
            text,
            partitions=self.site.partitions,
            minute=minute,
            conversation_id=conversation,
        )
        return self.site.append(sealed)

    def command(self, record_id: UUID, record: Record) -> LogRecord:
        """Append any other record of the subject and return it as it is read."""
        sealed = seal_record(
            record,
            keys=self.keys,
            record_id=record_id,
            address=address_for(NOON.date(), record_id),
        )
        partition = partition_for(self.keys.subject, self.site.partitions)
        offset = self.site.log.append(TURNS, partition, sealed)
        return self.site.log.records(TURNS, partition, offset)[0]

    def end(
        self,
        conversation: str = "conversation",
        cause: SessionEndCause = SessionEndCause.EXPLICIT,
    ) -> LogRecord:
        """Append the end of a session and return it as it is read."""
        record_id = uuid4()
        end = SessionEnd(
            turn_id=record_id,
            conversation_id=conversation,
            cause=cause,
            occurred_at=NOON,
            received_at=NOON,
        )
        return self.command(record_id, end)

    def fail_once(self, topic: str, delivery: Delivery = Delivery.LOST) -> None:
        """Deliver the next append to a topic as told, and the others as usual."""
        left = [delivery]

        async def deliver(to: str) -> Delivery:
            return left.pop() if left and to == topic else Delivery.ACKNOWLEDGED

        self.worker.producer.deliver = deliver

    def bury(self, record: LogRecord) -> None:
        """Let compaction remove a turn's record."""
        records = self.site.log._records[TURNS, record.position.partition]
        records[records.index(record)] = replace(record, timestamp_ms=0, value=None)

    async def handle(self, *records: LogRecord) -> None:
        """Take the partition over, where that was not done, and work on records in order."""
        state = await self.hold()
        for record in records:
            await self.worker.work.handle(record, state)
        assert state.paid == {}

    async def hold(self) -> PartitionState:
        """Return the partition's state, ready."""
        if self._state is None:
            self._state = await self.worker.takeover.claim(0)
            making_ready = asyncio.create_task(self.worker.takeover.make_ready(self._state))
            await self._state.ready.wait()
            making_ready.cancel()
        return self._state

    async def outcome(self, record: LogRecord) -> Outcome:
        """Return the outcome of a record, as the projection sees it."""
        await self.site.ledger.project(0)
        return self.site.ledger.outcomes(0)[record.header().record_id]

    async def closing(self, record: LogRecord) -> Closing:
        """Return how a record closed at last, settled or at once."""
        await self.site.ledger.project(0)
        return self.site.ledger.state(self.keys.subject).closed[record.header().record_id].closing

    async def dead_letters(self) -> list[DeadLetter]:
        """Return every dead letter there is."""
        system = await self.site.keyring.system_subject()
        return [
            open_record(DeadLetter, record, system)
            for record in self.site.log.records(DEAD_LETTERS, 0)
        ]

    @property
    def proposals(self) -> int:
        """How many proposals were appended."""
        return self.site.log.end(proposals_topic(GENERATION), 0)


async def waits(step: Awaitable[object], *, for_s: float = 3600) -> bool:
    """Tell whether a step is still waiting after an hour of virtual time, and end it."""
    task = asyncio.ensure_future(step)
    done, _ = await asyncio.wait([task], timeout=for_s)
    task.cancel()
    return not done
