"""Three seams over Faust's Kafka driver: where a partition starts, how it ends, what is committed.

Faust keeps books of acknowledgements that are not contiguous when they come out of order, seeks to
what the group committed, and waits for events in flight without a limit. Here the stream is read
without acknowledgements, a partition starts where the ledger says, lanes are ended before Faust
waits for anything, and the group's offset is the head of the lanes: a figure for lag monitors, on
which no decision rests.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final, cast

import faust
from aiokafka.errors import IllegalStateError, KafkaError
from aiokafka.structs import OffsetAndMetadata
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from schemas.topics import RECORD_BYTES_MAX

_FETCH_WAIT_MS: Final = 100
_FETCH_RECORDS_MAX: Final = 500
_BUFFER_MAX: Final = 1000
_REQUEST_TIMEOUT_S: Final = 60.0
_TEN_YEARS_S: Final = 10 * 365 * 86_400.0
_LEASE_POLL_S: Final = 0.05

Begin = Callable[[Collection[int], int], Awaitable[Mapping[int, int]]]
"""Given the assigned partitions and the assignment's number: where each one starts."""


class LedgerThread(driver.AIOKafkaConsumerThread):
    """Runs the Kafka client in its own thread and event loop."""

    heartbeat_at: float = 0.0
    """``time.monotonic()`` just before the last heartbeat that the broker accepted was sent."""

    def _create_worker_consumer(self, transport: Any) -> Any:  # noqa: ANN401 - Faust is not typed
        consumer = super()._create_worker_consumer(transport)
        # Faust fixes 1,500 ms, and a seek waits for the long poll that is under way.
        consumer._fetch_max_wait_ms = _FETCH_WAIT_MS  # noqa: SLF001
        return consumer

    async def on_start(self) -> None:
        """Start the client, and note when its heartbeats are accepted."""
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001
        beat = coordinator._do_heartbeat  # noqa: SLF001

        async def timed_beat() -> bool:
            sent_at = time.monotonic()
            accepted = bool(await beat())
            if accepted:
                self.heartbeat_at = sent_at
            return accepted

        coordinator._do_heartbeat = timed_beat  # noqa: SLF001

    async def on_partitions_assigned(self, assigned: Any, generation_id: int = 0) -> None:  # noqa: ANN401
        """Note that the group answered just now."""
        self.heartbeat_at = time.monotonic()
        await super().on_partitions_assigned(assigned, generation_id)

    async def _fetch_records(
        self,
        consumer: Any,  # noqa: ANN401
        active_partitions: Any,  # noqa: ANN401
        timeout: float | None = None,
        max_records: int | None = None,
    ) -> Any:  # noqa: ANN401
        records = await super()._fetch_records(consumer, active_partitions, timeout, max_records)
        if records and not self.consumer.flow_active:
            # Faust throws away what arrives while the flow is stopped: put it back.
            for partition, batch in records.items():
                with contextlib.suppress(IllegalStateError):
                    consumer.seek(partition, batch[0].offset)
            return {}
        return records

    async def seek_all(self, offsets: Mapping[TP, int]) -> None:
        """Move the client to the given offsets; runs in its own loop."""
        consumer = self._ensure_consumer()
        for partition, offset in offsets.items():
            consumer.seek(driver.ensure_aiokafka_TP(partition), offset)


