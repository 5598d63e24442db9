"""The worker: a Faust application that closes the turns of the partitions it is assigned."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast
from uuid import uuid4

import faust
from faust.types import TP

from processors import consolidation_timer, session_timers
from processors.appending import DecisionLog
from processors.assignments import Assignments
from processors.closers.making import CloserParts, make_closers
from processors.closers.turns import ExtractionMode
from processors.consolidation_timer import ConsolidationTimer, ConsolidationTimerParts
from processors.due_ends import DueEndParts
from processors.extraction import Proposer
from processors.group import LedgerConsumer, LedgerTransport, build_app
from processors.log_tail import KafkaTail
from processors.own_records import OwnRecords
from processors.ports import Appends, Budget, KeySource, Unlimited
from processors.session_timers import SessionTimers
from processors.summary_timers import SummaryTimers
from processors.takeover import Takeover
from processors.turn_records import KafkaTurnRecords
from processors.turn_work import Parts, TurnWork
from processors.upkeep import look_again_and_again
from schemas.consolidation import Consolidating
from schemas.log.sealed import LogPosition, LogRecord
from schemas.ports import Embedder, Extractor, Ledger
from schemas.records import Turn
from schemas.settings import Settings
from schemas.summaries import SummaryWork
from schemas.tasks import end_tasks
from schemas.topics import TURNS
from schemas.waiting import WaitingTurns

_GRACE_S: Final = 2.0


def group_of(generation: str) -> str:
    """Return the consumer group of a generation's workers."""
    return f"memledger-worker-{generation}"


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerParts:
    """What a worker is made of.

    Attributes:
        bootstrap: the broker.
        keyring: gives keys.
        ledger: the projection, as far as a worker needs it.
        waiting: what it knows of turns that wait.
        consolidating: what it knows for consolidations.
        producer: appends.
        extractor: proposes.
        embedder: gives vectors.
        budget: tells whether a tenant may ask a model.
        wants_it_now: whether a turn asks for something to be remembered or forgotten.
        costs_nothing: whether the extractor finds by itself that a turn holds nothing to ask about:
            such a turn waits for no budget.
        summaries: what it knows of summaries of sessions; ``None`` where none are to be made.
    """

    bootstrap: str
    keyring: KeySource
    ledger: Ledger
    waiting: WaitingTurns
    consolidating: Consolidating
    producer: Appends
    extractor: Extractor
    embedder: Embedder
    budget: Budget = field(default_factory=Unlimited)
    wants_it_now: Callable[[Turn], bool] = lambda _turn: False
    costs_nothing: Callable[[Turn], bool] = lambda _turn: False
    summaries: SummaryWork | None = None


