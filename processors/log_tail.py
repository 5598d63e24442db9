"""Looking at the ends of a generation's topics, without a consumer group."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Protocol

from schemas.log import reader
from schemas.log.sealed import LogRecord
from schemas.topics import TURNS, memories_topic, proposals_topic


@dataclass(frozen=True, kw_only=True, slots=True)
class Stretch:
    """The records of a partition from an offset to its end.

    Attributes:
        records: in order, tombstones included.
        end: the offset after the last one that the partition had; everything below was read.
    """

    records: tuple[LogRecord, ...]
    end: int


class LogTail(Protocol):
    """What a worker that takes a partition over asks of the log.

    Every method raises :class:`~schemas.errors.LogUnavailable` where the broker does not answer.
    """

    async def turns_end(self, partition: int) -> int:
        """Return the offset after the last turn of a partition."""
        ...

    async def memories_end(self, partition: int) -> int:
        """Return the offset after the last outcome of a partition."""
        ...

    async def proposals(self, partition: int, *, start: int) -> Stretch:
        """Return the proposals of a partition from an offset on."""
        ...


class KafkaTail:
    """The ends of the topics on a broker."""

    def __init__(self, bootstrap: str, *, generation: str, client_id: str) -> None:
        """Name the broker; each call connects for itself.

        Args:
            bootstrap: ``host:port[,host:port]``.
            generation: whose topics.
            client_id: the name under which the broker knows this process.
        """
        self._bootstrap = bootstrap
        self._memories = memories_topic(generation)
        self._proposals = proposals_topic(generation)
        self._client_id = client_id

    async def turns_end(self, partition: int) -> int:
        """Return the offset after the last turn of a partition.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        return await asyncio.to_thread(self._end, TURNS, partition)

    async def memories_end(self, partition: int) -> int:
        """Return the offset after the last outcome of a partition.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        return await asyncio.to_thread(self._end, self._memories, partition)

    async def proposals(self, partition: int, *, start: int) -> Stretch:
        """Return the proposals of a partition from an offset on.

        Raises:
            LogUnavailable: the broker does not answer.
        """
        return await asyncio.to_thread(self._read_proposals, partition, start)

    def _end(self, topic: str, partition: int) -> int:
        consumer = reader.new_consumer(self._bootstrap, client_id=self._client_id)
        try:
            return reader.bounds(consumer, topic, partition)[1]
        finally:
            consumer.close()

    def _read_proposals(self, partition: int, start: int) -> Stretch:
        # The end is asked for first: compaction may have removed the last records before it.
        end = self._end(self._proposals, partition)
        if end <= start:
            return Stretch(records=(), end=end)
        records = tuple(
            reader.read_to_end(
                self._bootstrap, self._proposals, partition, start=start, client_id=self._client_id
            )
        )
        last = records[-1].position.offset + 1 if records else end
        return Stretch(records=records, end=max(end, last))
