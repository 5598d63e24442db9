"""How far the ledger is behind: records that stand in the log and are not yet processed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from confluent_kafka import Consumer

from projections.read_model import ReadModel
from schemas.errors import LogUnavailable
from schemas.log import reader
from schemas.log.admin import partition_count
from schemas.topics import TURNS, memories_topic


@dataclass(frozen=True, kw_only=True, slots=True)
class Lag:
    """Records yet to be processed.

    Attributes:
        workers: turns that are not closed.
        projector: records of turns and memories that are not applied.
    """

    workers: int
    projector: int


async def measure_lag(*, database_url: str, bootstrap: str, generation: str) -> Lag:
    """Compare the ends of the topics with what the read model has applied.

    Raises:
        LogUnavailable, ReadModelUnavailable: a store does not answer.
    """
    ends = await asyncio.to_thread(_ends, bootstrap, generation)
    read_model = await ReadModel.open(database_url, generation=generation, pool_size_max=1)
    try:
        positions = await read_model.positions()
        open_turns = await read_model.open_turns()
    finally:
        await read_model.close()
    behind = {
        key: max(0, end - max(start, positions.get(key, 0))) for key, (start, end) in ends.items()
    }
    unread_turns = sum(count for (topic, _), count in behind.items() if topic == TURNS)
    return Lag(workers=open_turns + unread_turns, projector=sum(behind.values()))


def _ends(bootstrap: str, generation: str) -> dict[tuple[str, int], tuple[int, int]]:
    partitions = partition_count(bootstrap, TURNS)
    if partitions is None:
        raise LogUnavailable(f"topic {TURNS} does not exist: start the pipeline with `memledger up`")
    consumer: Consumer = reader.new_consumer(bootstrap, client_id="memledger-status")
    try:
        return {
            (topic, partition): reader.bounds(consumer, topic, partition)
            for topic in (TURNS, memories_topic(generation))
            for partition in range(partitions)
        }
    finally:
        consumer.close()
