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
from faust.transport.consumer import ensure_TPset
from faust.transport.drivers import aiokafka as driver
from faust.types import TP

from schemas.errors import MemledgerError
from schemas.topics import RECORD_BYTES_MAX

_FETCH_WAIT_MS: Final = 100
_FETCH_RECORDS_MAX: Final = 500
_BUFFER_MAX: Final = 1000
_REQUEST_TIMEOUT_S: Final = 60.0
_TEN_YEARS_S: Final = 10 * 365 * 86_400.0
_LEASE_POLL_S: Final = 0.05
_GRACE_S: Final = 2.0

Claim = Callable[[Collection[int]], Awaitable[Mapping[int, int]]]
"""Given the assigned partitions: the offset from which each one must be read."""


class LogTruncated(MemledgerError):
    """The log ends before the place up to which it was worked on: it is not the same log."""


class LedgerListener(driver.ConsumerRebalanceListener):
    """Hands assignments on without the group's generation."""

    async def on_partitions_assigned(self, assigned: Any) -> None:  # noqa: ANN401 - Faust is not typed
        """Note that the group answered just now, and hand the assignment to the main thread."""
        thread = cast("LedgerThread", self._thread)
        thread.heartbeat_at = time.monotonic()
        await thread.on_partitions_assigned(ensure_TPset(assigned))


class LedgerThread(driver.AIOKafkaConsumerThread):
    """Runs the Kafka client in its own thread and event loop."""

    heartbeat_at: float = 0.0
    """``time.monotonic()`` just before the last heartbeat that the broker accepted was sent."""

    def _create_worker_consumer(self, transport: Any) -> Any:  # noqa: ANN401
        consumer = super()._create_worker_consumer(transport)
        # Faust fixes 1,500 ms, and a seek waits for the long poll that is under way.
        consumer._fetch_max_wait_ms = _FETCH_WAIT_MS  # noqa: SLF001 - no setting leads there
        return consumer

    async def on_start(self) -> None:
        """Start the client, and note when its heartbeats are accepted."""
        await super().on_start()
        coordinator = self._ensure_consumer()._coordinator  # noqa: SLF001 - the only place that knows
        beat = coordinator._do_heartbeat  # noqa: SLF001

        async def timed_beat() -> bool:
            sent_at = time.monotonic()
            accepted = bool(await beat())
            if accepted:
                self.heartbeat_at = sent_at
            return accepted

        coordinator._do_heartbeat = timed_beat  # noqa: SLF001

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
            for partition in records.keys() & consumer.assignment():
                consumer.seek(partition, records[partition][0].offset)
            return {}
        return records

    async def seek_all(self, offsets: Mapping[TP, int]) -> None:
        """Move the client to the given offsets; runs in its own loop.

        Raises:
            LogTruncated: an offset lies beyond the end of its partition. The client would go back
                to the beginning by itself, and every new turn would count as an old one.
        """
        consumer = self._ensure_consumer()
        places = {driver.ensure_aiokafka_TP(place): at for place, at in offsets.items()}
        ends = await consumer.end_offsets(list(places))
        for place, offset in places.items():
            if offset > ends[place]:
                raise LogTruncated(
                    f"{place.topic}[{place.partition}] ends at offset {ends[place]}, but was "
                    f"worked on up to {offset}: the broker lost records, or this read model is of "
                    "another log; restore the log, or drop the schema of the generation and start "
                    "again: the read model is then rebuilt from the log"
                )
            consumer.seek(place, offset)


