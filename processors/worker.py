"""The worker: a Faust application that closes the turns of the partitions it is assigned."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, cast
from uuid import uuid4

import faust
from faust.types import TP

from processors import metrics
from processors.appending import DecisionLog
from processors.extraction import Proposer
from processors.group import LedgerConsumer, LedgerTransport, build_app
from processors.lanes import Lanes, Window
from processors.takeover import PartitionState, Takeover
from processors.turn_work import Parts, TurnWork
from schemas.errors import ReadModelUnavailable, SealBroken
from schemas.keyring import Keyring
from schemas.log.producer import LogProducer
from schemas.log.sealed import LogPosition, LogRecord
from schemas.ports import Embedder, Extractor, Ledger
from schemas.settings import Settings
from schemas.topics import TURNS

logger = logging.getLogger(__name__)

_GRACE_S: Final = 2.0
_CLAIM_BACKOFF_S: Final = 0.5


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
        producer: appends.
        extractor: proposes.
        embedder: gives vectors.
    """

    bootstrap: str
    keyring: Keyring
    ledger: Ledger
    producer: LogProducer
    extractor: Extractor
    embedder: Embedder


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
        self._settings = settings
        self._takeover = Takeover(
            parts.ledger,
            bootstrap=parts.bootstrap,
            generation=settings.generation,
            owner=self.owner,
        )
        self._app = build_app(
            group=group_of(settings.generation),
            bootstrap=parts.bootstrap,
            session_timeout_s=settings.session_timeout_s,
            data_directory=tempfile.gettempdir(),
        )
        work = TurnWork(
            Parts(
                keyring=parts.keyring,
                ledger=parts.ledger,
                log=DecisionLog(
                    parts.producer, parts.keyring, generation=settings.generation, clock=clock
                ),
                proposer=Proposer(
                    parts.extractor,
                    generation=settings.generation,
                    in_flight_max=settings.in_flight_max,
                    attempts_max=settings.extract_attempts_max,
                    timeout_s=settings.extract_timeout_s,
                    clock=clock,
                ),
                embedder=parts.embedder,
                lease=_GroupLease(self._app),
                owner=self.owner,
                generation=settings.generation,
                partitions=settings.partitions,
                embed_attempts_max=settings.extract_attempts_max,
                clock=clock,
            )
        )
        self._lanes: Lanes[PartitionState] = Lanes(
            work.handle,
            lane_of=lane_of,
            window_max=settings.lane_length_max,
            hold=self._hold,
            release=self._release,
        )
        self._takeovers: set[asyncio.Task[None]] = set()
        self._app.transport = LedgerTransport(
            self._app, begin=self._begin, end=self._end, heads=lambda: self._lanes.heads
        )
        self._app.agent(_turns_topic(self._app))(self._read)

    @property
    def not_ready(self) -> str | None:
        """Why the worker does not work on turns now, or ``None``."""
        states = list(self._lanes.contexts)
        if not states:
            return "no partition is assigned"
        waiting = [state.partition for state in states if not state.ready.is_set()]
        if waiting:
            return f"partitions {waiting} wait for the projection to catch up"
        return None

    async def run(self, stop: asyncio.Event) -> None:
        """Work until ``stop`` is set, then leave the group; raise what crashed Faust."""
        app = self._app
        waits = [
            asyncio.ensure_future(waiting)
            for waiting in (app.start(), stop.wait(), app._crashed.wait())  # noqa: SLF001
        ]
        started, stopped, crashed = waits
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            if started.done() and started.exception() is None:
                await asyncio.wait((stopped, crashed), return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self._leave()
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
        if app.crash_reason is not None:
            raise app.crash_reason

    async def _leave(self) -> None:
        app = self._app
        if app._consumer is not None and not app._crashed.is_set():  # noqa: SLF001
            app.consumer.stop_flow()
            app.flow_control.suspend()
            await self._end()
            await app.consumer.commit()
        await app.stop()

    async def _read(self, stream: Any) -> None:  # noqa: ANN401 - Faust is not typed
        async for event in stream.events():
            message = event.message
            self._lanes.admit(_log_record(message), assignment=message.generation_id)

    def _hold(self, partition: int) -> None:
        # Not pause_partitions(): that drops what of a fetched batch was not delivered yet.
        self._app.consumer.on_buffer_full(TP(TURNS, partition))

    def _release(self, partition: int) -> None:
        self._app.consumer.on_buffer_drop(TP(TURNS, partition))

    async def _begin(self, partitions: Collection[int], assignment: int) -> Mapping[int, int]:
        states = [await self._claim(partition) for partition in sorted(partitions)]
        heads = self._lanes.heads
        windows = []
        for state in states:
            start = max(state.progress.watermark, heads.get(state.partition, 0))
            windows.append(
                Window(
                    partition=state.partition,
                    assignment=assignment,
                    next_offset=start,
                    head=start,
                    context=state,
                )
            )
        self._lanes.open(windows)
        for state in states:
            task = asyncio.create_task(self._takeover.make_ready(state))
            self._takeovers.add(task)
            task.add_done_callback(self._takeovers.discard)
        logger.info(
            "holding partitions %s from offsets %s",
            [window.partition for window in windows],
            [window.head for window in windows],
        )
        return {window.partition: window.head for window in windows}

    async def _claim(self, partition: int) -> PartitionState:
        while True:
            try:
                return await self._takeover.claim(partition)
            except ReadModelUnavailable as error:
                # The caller's deadline ends this; the process is then started again.
                metrics.RETRIES.labels(type(error).__name__).inc()
                logger.warning("partition %d cannot be claimed: %s", partition, error)
                await asyncio.sleep(_CLAIM_BACKOFF_S)

    async def _end(self) -> None:
        for task in list(self._takeovers):
            task.cancel()
        await self._lanes.close(grace_s=_GRACE_S)


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


def lane_of(record: LogRecord) -> bytes:
    """Return the lane of a record: its subject's, or one of its own where none can be read."""
    try:
        return record.header().subject.bytes
    except SealBroken:
        return b"unreadable %d" % record.position.offset


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
