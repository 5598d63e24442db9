"""The read model and the ledger in memory, as they tell what waits, what was spent and flagged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace

import pytest

from projections.flags import PostgresFlags
from projections.spending import PostgresSpending
from projections.waiting import PostgresWaitingTurns
from tests.conftest import TestStores
from tests.contracts.projections import OTHER_TENANT, ProjectionContract, ProjectionSite
from tests.support.log_writer import LogWriter
from tests.support.memory_keyring import MemoryKeyring
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_log import MemoryLog, MemoryProducer
from tests.support.memory_projections import MemoryFlags, MemorySpending
from tests.support.memory_waiting import MemoryWaiting
from tests.support.projection import opened as projection_opened
from tests.support.turns import new_keys

GENERATION = "g1"
PARTITIONS = 4


class TestMemoryProjection(ProjectionContract):
    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[ProjectionSite]]:
        return _in_memory


class TestReadModel(ProjectionContract):
    @pytest.fixture
    def opened(
        self, stores: TestStores
    ) -> Callable[[], AbstractAsyncContextManager[ProjectionSite]]:
        return lambda: _in_postgres(stores)


@asynccontextmanager
async def _in_memory() -> AsyncIterator[ProjectionSite]:
    log, keyring = MemoryLog(), MemoryKeyring()
    ledger = MemoryLedger(log, keyring, generation=GENERATION, partitions=PARTITIONS)
    ledger.at_once = False
    ours = new_keys(partition=1, partitions=PARTITIONS)
    theirs = replace(new_keys(partition=3, partitions=PARTITIONS), tenant=OTHER_TENANT)
    writer, stranger = (
        LogWriter(
            MemoryProducer(log), keyring.put(keys), generation=GENERATION, partitions=PARTITIONS
        )
        for keys in (ours, theirs)
    )

    async def catch_up() -> None:
        for partition in range(PARTITIONS):
            await ledger.project(partition)

    yield ProjectionSite(
        waiting=MemoryWaiting(ledger, partitions=PARTITIONS),
        spending=MemorySpending(ledger, keyring, partitions=PARTITIONS),
        flags=MemoryFlags(ledger, keyring, partitions=PARTITIONS),
        writer=writer,
        stranger=stranger,
        catch_up=catch_up,
    )


@asynccontextmanager
async def _in_postgres(stores: TestStores) -> AsyncIterator[ProjectionSite]:
    async with projection_opened(stores) as projection:
        writer = stranger = await projection.writer()
        while stranger.partition == writer.partition:
            stranger = await projection.writer(OTHER_TENANT)
        yield ProjectionSite(
            waiting=PostgresWaitingTurns(projection.read_model),
            spending=PostgresSpending(projection.read_model),
            flags=PostgresFlags(projection.read_model),
            writer=writer,
            stranger=stranger,
            catch_up=projection.catch_up,
        )