class LedgerConsumer(driver.Consumer):
    """Starts where the ledger says and ends lanes before a partition is given away."""

    def __post_init__(self) -> None:
        """Called by Faust when the consumer is made."""
        self._seeking = asyncio.Lock()
        self._begun: int | None = None

    def _new_consumer_thread(self) -> LedgerThread:
        return LedgerThread(self, loop=self.loop, beacon=self.beacon)

    @property
    def _ledger_thread(self) -> LedgerThread:
        return cast("LedgerThread", self._thread)

    @property
    def _ledger_transport(self) -> LedgerTransport:
        return cast("LedgerTransport", self.transport)

    def remaining_s(self) -> float:
        """Seconds for which the broker cannot have given our partitions away."""
        session_s: float = self.app.conf.broker_session_timeout
        return self._ledger_thread.heartbeat_at + session_s - time.monotonic()

    async def renewed(self) -> None:
        """Return once a heartbeat that was sent after this call is accepted."""
        asked_at = time.monotonic()
        # Another thread moves it, so there is no event of this loop to wait for.
        while self._ledger_thread.heartbeat_at < asked_at:  # noqa: ASYNC110
            await asyncio.sleep(_LEASE_POLL_S)

    async def perform_seek(self) -> None:
        """Begin an assignment. Faust calls it once before the flow resumes, and again at will."""
        async with self._seeking:
            assignment = self.app.consumer_generation_id
            if assignment == self._begun:
                return
            assigned = self.assignment()
            # Faust would stay suspended in silence if this outlasted the request timeout: raise.
            async with asyncio.timeout(self.app.conf.broker_request_timeout * 0.8):
                starts = await self._ledger_transport.begin(
                    [partition.partition for partition in assigned], assignment
                )
                offsets = {partition: starts[partition.partition] for partition in assigned}
                thread = self._ledger_thread
                await thread.call_thread(thread.seek_all, offsets)
            self._read_offset.update(offsets)
            self._begun = assignment

    async def on_partitions_revoked(self, revoked: Any) -> None:  # noqa: ANN401
        """End every lane first: Faust then has nothing to wait for."""
        await self._ledger_transport.end()
        await self.commit()
        await super().on_partitions_revoked(revoked)

    async def commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:  # noqa: ANN401, ARG002, FBT001, FBT002
        """Commit the heads, for lag monitors only; a failure is harmless and tried again."""
        heads = self._ledger_transport.heads()
        changed = {
            partition: heads[partition.partition]
            for partition in self.assignment()
            if heads.get(partition.partition)
            and self._committed_offset[partition] != heads[partition.partition]
        }
        if not changed:
            return False
        offsets = {
            driver.ensure_aiokafka_TP(partition): OffsetAndMetadata(head, "")
            for partition, head in changed.items()
        }
        try:
            thread = self._ledger_thread
            await thread.call_thread(thread._ensure_consumer().commit, offsets)  # noqa: SLF001
        except KafkaError as error:
            self.log.warning("could not commit %r: %r", changed, error)
            return False
        self._committed_offset.update(changed)
        return True


class LedgerTransport(driver.Transport):
    """Hands the seams to Faust."""

    Consumer = LedgerConsumer

    def __init__(
        self,
        app: faust.App,
        *,
        begin: Begin,
        end: Callable[[], Awaitable[None]],
        heads: Callable[[], Mapping[int, int]],
    ) -> None:
        """Wire the callbacks.

        Args:
            app: the Faust application.
            begin: begins an assignment and tells where each partition starts.
            end: ends every lane; called before partitions are given away.
            heads: by partition, the offset below which everything is finished.
        """
        super().__init__(app.conf.broker_consumer, app)
        self.begin = begin
        self.end = end
        self.heads = heads


def build_app(
    *, group: str, bootstrap: str, session_timeout_s: float, data_directory: str
) -> faust.App:
    """Return a Faust application that reads raw records and does nothing by itself."""
    servers = ";".join(f"kafka://{server.strip()}" for server in bootstrap.split(","))
    return faust.App(
        group,
        broker=servers,
        datadir=data_directory,
        web_enabled=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        broker_session_timeout=session_timeout_s,
        broker_heartbeat_interval=session_timeout_s / 5,
        broker_rebalance_timeout=max(30.0, session_timeout_s),
        broker_request_timeout=_REQUEST_TIMEOUT_S,
        # Liveness is the progress of the ledger, not how often Faust polls.
        broker_max_poll_interval=_TEN_YEARS_S,
        broker_max_poll_records=_FETCH_RECORDS_MAX,
        broker_commit_interval=1.0,
        stream_buffer_maxsize=_BUFFER_MAX,
        stream_wait_empty=False,
        stream_recovery_delay=0.0,
        consumer_max_fetch_size=2 * RECORD_BYTES_MAX,
        consumer_auto_offset_reset="earliest",
    )