class LedgerConsumer(driver.Consumer):
    """Starts where the ledger says and ends lanes before a partition is given away.

    An assignment has a number of our own, counted in the main thread: the group's generation can
    repeat after a join that failed, and changes in another thread in the middle of a fetch.
    """

    RebalanceListener = LedgerListener

    def __post_init__(self) -> None:
        """Called by Faust when the consumer is made."""
        self._seeking = asyncio.Lock()
        self._committing = asyncio.Lock()
        self._assignments = 0
        self._begun = 0
        self._over = 0
        self._starts: dict[TP, int] = {}

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

    async def on_partitions_assigned(self, assigned: Any, generation_id: int = 0) -> None:  # noqa: ANN401, ARG002
        """Count the assignment, then let Faust take it."""
        self._assignments += 1
        self.app.consumer_generation_id = self._assignments
        await super().on_partitions_assigned(assigned, self._assignments)

    async def on_partitions_revoked(self, revoked: Any) -> None:  # noqa: ANN401
        """End every lane first: Faust then has nothing to wait for."""
        self._over = self._assignments
        await self._ledger_transport.end(_GRACE_S if self.remaining_s() > _GRACE_S else 0.0)
        await self.commit_heads()
        await super().on_partitions_revoked(revoked)

    async def perform_seek(self) -> None:
        """Begin an assignment. Faust calls it once before the flow resumes, and again at will."""
        # Faust would stay suspended in silence if this outlasted the request timeout: raise.
        async with asyncio.timeout(self.app.conf.broker_request_timeout * 0.8), self._seeking:
            assignment = self._assignments
            if assignment in (self._begun, self._over):
                return
            assigned = self.assignment()
            starts = await self._ledger_transport.claim([place.partition for place in assigned])
            offsets = {place: starts[place.partition] for place in assigned}
            thread = self._ledger_thread
            await thread.call_thread(thread.seek_all, offsets)
            if assignment == self._over:
                return
            self._read_offset.update(offsets)
            self._starts = offsets
            self._ledger_transport.open(assignment)
            self._begun = assignment

    async def _getmany(self, active_partitions: Any, timeout: float) -> Any:  # noqa: ANN401 - Faust's signature
        """Fetch for an assignment that stands where it must be read, and for no other."""
        # Faust labels records with the assignment of the moment at which a fetch returns. One that
        # began before would let the lanes take an offset for the next one, and skip those between.
        assignment = self._assignments
        if assignment != self._begun:
            await asyncio.sleep(_LEASE_POLL_S)
            return {}
        records = await super()._getmany(active_partitions, timeout)
        if assignment == self._assignments:
            return records
        await self._start_again()
        return {}

    async def _start_again(self) -> None:
        """Move the client back to where the assignment starts, if that has begun.

        A fetch that was under way meanwhile may have taken its first records, which nobody gets.
        """
        async with self._seeking:
            if self._begun == self._assignments != self._over:
                thread = self._ledger_thread
                # Partitions that were taken away just now are begun anew by whoever has them next.
                with contextlib.suppress(IllegalStateError):
                    await thread.call_thread(thread.seek_all, self._starts)

    async def commit(self, topics: Any = None, start_new_transaction: bool = True) -> bool:  # noqa: ANN401, ARG002, FBT001, FBT002 - Faust's signature
        """Commit the heads, when Faust's timer asks for it."""
        # Never during a join: a refused commit makes the client forget the generation it has just
        # joined.
        return not self.app.rebalancing and await self.commit_heads()

    async def commit_heads(self) -> bool:
        """Commit the heads, for lag monitors only; a failure is harmless and tried again."""
        async with self._committing:
            heads = self._ledger_transport.heads()
            if not heads:
                # Perhaps nothing was ever assigned, since the client could not even start.
                return False
            changed = {
                place: heads[place.partition]
                for place in self.assignment()
                if heads.get(place.partition)
                and self._committed_offset[place] != heads[place.partition]
            }
            if not changed or self.remaining_s() <= 0:
                return False
            offsets = {
                driver.ensure_aiokafka_TP(place): OffsetAndMetadata(head, "")
                for place, head in changed.items()
            }
            thread = self._ledger_thread
            try:
                await thread.call_thread(thread._ensure_consumer().commit, offsets)  # noqa: SLF001
            except (KafkaError, IllegalStateError) as error:
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
        claim: Claim,
        open_: Callable[[int], None],
        end: Callable[[float], Awaitable[None]],
        heads: Callable[[], Mapping[int, int]],
    ) -> None:
        """Wire the callbacks.

        Args:
            app: the Faust application.
            claim: claims the assigned partitions and tells where each starts.
            open_: begins the assignment of that number, once the reader stands there.
            end: ends every lane within so many seconds; called before partitions are given away.
            heads: by partition, the offset below which everything is finished.
        """
        super().__init__(app.conf.broker_consumer, app)
        self.claim = claim
        self.open = open_
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
