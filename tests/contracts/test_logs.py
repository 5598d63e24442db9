"""Kafka's log and the one that simulations run on, against one contract."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from schemas.log.reader import bounds, new_consumer, read_to_end
from schemas.log.sealed import LogRecord, SealedRecord
from tests.contracts.logs import LogContract, LogSite, Opened, sealed
from tests.support.brokers import new_producer
from tests.support.memory_log import MemoryLog, MemoryProducer
from tests.support.waiting import wait_until

EMPTIED = "emptied"


class TestMemoryLog(LogContract):
    @pytest.fixture
    def opened(self) -> Callable[[], Opened]:
        return _in_memory


class TestKafka(LogContract):
    @pytest.fixture
    def opened(self, ledger_bootstrap: str) -> Callable[[], Opened]:
        return lambda: _in_kafka(ledger_bootstrap)

    @pytest.mark.lasting_broker(reason="records are deleted from the log's beginning")
    @pytest.mark.parametrize("left", [0, 2])
    def test_is_read_to_its_end_where_the_broker_removed_records(
        self, kafka_bootstrap: str, left: int
    ) -> None:
        topic = f"{EMPTIED}-{left}"

        async def act() -> None:
            async with _in_kafka(kafka_bootstrap) as site:
                for _ in range(5):
                    await site.producer.append(topic, 0, sealed())
                _remove(kafka_bootstrap, topic, 5 - left)

                for start in (0, 3, 4, 5):
                    read = await site.log.read(topic, 0, start)
                    assert [one.position.offset for one in read] == list(
                        range(max(start, 5 - left), 5)
                    )
                assert await site.log.end(topic, 0) == 5

        _make(kafka_bootstrap, topic, {"cleanup.policy": "delete"})
        asyncio.run(act())

    @pytest.mark.lasting_broker(reason="the log is compacted")
    @pytest.mark.timeout(180)
    def test_is_read_from_any_offset_where_compaction_removed_records(
        self, kafka_bootstrap: str
    ) -> None:
        topic = "compacted"
        settings = {
            "cleanup.policy": "compact",
            "min.cleanable.dirty.ratio": "0.001",
            "segment.ms": "100",
            "delete.retention.ms": "0",
            "max.compaction.lag.ms": "1",
        }

        async def act() -> None:
            async with _in_kafka(kafka_bootstrap) as site:
                kept, gone = sealed(), sealed()
                await site.producer.append(topic, 0, kept)
                await site.producer.append(topic, 0, gone)
                await site.log.bury(topic, 0, gone)

                def compacted() -> list[LogRecord] | None:
                    # What lies in the last segment is never compacted: another append rolls it.
                    asyncio.run_coroutine_threadsafe(
                        site.producer.append(topic, 0, kept), loop
                    ).result(30)
                    read = _read(kafka_bootstrap, topic, 0, 0)
                    return read if all(one.key == kept.key for one in read) else None

                loop = asyncio.get_running_loop()
                read = await asyncio.to_thread(
                    wait_until, compacted, what="the cleaner to run", timeout_s=120
                )

                assert read[-1].position.offset > 3
                end = await site.log.end(topic, 0)
                for start in (0, 1, 2, end - 1, end):
                    places = [one.position.offset for one in await site.log.read(topic, 0, start)]
                    # The cleaner may have run again since: what is newest stays.
                    assert places[-1:] == ([end - 1] if start < end else [])
                    assert all(place >= start for place in places)

        _make(kafka_bootstrap, topic, settings)
        asyncio.run(act())


class _MemoryReader:
    def __init__(self, log: MemoryLog) -> None:
        self._log = log

    async def read(self, topic: str, partition: int, start: int = 0) -> list[LogRecord]:
        return self._log.records(topic, partition, start)

    async def end(self, topic: str, partition: int) -> int:
        return self._log.end(topic, partition)

    async def bury(self, topic: str, partition: int, record: SealedRecord) -> int:
        return self._log.append_raw(
            topic, partition, key=record.key, value=None, headers=record.headers
        )


class _KafkaReader:
    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    async def read(self, topic: str, partition: int, start: int = 0) -> list[LogRecord]:
        return await asyncio.to_thread(_read, self._bootstrap, topic, partition, start)

    async def end(self, topic: str, partition: int) -> int:
        return await asyncio.to_thread(_end, self._bootstrap, topic, partition)

    async def bury(self, topic: str, partition: int, record: SealedRecord) -> int:
        return await asyncio.to_thread(_bury, self._bootstrap, topic, partition, record)


@asynccontextmanager
async def _in_memory() -> AsyncIterator[LogSite]:
    log = MemoryLog()
    yield LogSite(producer=MemoryProducer(log), log=_MemoryReader(log))


@asynccontextmanager
async def _in_kafka(bootstrap: str) -> AsyncIterator[LogSite]:
    producer = new_producer(bootstrap)
    try:
        yield LogSite(producer=producer, log=_KafkaReader(bootstrap))
    finally:
        await producer.close()


def _read(bootstrap: str, topic: str, partition: int, start: int) -> list[LogRecord]:
    return list(read_to_end(bootstrap, topic, partition, start=start, client_id="test"))


def _end(bootstrap: str, topic: str, partition: int) -> int:
    consumer = new_consumer(bootstrap, client_id="test")
    try:
        return bounds(consumer, topic, partition)[1]
    finally:
        consumer.close()


def _bury(bootstrap: str, topic: str, partition: int, record: SealedRecord) -> int:
    offsets: list[int] = []

    def report(error: object, message: Any) -> None:
        assert error is None
        offsets.append(message.offset())

    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(
        topic,
        key=record.key,
        value=None,
        partition=partition,
        headers=list(record.headers),
        on_delivery=report,
    )
    assert producer.flush(30) == 0
    return offsets[0]


def _make(bootstrap: str, topic: str, settings: dict[str, str]) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    made = admin.create_topics([NewTopic(topic, 1, 1, config=settings)], operation_timeout=20)
    made[topic].result(30)


def _remove(bootstrap: str, topic: str, below: int) -> None:
    """Let the broker forget the records below an offset."""
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    place = TopicPartition(topic, 0, below)
    [removed] = admin.delete_records([place], operation_timeout=20).values()
    removed.result(30)
