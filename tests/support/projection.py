"""A read model over real stores, with or without a projector that keeps it up with the log."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from projections.apply import Applier
from projections.audit import AuditReport, audit
from projections.batch import LogItem, TopicPartitionPair
from projections.dead_letters import DeadLetterBox
from projections.digest import Comparison, ReadModelComparer
from projections.files.projection import FilesTopic
from projections.ledger import PostgresLedger
from projections.projector import Projector
from projections.read_model import ReadModel, open_read_model
from projections.recall_records import RecallRecords
from projections.side_topics import SideApplier, SideTopic
from schemas.keyring import Keyring
from schemas.log.producer import LogProducer
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord
from schemas.topics import FILES, RECALLS, TURNS, memories_topic
from tests.conftest import TestStores
from tests.support.brokers import new_producer
from tests.support.log_writer import DIMENSION, EMBEDDER, TENANT, LogWriter
from tests.support.waiting import eventually


@dataclass(frozen=True, kw_only=True, slots=True)
class Projection:
    """Everything that projecting needs.

    Attributes:
        stores: where it lies.
        keyring: an open keyring.
        producer: appends to the log.
        read_model: an open read model.
    """

    stores: TestStores
    keyring: Keyring
    producer: LogProducer
    read_model: ReadModel

    async def writer(self, tenant: str = TENANT) -> LogWriter:
        """Return a writer of a new user's records."""
        return await LogWriter.of_new_user(
            self.producer,
            self.keyring,
            generation=self.stores.generation,
            partitions=self.stores.partitions,
            tenant=tenant,
        )

    async def applier(self) -> Applier:
        """Return an applier that takes records from the test instead of the log."""
        return Applier(
            self.read_model,
            self.keyring,
            DeadLetterBox(self.producer, self.keyring, generation=self.stores.generation),
            system_subject=(await self.keyring.system_subject()).subject,
            partitions=self.stores.partitions,
            sides=SideApplier(self._sides()),
        )

    def _sides(self) -> list[SideTopic[Any]]:
        return [FilesTopic(partitions=self.stores.partitions), RecallRecords()]

    async def positions(self) -> dict[TopicPartitionPair, int]:
        """Return the positions of every partition, which begin at 0."""
        topics = (TURNS, memories_topic(self.stores.generation), FILES, RECALLS)
        applier = await self.applier()
        return await applier.positions(topics, range(self.stores.partitions))

    async def apply(self, items: Sequence[LogItem]) -> None:
        """Apply records at the positions that the table has."""
        await (await self.applier()).apply(items, await self.positions())

    async def catch_up(self) -> None:
        """Apply what the log holds, without a projector and its group."""
        positions = await self.positions()
        items: list[LogItem] = []
        for (topic, partition), start in positions.items():
            items += await asyncio.to_thread(self._read, topic, partition, start)
        await (await self.applier()).apply(items, positions)

    def _read(self, topic: str, partition: int, start: int) -> list[LogRecord]:
        bootstrap = self.stores.kafka_bootstrap
        return list(read_to_end(bootstrap, topic, partition, start=start, client_id="test"))

    async def reset_positions(self) -> None:
        """Let every record be read again into the rows as they are."""
        async with self.read_model.connection() as connection:
            await connection.execute("UPDATE positions SET next_offset = 0")

    async def compare(self) -> Comparison:
        """Compare the read model with its log."""
        comparer = ReadModelComparer(
            self.read_model, bootstrap=self.stores.kafka_bootstrap, keyring=self.keyring
        )
        return await comparer.compare()

    async def audit(self) -> AuditReport:
        """Account for every turn, as the log and the read model have it."""
        ledger = await PostgresLedger.open(self.read_model)
        try:
            progress = {
                partition: await ledger.progress(partition)
                for partition in range(self.stores.partitions)
            }
        finally:
            await ledger.close()
        return await audit(
            self.stores.kafka_bootstrap,
            self.keyring,
            generation=self.stores.generation,
            partitions=self.stores.partitions,
            progress=progress,
        )

    async def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return what a query finds where every subject is seen."""
        async with self.read_model.connection() as connection, connection.transaction():
            await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
            return await (await connection.execute(query)).fetchall()

    @asynccontextmanager
    async def projecting(self) -> AsyncIterator[Projector]:
        """Yield a running projector."""
        projector = Projector(
            bootstrap=self.stores.kafka_bootstrap,
            read_model=self.read_model,
            keyring=self.keyring,
            producer=self.producer,
            partitions=self.stores.partitions,
            sides=self._sides(),
        )
        stop = asyncio.Event()
        running = asyncio.create_task(projector.run(stop))
        try:
            yield projector
        finally:
            stop.set()
            await running

    async def applied(self, topic: str, partition: int, offset: int) -> None:
        """Return once the record at an offset is applied."""

        async def there() -> bool:
            return (await self.positions())[topic, partition] > offset

        await eventually(there, what=f"{topic}[{partition}] to be applied up to {offset}")

    async def outcome_applied(self, partition: int, offset: int) -> None:
        """Return once the outcome at an offset is applied."""
        await self.applied(memories_topic(self.stores.generation), partition, offset)


@asynccontextmanager
async def opened(stores: TestStores) -> AsyncIterator[Projection]:
    """Yield the parts of a projection over fresh stores."""
    keyring = await Keyring.open(stores.keyring_url, stores.key_directory, migrate=True)
    producer = new_producer(stores.kafka_bootstrap)
    read_model = await open_read_model(
        stores.database_url,
        generation=stores.generation,
        embedder=EMBEDDER,
        dimension=DIMENSION,
        migrate=True,
    )
    try:
        yield Projection(stores=stores, keyring=keyring, producer=producer, read_model=read_model)
    finally:
        await read_model.close()
        await producer.close()
        await keyring.close()
