"""The read model's ledger and the one that simulations run on, against one contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from projections.ledger import PostgresLedger
from schemas.log.reader import bounds, new_consumer
from schemas.topics import TURNS, memories_topic
from tests.conftest import TestStores
from tests.contracts.ledgers import LedgerContract, LedgerSite, Opened
from tests.support.log_writer import LogWriter
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog, MemoryProducer
from tests.support.projection import Projection
from tests.support.projection import opened as projection_opened
from tests.support.turns import new_keys

GENERATION = "g1"
PARTITIONS = 4


class TestMemoryLedger(LedgerContract):
    @pytest.fixture
    def opened(self) -> Callable[[], Opened]:
        return _in_memory


class TestPostgresLedger(LedgerContract):
    @pytest.fixture
    def opened(self, stores: TestStores) -> Callable[[], Opened]:
        return lambda: _in_postgres(stores)


@asynccontextmanager
async def _in_memory() -> AsyncIterator[LedgerSite]:
    log, keyring = MemoryLog(), MemoryKeyring()
    ledger = MemoryLedger(log, keyring, generation=GENERATION, partitions=PARTITIONS)
    ledger.at_once = False
    first, second = (
        LogWriter(
            MemoryProducer(log),
            keyring.put(new_keys(partition=partition, partitions=PARTITIONS)),
            generation=GENERATION,
            partitions=PARTITIONS,
        )
        for partition in (1, 3)
    )

    async def catch_up() -> None:
        for partition in range(PARTITIONS):
            await ledger.project(partition)

    yield LedgerSite(ledger=ledger, writers=(first, second), catch_up=catch_up)


@asynccontextmanager
async def _in_postgres(stores: TestStores) -> AsyncIterator[LedgerSite]:
    async with projection_opened(stores) as projection:
        first = second = await projection.writer()
        while second.partition == first.partition:
            second = await projection.writer()
        ledger = await PostgresLedger.open(projection.read_model)

        async def catch_up() -> None:
            async with projection.projecting():
                for topic, partition, offset in _ends(projection):
                    await projection.applied(topic, partition, offset)

        try:
            yield LedgerSite(ledger=ledger, writers=(first, second), catch_up=catch_up)
        finally:
            await ledger.close()


def _ends(projection: Projection) -> list[tuple[str, int, int]]:
    """Return topic, partition and offset of the last record of each partition that has one."""
    stores = projection.stores
    consumer = new_consumer(stores.kafka_bootstrap, client_id="test")
    try:
        return [
            (topic, partition, end - 1)
            for topic in (TURNS, memories_topic(stores.generation))
            for partition in range(stores.partitions)
            if (end := bounds(consumer, topic, partition)[1]) > 0
        ]
    finally:
        consumer.close()
