"""An idempotent producer for asyncio: every append is acknowledged by all replicas or fails."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import deque
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from schemas.errors import InputTooLarge, LogBusy, LogUnavailable
from schemas.log.sealed import SealedRecord
from schemas.topics import RECORD_BYTES_MAX

logger = logging.getLogger(__name__)

DELIVERY_TIMEOUT_MS: Final = 30_000
"""How long the broker may take to acknowledge; the eraser's second pass waits for longer."""

_QUEUED_MESSAGES_MAX: Final = 50_000
_QUEUED_KBYTES_MAX: Final = 256 * 1024
_POLL_S: Final = 0.1
_FLUSH_S: Final = 10.0
_DISCARD_S: Final = 5.0
_REPLACE_PAUSE_S: Final = 1.0
"""Before a failed client is replaced: a cause that stays must not make one after the other."""


class LogProducer:
    """Appends sealed records and tells where they stand.

    One thread serves the delivery reports; they are handed to the event loop in batches, since
    waking a loop once for each message costs more than the message.

    An idempotent client can fail for good, for instance where the broker lost what it knew of the
    client's sequence numbers: from then on it refuses every record, while the process around it
    looks alive. So another client takes its place, under a new producer id. What waited in the
    failed one is told as unavailable and not sent again here: whether it stands is unknown, and
    whoever appends it again does so under its id, in the order that is the appender's to keep.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        client_id: str,
        one_record_a_batch: bool = False,
        quiet: bool = False,
    ) -> None:
        """Connect lazily; the first append finds out whether the broker is there.

        Args:
            bootstrap: ``host:port[,host:port]``.
            client_id: the name under which the broker knows this process.
            one_record_a_batch: send each record by itself, for a broker that takes the first
                record of a partition's last batch for its end.
            quiet: let the client write nothing by itself, for a terminal; errors tell all the same.
        """
        self._settings: dict[str, Any] = {
            "bootstrap.servers": bootstrap,
            "client.id": client_id,
            "enable.idempotence": True,
            "acks": "all",
            "linger.ms": 5,
            "compression.type": "none",  # sealed bytes do not compress
            "message.max.bytes": RECORD_BYTES_MAX,
            "delivery.timeout.ms": DELIVERY_TIMEOUT_MS,
            "queue.buffering.max.messages": _QUEUED_MESSAGES_MAX,
            "queue.buffering.max.kbytes": _QUEUED_KBYTES_MAX,
            "log_level": 0 if quiet else 3,
        }
        if one_record_a_batch:
            self._settings["batch.num.messages"] = 1
        self._producer = Producer(self._settings)
        self._loop = asyncio.get_running_loop()
        self._reports: deque[tuple[asyncio.Future[int], KafkaError | None, int]] = deque()
        self._drain_scheduled = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="log-producer", daemon=True)
        self._thread.start()

    async def append(self, topic: str, partition: int, record: SealedRecord) -> int:
        """Append one record and return its offset.

        Raises:
            LogBusy: too much is queued already.
            LogUnavailable: no acknowledgement before the deadline. The record may stand or not;
                appending it again is harmless, since its id is the same.
            InputTooLarge: the record is above ``RECORD_BYTES_MAX``.
        """
        return await self.submit(topic, partition, record)

    def submit(self, topic: str, partition: int, record: SealedRecord) -> asyncio.Future[int]:
        """Queue one record and return the future of its offset; see :meth:`append` for errors."""
        future: asyncio.Future[int] = self._loop.create_future()

        def report(error: KafkaError | None, message: Message) -> None:
            offset = message.offset()
            self._report(future, error, -1 if offset is None else offset)

        try:
            headers: list[Any] = list(record.headers)
            self._producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=partition,
                headers=headers,
                on_delivery=report,
            )
        except BufferError:
            raise LogBusy(
                f"{_QUEUED_MESSAGES_MAX} records wait for the broker: send slower and try again"
            ) from None
        except KafkaException as error:
            raise _translated(error.args[0]) from None
        except RuntimeError:
            raise LogUnavailable("this client of the log was closed") from None
        return future

    async def close(self) -> None:
        """Wait for what is queued, then stop; what is submitted later is refused."""
        if self._closing.is_set():
            return
        await asyncio.to_thread(self._flush)
        self._closing.set()
        await asyncio.to_thread(self._thread.join)
        # The client would look for brokers for as long as anything refers to it. With records that
        # nothing could discard it would not end.
        if not len(self._producer):
            await asyncio.to_thread(self._producer.close)

    def _flush(self) -> None:
        producer = self._producer
        try:
            producer.flush(_FLUSH_S)
        except KafkaException as error:
            logger.error("the log's client failed while it was closed: %s", error.args[0].str())  # noqa: TRY400 - the message says all
        # What is still there gets no acknowledgement any more, and nobody may wait for it.
        _discard(producer)

    def _serve(self) -> None:
        while not self._closing.is_set():
            try:
                self._producer.poll(_POLL_S)
            except KafkaException as error:
                # How the client tells, this once, that it has failed for good.
                self._replace(error.args[0])

    def _replace(self, error: KafkaError) -> None:
        """Let another client take the place of one that failed for good."""
        logger.error(
            "the log's client has failed for good and is replaced; what waited in it is answered "
            "as unavailable: %s",
            error.str(),
        )
        failed = self._producer
        _discard(failed)
        # Until it is replaced it refuses by itself whatever is submitted.
        if not self._closing.wait(_REPLACE_PAUSE_S):
            self._producer = Producer(self._settings)
            _discard(failed)

    def _report(self, future: asyncio.Future[int], error: KafkaError | None, offset: int) -> None:
        # Runs in the serving thread, once for each delivery.
        with self._lock:
            self._reports.append((future, error, offset))
            wake = not self._drain_scheduled
            self._drain_scheduled = True
        if wake:
            try:
                self._loop.call_soon_threadsafe(self._drain)
            except RuntimeError:
                # The loop is closed: nobody is left to be told.
                return

    def _drain(self) -> None:
        with self._lock:
            reports = list(self._reports)
            self._reports.clear()
            self._drain_scheduled = False
        for future, error, offset in reports:
            if future.done():
                continue
            if error is None:
                future.set_result(offset)
            else:
                future.set_exception(_translated(error))


def _discard(producer: Producer) -> None:
    """Drop what a client holds, so that each of its records is reported as failed."""
    producer.purge()
    deadline = time.monotonic() + _DISCARD_S
    while len(producer) and time.monotonic() < deadline:
        try:
            producer.poll(_POLL_S)
        except KafkaException:
            # It failed for good before; the reports come all the same.
            continue


def _translated(error: KafkaError) -> LogUnavailable | InputTooLarge:
    if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
        return InputTooLarge(
            field="record",
            problem=f"larger than {RECORD_BYTES_MAX} bytes when sealed",
            remedy="send less in one turn",
        )
    return LogUnavailable(f"the broker did not acknowledge: {error.str()}")
