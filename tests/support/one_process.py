"""Workers and a projector over real stores, in the event loop of a test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from processors.worker import Worker, WorkerParts, group_of
from projections.consolidation import ProjectedConsolidation
from projections.embedders import HashEmbedder
from projections.files.projection import FilesTopic
from projections.ledger import PostgresLedger
from projections.projector import Projector
from projections.read_model import ReadModel, open_read_model
from projections.recall_records import RecallRecords
from projections.summaries import PostgresSummaries
from projections.waiting import PostgresWaitingTurns
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.producer import LogProducer
from schemas.log.reader import read_to_end
from schemas.log.sealed import LogRecord, open_record
from schemas.ports import Embedder, Extractor, Ledger
from schemas.records import Outcome
from schemas.settings import Settings
from schemas.topics import TURNS, memories_topic, proposals_topic
from tests.conftest import TestStores
from tests.support.brokers import new_producer
from tests.support.turns import SealedTurn, sealed_turn
from tests.support.waiting import eventually

TENANT = "acme"


@dataclass(frozen=True, kw_only=True, slots=True)
class Placed:
    """A turn that stands in the log."""

    keys: SubjectKeys
    turn_id: UUID
    partition: int
    offset: int


@dataclass(kw_only=True)
class RunningWorker:
    """A worker and its task."""

    worker: Worker
    stop: asyncio.Event
    task: asyncio.Task[None]

    async def end(self) -> None:
        """Leave the group as on SIGTERM."""
        self.stop.set()
        await asyncio.wait_for(asyncio.shield(self.task), 30)


@dataclass(kw_only=True)
class OneProcess:
    """Everything between an appended turn and the read model."""

    stores: TestStores
    keyring: Keyring
    producer: LogProducer
    read_model: ReadModel
    embedder: Embedder
    users: dict[str, SubjectKeys] = field(default_factory=dict)

    async def keys_of(self, user: str) -> SubjectKeys:
        """Return a user's keys; the user is made."""
        if user not in self.users:
            found = await self.keyring.subjects_for(TENANT, [user], create=True)
            self.users[user] = found[user]
        return self.users[user]

    async def user_in(self, partition: int) -> str:
        """Return a new user whose records lie in a partition."""
        while True:
            user = uuid4().hex
            keys = await self.keys_of(user)
            if sealed_turn(keys, "x", partitions=self.stores.partitions).partition == partition:
                return user

    async def say(self, user: str, text: str, *, turn_id: UUID | None = None) -> Placed:
        """Append a turn."""
        keys = await self.keys_of(user)
        sealed = sealed_turn(keys, text, partitions=self.stores.partitions, turn_id=turn_id)
        return await self.append(keys, sealed)

    async def append(self, keys: SubjectKeys, sealed: SealedTurn) -> Placed:
        """Append a turn that is sealed already."""
        offset = await self.producer.append(TURNS, sealed.partition, sealed.record)
        return Placed(
            keys=keys, turn_id=sealed.turn.turn_id, partition=sealed.partition, offset=offset
        )

    def settings(self, **changed: Any) -> Settings:
        """Return a worker's settings."""
        return Settings(
            generation=self.stores.generation,
            partitions=self.stores.partitions,
            **({"session_timeout_s": 10.0} | changed),
        )

    def worker(
        self, extractor: Extractor, ledger: Ledger, *, bootstrap: str | None = None, **changed: Any
    ) -> Worker:
        """Return a worker that does not run yet."""
        return Worker(
            WorkerParts(
                bootstrap=bootstrap or self.stores.kafka_bootstrap,
                keyring=self.keyring,
                ledger=ledger,
                waiting=PostgresWaitingTurns(self.read_model),
                consolidating=ProjectedConsolidation(self.read_model),
                producer=self.producer,
                extractor=extractor,
                embedder=self.embedder,
                summaries=PostgresSummaries(self.read_model),
            ),
            self.settings(**changed),
        )

    @asynccontextmanager
    async def working(self, extractor: Extractor, **changed: Any) -> AsyncIterator[RunningWorker]:
        """Yield a running worker; it is ended with the block unless the test did."""
        ledger = await PostgresLedger.open(self.read_model)
        worker = self.worker(extractor, ledger, **changed)
        stop = asyncio.Event()
        task = asyncio.create_task(worker.run(stop))
        running = RunningWorker(worker=worker, stop=stop, task=task)
        try:
            yield running
        finally:
            try:
                stop.set()
                await asyncio.wait_for(task, 30)
            finally:
                await ledger.close()

    @asynccontextmanager
    async def projecting(self) -> AsyncIterator[Projector]:
        """Yield a running projector."""
        projector = Projector(
            bootstrap=self.stores.kafka_bootstrap,
            read_model=self.read_model,
            keyring=self.keyring,
            producer=self.producer,
            partitions=self.stores.partitions,
            sides=[FilesTopic(partitions=self.stores.partitions), RecallRecords()],
        )
        stop = asyncio.Event()
        running = asyncio.create_task(projector.run(stop))
        try:
            yield projector
        finally:
            stop.set()
            await running

    async def records(self, topic: str, partition: int) -> list[LogRecord]:
        """Return every record of a partition."""

        def read() -> list[LogRecord]:
            return list(
                read_to_end(
                    self.stores.kafka_bootstrap, topic, partition, start=0, client_id="test"
                )
            )

        return await asyncio.to_thread(read)

    async def outcomes(self) -> list[tuple[int, int, Outcome]]:
        """Return partition, offset and outcome of every record of the memories topic."""
        found = []
        for partition in range(self.stores.partitions):
            for record in await self.records(memories_topic(self.stores.generation), partition):
                subject = record.header().subject
                keys = (await self.keyring.keys([subject]))[subject]
                assert isinstance(keys, SubjectKeys)
                outcome = open_record(Outcome, record, keys)
                found.append((partition, record.position.offset, outcome))
        return found

    async def proposals(self) -> int:
        """Return how many proposals stand."""
        topic = proposals_topic(self.stores.generation)
        partitions = range(self.stores.partitions)
        return sum([len(await self.records(topic, partition)) for partition in partitions])

    async def open_turns(self) -> list[tuple[int, int]]:
        """Return partition and offset of each turn that the projection holds to be open."""
        async with self.read_model.connection() as connection, connection.transaction():
            await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
            cursor = await connection.execute("SELECT partition, turn_offset FROM open_turns")
            return [(int(partition), int(offset)) for partition, offset in await cursor.fetchall()]

    async def all_closed(self, placed: list[Placed], *, timeout_s: float = 60.0) -> None:
        """Return once the projection has closed each of the turns."""

        async def closed() -> bool:
            async with self.read_model.connection() as connection, connection.transaction():
                await connection.execute(
                    "SELECT set_config('memledger.every_subject', 'yes', true)"
                )
                cursor = await connection.execute(
                    "SELECT count(*) FROM turns WHERE closing IS NOT NULL AND turn_id = ANY (%s)",
                    [[one.turn_id for one in placed]],
                )
                row = await cursor.fetchone()
            return row is not None and row[0] == len({one.turn_id for one in placed})

        await eventually(closed, what=f"{len(placed)} turns to be closed", timeout_s=timeout_s)

    async def committed(self) -> dict[int, int]:
        """Return what the workers' group committed, by partition."""

        def ask() -> dict[int, int]:
            group = group_of(self.stores.generation)
            admin = AdminClient({"bootstrap.servers": self.stores.kafka_bootstrap, "log_level": 3})
            places = [TopicPartition(TURNS, number) for number in range(self.stores.partitions)]
            answer = admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(group, places)]
            )
            offsets = answer[group].result(10).topic_partitions
            return {place.partition: place.offset for place in offsets if place.offset >= 0}

        return await asyncio.to_thread(ask)


@asynccontextmanager
async def opened_pipeline(
    stores: TestStores, *, embedder: Embedder | None = None
) -> AsyncIterator[OneProcess]:
    """Yield the parts of a pipeline over fresh stores, with an embedder that counts words."""
    embedder = embedder or HashEmbedder(dimension=64)
    keyring = await Keyring.open(stores.keyring_url, stores.key_directory, migrate=True)
    producer = new_producer(stores.kafka_bootstrap)
    read_model = await open_read_model(
        stores.database_url,
        generation=stores.generation,
        embedder=embedder.name,
        dimension=embedder.dimension,
        migrate=True,
    )
    try:
        await keyring.ensure_tenant(TENANT)
        yield OneProcess(
            stores=stores,
            keyring=keyring,
            producer=producer,
            read_model=read_model,
            embedder=embedder,
        )
    finally:
        await read_model.close()
        await producer.close()
        await keyring.close()
