"""Polling the partitions that the group gives to this process, from offsets that it does not keep.

The consumer group only shares the partitions out. Nothing is committed to Kafka: whoever uses an
:class:`Intake` says, after every change of the assignment and after every failure, from which
offsets to read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from projections.batch import LogEnd, LogItem, TopicPartitionPair
from schemas.errors import LogUnavailable
from schemas.log.reader import bounds, log_record
from schemas.log.sealed import LogPosition
from schemas.topics import RECORD_BYTES_MAX

_LOG: Final = logging.getLogger(__name__)
_Result = TypeVar("_Result")

_WAIT_S: Final = 0.2
"""How long a poll waits for a first record: what stopping may wait for."""

_NO_OFFSET: Final = -1001
"""librdkafka's RD_KAFKA_OFFSET_INVALID: nothing was fetched yet."""


class Intake:
    """A member of the projector's consumer group. Its methods are not for concurrent use.

    Args:
        bootstrap: ``host:port[,host:port]``.
        group: the consumer group.
        topics: the topics to read; all have the same number of partitions.
        client_id: the name under which the broker knows this process.
        batch_max: most records of one poll.
        gather_s: how long a poll waits for more after its first record, in seconds.
        session_timeout_s: how long the broker waits for a silent member before its partitions go
            to others.
    """

    def __init__(
        self,
        bootstrap: str,
        *,
        group: str,
        topics: Sequence[str],
        client_id: str,
        batch_max: int,
        gather_s: float,
        session_timeout_s: float,
    ) -> None:
        # One thread makes every call that blocks, so that leaving the group, when whoever polls was
        # cancelled, waits for the poll that is still under way.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="projector-intake")
        self._batch_max = batch_max
        self._gather_s = gather_s
        self._topics = tuple(topics)
        self._assigned: frozenset[int] = frozenset()
        self._changes = 0
        self._joined = False
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "client.id": client_id,
                "group.id": group,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                # Offsets below the first are there after an operator deleted old days.
                "auto.offset.reset": "earliest",
                # With equal numbers of partitions it gives the same ones of each topic to one
                # member, so that turns and outcomes of a partition are committed together.
                "partition.assignment.strategy": "range",
                "session.timeout.ms": round(session_timeout_s * 1000),
                "heartbeat.interval.ms": round(session_timeout_s * 1000 / 5),
                "fetch.message.max.bytes": RECORD_BYTES_MAX,
                "queued.max.messages.kbytes": 64 * 1024,
                "fetch.queue.backoff.ms": 20,
                # A topic that is made after this process has joined is found soon.
                "topic.metadata.refresh.interval.ms": 10_000,
                "allow.auto.create.topics": False,
                "log_level": 3,
            }
        )
        self._consumer.subscribe(
            list(topics),
            on_assign=self._on_assign,
            on_revoke=self._on_revoke,
            on_lost=self._on_revoke,
        )

    @property
    def assigned(self) -> frozenset[int]:
        """The partitions that this process holds."""
        return self._assigned

    @property
    def joined(self) -> bool:
        """Whether the group has given this process its share, which may be nothing."""
        return self._joined

    @property
    def changes(self) -> int:
        """Counts the changes of the assignment. After each, nothing is read until placed."""
        return self._changes

    async def poll(self) -> list[LogItem]:
        """Return what the placed partitions have next, or nothing after a short while.

        Raises:
            LogUnavailable: the broker cannot be reached, or refused.
        """
        return await self._in_thread(self._poll)

    async def place(self, offsets: Mapping[TopicPartitionPair, int]) -> None:
        """Read on at these offsets, and nowhere else.

        Raises:
            LogUnavailable: the client refused.
        """
        wanted = [
            TopicPartition(topic, partition, offset)
            for (topic, partition), offset in sorted(offsets.items())
        ]
        try:
            self._consumer.assign(wanted)
        except KafkaException as error:
            raise LogUnavailable(f"the log's client refused: {error.args[0].str()}") from None

    async def ends(self, places: Sequence[TopicPartitionPair]) -> dict[TopicPartitionPair, int]:
        """Return the offset after the last record of each partition, as the broker says now.

        Raises:
            LogUnavailable: the broker did not answer.
        """

        def ask() -> dict[TopicPartitionPair, int]:
            return {(topic, partition): self._end(topic, partition) for topic, partition in places}

        return await self._in_thread(ask)

    def known_end(self, place: TopicPartitionPair) -> int | None:
        """Return the offset after the last record, as the last fetch found it; ``None`` before."""
        topic, partition = place
        _, high = self._consumer.get_watermark_offsets(
            TopicPartition(topic, partition), cached=True
        )
        return None if high == _NO_OFFSET else high

    async def close(self) -> None:
        """Leave the group."""
        await self._in_thread(self._consumer.close)
        self._thread.shutdown(wait=False)

    async def _in_thread(self, call: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call)

    def _end(self, topic: str, partition: int) -> int:
        return bounds(self._consumer, topic, partition)[1]

    def _poll(self) -> list[LogItem]:
        try:
            first = self._consumer.poll(_WAIT_S)
            if first is None:
                return []
            rest = self._consumer.consume(self._batch_max - 1, timeout=self._gather_s)
        except KafkaException as error:
            raise LogUnavailable(f"the broker cannot be read: {error.args[0].str()}") from None
        return [item for item in map(self._item, [first, *rest]) if item is not None]

    def _item(self, message: Message) -> LogItem | None:
        error = message.error()
        if error is None:
            return log_record(message)
        if error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001 - its public name
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None and partition is not None and offset is not None  # noqa: S101, PT018 - librdkafka gives all three with the end of a partition
            return LogEnd(position=LogPosition(topic=topic, partition=partition, offset=offset))
        if error.fatal():
            raise LogUnavailable(f"the log's client has failed: {error.str()}")
        # Everything else librdkafka tries again by itself.
        _LOG.warning("reading the log: %s", error.str())
        return None

    # Called by librdkafka's client inside poll, in the polling thread.

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        shares = {topic: set[int]() for topic in self._topics}
        for assigned in partitions:
            shares[assigned.topic].add(assigned.partition)
        self._assigned = frozenset.intersection(*map(frozenset, shares.values()))
        if any(share != self._assigned for share in shares.values()):
            _LOG.error(
                "the group gave this process different partitions of its topics, and those that it "
                "has of one topic only are not read: all topics need the same number of partitions"
            )
        self._joined = True
        self._changes += 1
        # Nothing is read before place() has told from where.
        consumer.assign([])

    def _on_revoke(self, consumer: Consumer, _: list[TopicPartition]) -> None:
        self._assigned = frozenset()
        self._changes += 1
        consumer.unassign()