class Worker:
    """One worker process."""

    def __init__(
        self,
        parts: WorkerParts,
        settings: Settings,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Wire the parts; :meth:`run` starts."""
        self.owner = f"{socket.gethostname()}-{os.getpid()}-{uuid4().hex[:8]}"
        generation = settings.generation
        self._app = build_app(
            group=group_of(generation),
            bootstrap=parts.bootstrap,
            session_timeout_s=settings.session_timeout_s,
            data_directory=tempfile.gettempdir(),
        )
        lease = _GroupLease(self._app)
        takeover = Takeover(
            parts.ledger,
            KafkaTail(parts.bootstrap, generation=generation, client_id=self.owner),
            lease,
            owner=self.owner,
        )
        log = DecisionLog(parts.producer, parts.keyring, generation=generation, clock=clock)
        proposer = Proposer(
            parts.extractor,
            generation=generation,
            in_flight_max=settings.in_flight_max,
            attempts_max=settings.extract_attempts_max,
            timeout_s=settings.extract_timeout_s,
            clock=clock,
        )
        self._records = KafkaTurnRecords(parts.bootstrap, client_id=self.owner)
        closers = make_closers(
            CloserParts(
                ledger=parts.ledger,
                log=log,
                waiting=parts.waiting,
                records=self._records,
                summaries=parts.summaries,
                consolidating=parts.consolidating,
                proposer=proposer,
                embedder=parts.embedder,
                lease=lease,
                budget=parts.budget,
                mode=ExtractionMode(settings.extraction_mode),
                wants_it_now=parts.wants_it_now,
                costs_nothing=parts.costs_nothing,
                owner=self.owner,
                generation=generation,
                clock=clock,
            )
        )
        work = TurnWork(
            Parts(
                keyring=parts.keyring,
                ledger=parts.ledger,
                log=log,
                closers=closers,
                takeover=takeover,
                generation=generation,
                partitions=settings.partitions,
                clock=clock,
            )
        )
        self._assignments = Assignments(
            takeover,
            work.handle,
            window_max=settings.window_max,
            hold=self._hold,
            release=self._release,
        )
        own = OwnRecords(
            keyring=parts.keyring, producer=parts.producer, budget=parts.budget, clock=clock
        )
        due = DueEndParts(records=own, ready=lambda: self._assignments.ready, clock=clock)
        self._sessions = SessionTimers(
            due, waiting=parts.waiting, idle=timedelta(seconds=settings.session_idle_s)
        )
        self._consolidations = ConsolidationTimer(
            ConsolidationTimerParts(
                consolidating=parts.consolidating,
                records=own,
                ready=lambda: self._assignments.ready,
                partitions=settings.partitions,
                episodes_min=settings.consolidate_episodes_min,
                clock=clock,
            )
        )
        self._summaries = (
            None
            if parts.summaries is None or not proposer.summarises
            else SummaryTimers(due, parts.summaries)
        )
        self._session_look_s = min(session_timers.LOOK_S, settings.session_idle_s)
        self._consolidates = settings.consolidate_episodes_min > 0 and proposer.consolidates
        self._app.transport = LedgerTransport(
            self._app,
            claim=self._assignments.claim,
            open_=self._assignments.open,
            end=self._end,
            heads=lambda: self._assignments.heads,
        )
        self._app.agent(_turns_topic(self._app))(self._read)

    @property
    def not_ready(self) -> str | None:
        """Why the worker does not work on turns now, or ``None``."""
        ready = self._assignments.ready
        if not ready:
            return "no partition is assigned"
        waiting = sorted(partition for partition, caught_up in ready.items() if not caught_up)
        if waiting:
            return f"partitions {waiting} wait for the projection to catch up"
        return None

    @property
    def partitions(self) -> Collection[int]:
        """The partitions that it holds."""
        return self._assignments.ready.keys()

    @property
    def heads(self) -> Mapping[int, int]:
        """By partition, the offset below which this worker has finished everything."""
        return self._assignments.heads

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then leave the group.

        Raises:
            Exception: what crashed Faust, or kept it from starting. The process must end then.
        """
        app = self._app
        waits = [
            asyncio.ensure_future(waiting)
            for waiting in (app.start(), stop.wait(), app._crashed.wait())  # noqa: SLF001 - Faust tells it nowhere else
        ]
        started, stopped, crashed = waits
        upkeep = self._upkeep(stop)
        try:
            # Starting takes until the first assignment has begun.
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if started.done() and started.exception() is None:
                await asyncio.wait((stopped, crashed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            failure = started.exception() if started.done() else None
            await self._leave()
            await end_tasks([*waits, *upkeep])
            await self._records.close()
        reason = app.crash_reason or failure
        if reason is not None:
            raise reason

    def _upkeep(self, stop: asyncio.Event) -> list[asyncio.Task[None]]:
        """Begin what is done beside the turns."""
        looks: list[tuple[Callable[[], Awaitable[int]], float, str]] = [
            (self._sessions.look, self._session_look_s, "ends of quiet sessions")
        ]
        if self._summaries is not None:
            looks.append((self._summaries.look, self._session_look_s, "summaries to be made again"))
        if self._consolidates:
            looks.append(
                (self._consolidations.look, consolidation_timer.LOOK_S, "consolidations started")
            )
        return [
            asyncio.create_task(look_again_and_again(look, stop, every_s=every_s, what=what))
            for look, every_s, what in looks
        ]

    async def _leave(self) -> None:
        app = self._app
        await self._assignments.close(grace_s=0 if app._crashed.is_set() else _GRACE_S)  # noqa: SLF001
        if app._consumer is not None and not app._crashed.is_set():  # noqa: SLF001
            await cast("LedgerConsumer", app.consumer).commit_heads()
        await app.stop()

    async def _read(self, stream: Any) -> None:  # noqa: ANN401 - Faust is not typed
        admit = self._assignments.admit
        async for event in stream.events():
            message = event.message
            admit(_log_record(message), assignment=message.generation_id)

    def _hold(self, partition: int) -> None:
        # Not pause_partitions(): that drops what of a fetched batch was not delivered yet.
        self._app.consumer.on_buffer_full(TP(TURNS, partition))

    def _release(self, partition: int) -> None:
        self._app.consumer.on_buffer_drop(TP(TURNS, partition))

    async def _end(self, grace_s: float) -> None:
        await self._assignments.close(grace_s=grace_s)


class _GroupLease:
    """The lease, as the group's heartbeats tell it."""

    def __init__(self, app: faust.App) -> None:
        self._app = app

    def remaining_s(self) -> float:
        return self._consumer.remaining_s()

    async def renewed(self) -> None:
        await self._consumer.renewed()

    @property
    def _consumer(self) -> LedgerConsumer:
        return cast("LedgerConsumer", self._app.consumer)


def _turns_topic(app: faust.App) -> Any:  # noqa: ANN401 - Faust is not typed
    # Raw bytes, and no acknowledgements: the lanes keep the books.
    return app.topic(
        TURNS,
        key_type=bytes,
        value_type=bytes,
        key_serializer="raw",
        value_serializer="raw",
        acks=False,
        internal=False,
    )


def _log_record(message: Any) -> LogRecord:  # noqa: ANN401 - Faust is not typed
    headers = message.headers
    pairs = headers.items() if isinstance(headers, Mapping) else headers or ()
    return LogRecord(
        position=LogPosition(
            topic=message.topic, partition=message.partition, offset=message.offset
        ),
        timestamp_ms=int((message.timestamp or 0) * 1000),
        key=message.key,
        value=message.value,
        headers=[(name, value or b"") for name, value in pairs],
    )
