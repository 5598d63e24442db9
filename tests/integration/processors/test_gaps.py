"""A turns topic with holes: tombstones, and records that compaction removed."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource

from schemas.topics import TURNS
from tests.conftest import TestStores
from tests.support.extractors import NotingExtractor
from tests.support.one_process import OneProcess, Placed, opened_pipeline
from tests.support.waiting import eventually

EAGER = {
    "segment.ms": "200",
    "min.cleanable.dirty.ratio": "0.001",
    "max.compaction.lag.ms": "1000",
    "delete.retention.ms": "0",
}


def compact_eagerly(bootstrap: str) -> None:
    """Let the broker compact the turns topic at every occasion."""
    entries = [
        ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET)
        for name, value in EAGER.items()
    ]
    resource = ConfigResource(ConfigResource.Type.TOPIC, TURNS, incremental_configs=entries)
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    for future in admin.incremental_alter_configs([resource]).values():
        future.result(20)


async def keys_of(pipeline: OneProcess, placed: list[Placed]) -> list[bytes | None]:
    """Return the keys of the turns, which the log no longer tells once it is compacted."""
    records = await pipeline.records(TURNS, placed[0].partition)
    keys = {record.position.offset: record.key for record in records}
    return [keys[one.offset] for one in placed]


async def bury(pipeline: OneProcess, partition: int, keys: list[bytes | None]) -> None:
    """Append a tombstone for each of the keys."""

    def append() -> None:
        producer = Producer({"bootstrap.servers": pipeline.stores.kafka_bootstrap, "log_level": 3})
        for key in keys:
            producer.produce(TURNS, key=key, value=None, partition=partition)
        producer.flush(20)

    await asyncio.to_thread(append)


async def gone(pipeline: OneProcess, placed: list[Placed], keys: list[bytes | None]) -> None:
    """Return once compaction has removed the turns; tombstones keep the log rolling meanwhile."""
    partition = placed[0].partition

    async def removed() -> bool:
        # A segment that is written to is never compacted: this rolls it.
        if await standing():
            await bury(pipeline, partition, keys[:1])
        return not await standing()

    async def standing() -> bool:
        offsets = {record.position.offset for record in await pipeline.records(TURNS, partition)}
        return any(one.offset in offsets for one in placed)

    await eventually(removed, what="the broker to compact the log", timeout_s=120)


@pytest.mark.lasting_broker(reason="the log is compacted")
def test_nothing_is_skipped_in_a_log_with_holes(stores: TestStores) -> None:
    async def run() -> None:
        compact_eagerly(stores.kafka_bootstrap)
        async with opened_pipeline(stores) as pipeline:
            users = [await pipeline.user_in(0) for _ in range(3)]
            placed = [await pipeline.say(users[n % 3], f"turn {n}") for n in range(12)]
            forgotten = [placed[number] for number in (0, 1, 4, 5, 6, 11)]
            keys = await keys_of(pipeline, forgotten)
            await bury(pipeline, forgotten[0].partition, keys)
            await gone(pipeline, forgotten, keys)
            kept = [one for one in placed if one not in forgotten]
            extractor = NotingExtractor()
            async with pipeline.projecting(), pipeline.working(extractor) as running:
                kept += [await pipeline.say(users[n % 3], f"new {n}") for n in range(4)]
                await pipeline.all_closed(kept)

                async def at_the_end() -> bool:
                    return running.worker.heads.get(0) == kept[-1].offset + 1

                await eventually(at_the_end, what="the head to come to the end")
            assert set(extractor.calls) == {one.turn_id for one in kept}
            assert set(extractor.calls.values()) == {1}
            assert len(await pipeline.outcomes()) == len(kept)

    asyncio.run(run())
