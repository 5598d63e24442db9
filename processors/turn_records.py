"""Reading single records of a topic again, by where they stand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from confluent_kafka import Consumer, KafkaError, TopicPartition

from schemas.errors import LogUnavailable
from schemas.log import reader
from schemas.log.sealed import LogRecord
from schemas.topics import TURNS

GAP_MAX: Final = 64
"""The widest gap between two wanted records that is read through: a new place costs the broker a
fetch of its own, which is some hundred records' worth of reading."""

_BATCH: Final = 64
_POLL_S: Final = 0.05
_SILENCE_MAX_S: Final = 10.0
_FETCH_WAIT_MS: Final = 20


class KafkaTurnRecords:
    """Reads records that stand already; one connection for all, made when it is needed.

    Reads follow one another in a thread of their own: a broker that is silent keeps none of those
    waiting that everything else of the process shares.
    """

    def __init__(self, bootstrap: str, *, client_id: str, topic: str = TURNS) -> None:
        """Name the broker.

        Args:
            bootstrap: ``host:port[,host:port]``.
            client_id: the name under which the broker knows this process.
            topic: whose records are read.
        """
        self._topic = topic
        self._bootstrap = bootstrap
        self._client_id = client_id
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="turn-records")
        self._consumer: Consumer | None = None

    async def read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        """Return the records at some offsets, in order; those that are gone are left out.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        if not offsets:
            return ()
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, self._read, partition, sorted(set(offsets))
        )

    async def close(self) -> None:
        """Give the connection up; nothing is read any more."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._drop)
        self._thread.shutdown(wait=False)

    def _read(self, partition: int, offsets: Sequence[int]) -> tuple[LogRecord, ...]:
        if self._consumer is None:
            self._consumer = reader.new_consumer(
                self._bootstrap, client_id=self._client_id, fetch_wait_ms=_FETCH_WAIT_MS
            )
        try:
            return tuple(
                record
                for run in _runs(offsets)
                for record in self._run(self._consumer, partition, run)
            )
        except LogUnavailable:
            self._consumer.close()
            self._consumer = None
            raise

    def _run(self, consumer: Consumer, partition: int, run: Sequence[int]) -> list[LogRecord]:
        """Read the wanted records of a run, through the others between them."""
        wanted, last = set(run), run[-1]
        found: list[LogRecord] = []
        consumer.assign([TopicPartition(self._topic, partition, run[0])])
        heard_at = time.monotonic()
        while True:
            messages = consumer.consume(_BATCH, timeout=_POLL_S)
            if messages:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > _SILENCE_MAX_S:
                raise LogUnavailable(f"{self._topic}[{partition}]: the broker ceased to answer")
            for message in messages:
                error = message.error()
                if error is not None:
                    if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
                        return found
                    raise LogUnavailable(f"{self._topic}[{partition}]: {error.str()}")
                record = reader.log_record(message)
                if record.position.offset in wanted:
                    found.append(record)
                # What compaction removed leaves a gap: whatever stands behind it ends the run too.
                if record.position.offset >= last:
                    return found

    def _drop(self) -> None:
        if self._consumer is not None:
            self._consumer.close()
            self._consumer = None


def _runs(offsets: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield stretches of ascending offsets without a gap that is wider than ``GAP_MAX``."""
    start = 0
    for place in range(1, len(offsets)):
        if offsets[place] - offsets[place - 1] > GAP_MAX:
            yield offsets[start:place]
            start = place
    yield offsets[start:]
