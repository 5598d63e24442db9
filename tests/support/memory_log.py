"""A log in memory: topics, partitions and records as a broker keeps them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable
from enum import Enum, auto

from processors.log_tail import Stretch
from schemas.errors import InputTooLarge, LogUnavailable
from schemas.log.sealed import LogPosition, LogRecord, SealedRecord
from schemas.topics import RECORD_BYTES_MAX, TURNS, memories_topic, proposals_topic


class Delivery(Enum):
    """What becomes of one append."""

    ACKNOWLEDGED = auto()
    LOST = auto()
    UNACKNOWLEDGED = auto()
    """It stands, but whoever appended it is not told."""


Deliver = Callable[[str], Awaitable[Delivery]]
"""Given a topic: what becomes of an append to it; it may take its time."""


class MemoryLog:
    """Records by topic and partition; an offset is a place in the list."""

    def __init__(self) -> None:
        self._records: dict[tuple[str, int], list[LogRecord]] = defaultdict(list)

    def records(self, topic: str, partition: int, start: int = 0) -> list[LogRecord]:
        """Return the records of a partition from an offset on."""
        return self._records[topic, partition][start:]

    def end(self, topic: str, partition: int) -> int:
        """Return the offset after the last record of a partition."""
        return len(self._records[topic, partition])

    def append(self, topic: str, partition: int, record: SealedRecord) -> int:
        """Append a record and return its offset."""
        return self.append_raw(
            topic, partition, key=record.key, value=record.value, headers=record.headers
        )

    def append_raw(
        self,
        topic: str,
        partition: int,
        *,
        key: bytes | None = None,
        value: bytes | None = None,
        headers: list[tuple[str, bytes]] | None = None,
    ) -> int:
        """Append any record at all and return its offset."""
        records = self._records[topic, partition]
        records.append(
            LogRecord(
                position=LogPosition(topic=topic, partition=partition, offset=len(records)),
                timestamp_ms=0,
                key=key,
                value=value,
                headers=headers or [],
            )
        )
        return len(records) - 1


async def acknowledged(_: str) -> Delivery:
    """Deliver at once."""
    return Delivery.ACKNOWLEDGED


async def at_once() -> None:
    """Acknowledge at once."""


class MemoryProducer:
    """Appends to a log in memory, as reliably as the test wants.

    Attributes:
        deliver: decides on each append.
        acknowledge: passes between a record's standing and its acknowledgement.
        too_large: topics whose next append is refused as too large, once for each mention.
    """

    def __init__(self, log: MemoryLog, deliver: Deliver = acknowledged) -> None:
        self.deliver = deliver
        self.acknowledge: Callable[[], Awaitable[None]] = at_once
        self.too_large: list[str] = []
        self._log = log

    async def append(self, topic: str, partition: int, record: SealedRecord) -> int:
        """Append one record and return its offset."""
        refused = topic in self.too_large
        if refused:
            self.too_large.remove(topic)
        if refused or len(record.value) > RECORD_BYTES_MAX:
            raise InputTooLarge(field="record", problem="too large", remedy="send less")
        delivery = await self.deliver(topic)
        if delivery is Delivery.LOST:
            raise LogUnavailable("the broker did not acknowledge")
        offset = self._log.append(topic, partition, record)
        await self.acknowledge()
        if delivery is Delivery.UNACKNOWLEDGED:
            raise LogUnavailable("the broker did not acknowledge")
        return offset


class MemoryTail:
    """The ends of a log in memory.

    Attributes:
        failure: raised by every call while it is set.
        starts: from where proposals were read.
    """

    def __init__(self, log: MemoryLog, generation: str) -> None:
        self.failure: Exception | None = None
        self.starts: list[int] = []
        self._log = log
        self._memories = memories_topic(generation)
        self._proposals = proposals_topic(generation)

    async def turns_end(self, partition: int) -> int:
        """Return the offset after the last turn."""
        return self._end(TURNS, partition)

    async def memories_end(self, partition: int) -> int:
        """Return the offset after the last outcome."""
        return self._end(self._memories, partition)

    async def proposals(self, partition: int, *, start: int) -> Stretch:
        """Return the proposals from an offset on."""
        self.starts.append(start)
        end = self._end(self._proposals, partition)
        return Stretch(records=tuple(self._log.records(self._proposals, partition, start)), end=end)

    def _end(self, topic: str, partition: int) -> int:
        if self.failure is not None:
            raise self.failure
        return self._log.end(topic, partition)
