"""The projector while a store is gone: it waits, skips nothing and goes on by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import psycopg
import pytest

from deploy.embedded import EmbeddedPostgres
from projections.projector import Projector
from schemas.events import MemoryAdded
from schemas.topics import memories_topic
from tests.conftest import TestStores
from tests.support.brokers import Broker
from tests.support.projection import opened
from tests.support.waiting import eventually


async def _becomes(condition: Callable[[], bool], what: str) -> None:
    await eventually(lambda: asyncio.sleep(0, condition()), what=what, timeout_s=60)


def _ready(projector: Projector) -> Callable[[], bool]:
    return lambda: projector.ready


def test_what_is_written_while_postgres_is_down_is_applied_once_it_is_back(
    stores: TestStores, postgres: EmbeddedPostgres
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting() as projector:
            writer = await projection.writer()
            _, _, first = await writer.stored()
            await projection.outcome_applied(writer.partition, first)
            try:
                await asyncio.to_thread(postgres.stop)
                _, _, last = await writer.stored()
                await _becomes(lambda: not projector.ready, "the projector to notice")
                assert projector.state.alive
            finally:
                await asyncio.to_thread(postgres.start)
            await _becomes(_ready(projector), "the projector to be ready again")

            await projection.outcome_applied(writer.partition, last)

            assert (await projection.compare()).equal
            assert await projection.rows("SELECT count(*) FROM memories") == [(2,)]

    asyncio.run(scenario())


@pytest.mark.lasting_broker(reason="the broker stops and comes back with what it held")
def test_the_projector_reads_on_when_the_broker_is_back(stores: TestStores, broker: Broker) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting() as projector:
            writer = await projection.writer()
            _, _, first = await writer.stored()
            await projection.outcome_applied(writer.partition, first)
            try:
                await asyncio.to_thread(broker.stop)
            finally:
                await asyncio.to_thread(broker.start)
            _, _, last = await writer.stored()
            await projection.outcome_applied(writer.partition, last)
            await _becomes(_ready(projector), "the projector to be ready again")

            assert (await projection.compare()).equal

    asyncio.run(scenario())


def test_a_record_that_postgres_refuses_is_set_aside_and_those_around_it_are_applied(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            async with await psycopg.AsyncConnection.connect(
                stores.database_url, autocommit=True
            ) as connection:
                await connection.execute(
                    "ALTER TABLE gen_g1.memories ADD CHECK (content <> 'refused')"
                )
            writer, other = await projection.writer(), await projection.writer()
            _, before, _ = await writer.stored()
            turn = await writer.turn()
            refused = writer.new_memory(turn, content="refused")
            offset = await writer.append(writer.outcome(turn, [MemoryAdded(memory=refused)]))
            _, after, last = await writer.stored()
            _, elsewhere, end = await other.stored()
            async with projection.projecting():
                await projection.outcome_applied(writer.partition, last)
                await projection.outcome_applied(other.partition, end)

            found = await projection.rows("SELECT memory_id FROM memories")

            assert {row[0] for row in found} == {
                before.memory_id,
                after.memory_id,
                elsewhere.memory_id,
            }
            assert await projection.rows("SELECT * FROM open_turns") == []
            closed = await projection.rows(
                "SELECT turn_id, outcome_offset FROM turns WHERE closing = 'dead_lettered'"
            )
            assert closed == [(turn.turn_id, offset)]
            compared = await projection.compare()
            assert (compared.equal, compared.unreadable) == (True, 1)
            audited = (await projection.audit()).partitions[writer.partition]
            assert (audited.closings["dead_lettered"], audited.unaccounted) == (1, 0)

    asyncio.run(scenario())


def test_a_log_that_lost_what_was_applied_parks_its_partition(
    stores: TestStores, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            lost, kept = await projection.writer(), await projection.writer()
            while kept.partition == lost.partition:
                kept = await projection.writer()
            _, _, last = await kept.stored()
            await projection.positions()
            async with projection.read_model.connection() as connection:
                await connection.execute(
                    "UPDATE positions SET next_offset = 100 WHERE topic = %s AND partition = %s",
                    [memories_topic(stores.generation), lost.partition],
                )
            async with projection.projecting() as projector:
                await projection.outcome_applied(kept.partition, last)
                await _becomes(
                    lambda: projector.state.parked == {lost.partition}, "the partition to be parked"
                )
                assert not projector.ready
        assert "restore the log, or drop the schema" in caplog.text

    asyncio.run(scenario())
