"""The projector on a real broker and a real Postgres: every record takes effect once."""

from __future__ import annotations

import asyncio
from uuid import uuid4

import psycopg
import pytest
from prometheus_client import REGISTRY
from psycopg.rows import TupleRow

from projections.apply import PositionMoved
from projections.fence import FENCE_LOCK_CLASS
from projections.read_model import name_subjects
from schemas import ids
from schemas.events import (
    FlagRefused,
    MemoriesMerged,
    MemoryAdded,
    MemoryConfirmed,
    MemorySuperseded,
    ProposalRejected,
    RejectionReason,
    Renewal,
)
from schemas.keyring import Keyring
from schemas.log.reader import read_to_end
from schemas.log.sealed import HEADER_NAME, LogPosition, LogRecord, SealedRecord, open_record
from schemas.memory import Memory
from schemas.proposals import Usage
from schemas.records import Closing, DeadLetter
from schemas.topics import DEAD_LETTERS, TURNS, memories_topic
from tests.conftest import TestStores
from tests.support.log_writer import AppendedTurn, LogWriter, at
from tests.support.projection import Projection, opened
from tests.support.waiting import eventually


async def _write_story(writer: LogWriter) -> int:
    """Append a few turns that touch each other's memories; return the last outcome's offset."""
    _, first, _ = await writer.stored()
    turn = await writer.turn()
    second = writer.new_memory(turn, lineage_id=first.lineage_id, valid_from=at(10))
    superseded = MemorySuperseded(closes=first.memory_id, memory=second)
    await writer.append(writer.outcome(turn, [superseded]))
    turn = await writer.turn()
    confirmed = MemoryConfirmed(
        memory_id=second.memory_id,
        turn_id=turn.turn_id,
        quote="yes",
        confirmed_at=at(20),
        renewal=Renewal(expires_at=at(9000)),
    )
    await writer.append(writer.outcome(turn, [confirmed]))
    return await _write_what_waits_and_is_flagged(writer, second)


async def _write_what_waits_and_is_flagged(writer: LogWriter, known: Memory) -> int:
    """Append turns that wait, and are settled but one; a flag with its decision; and a merge."""
    first, second, _ = [await writer.deferred(minutes=minutes) for minutes in (1, 2, 3)]
    await writer.settle(first, second, extractor="e", model="m", usage=Usage(calls=1))
    turn = await writer.turn()
    flag = writer.flag(turn)
    refusals = [
        ProposalRejected(operation=place, reasons=(RejectionReason.SECRET,), turn_id=turn_id)
        for place, turn_id in ((1, turn.turn_id), (2, None))
    ]
    await writer.append(writer.outcome(turn, [flag, *refusals], closing=Closing.FLAGGED))
    decision = await writer.turn()
    refused = FlagRefused(flag_id=flag.flag_id, actor="a", reason="no", decided_at=at(30))
    await writer.append(writer.outcome(decision, [refused], closing=Closing.NOTHING_FOUND))
    turn = await writer.turn()
    merged = writer.new_memory(turn, merged_from=(known.memory_id,))
    outcome = writer.outcome(
        turn, [MemoriesMerged(memory=merged)], extractor="e", model="m", closes="consolidation"
    )
    return await writer.append(outcome)


def test_what_was_written_is_in_the_table_as_the_fold_of_the_log_has_it(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting() as projector:
            for writer in [await projection.writer() for _ in range(5)]:
                last = await _write_story(writer)
                await projection.outcome_applied(writer.partition, last)

            compared = await projection.compare()

            assert compared.differences == ()
            assert (compared.subjects, compared.rows) == (5 + 1, 5 * (3 + 3 + 7 + 1 + 1 + 2))
            await eventually(
                lambda: asyncio.sleep(0, projector.ready), what="the projector to be ready"
            )
            await eventually(
                lambda: asyncio.sleep(0, _told_to_wait(stores) == (5.0, 0.0)),
                what="the metrics to tell that one turn of each user waits for its session",
            )

    asyncio.run(scenario())


def _told_to_wait(stores: TestStores) -> tuple[float, float]:
    """Return how many turns the metrics say wait, for a session and for a budget, and are old."""
    told = []
    for cause in ("session", "budget"):
        turns = 0.0
        for partition in range(stores.partitions):
            labels = {"generation": stores.generation, "partition": str(partition), "cause": cause}
            here = REGISTRY.get_sample_value("memledger_turns_deferred", labels) or 0.0
            age = REGISTRY.get_sample_value("memledger_deferred_oldest_seconds", labels) or 0.0
            # They were accepted in March 2026, by the writer's clock.
            assert (age > 24 * 60 * 60) is (here > 0)
            turns += here
        told.append(turns)
    return told[0], told[1]


def test_reading_everything_again_changes_nothing(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writers = [await projection.writer() for _ in range(3)]
            ends = [(writer.partition, await _write_story(writer)) for writer in writers]
            async with projection.projecting():
                for partition, last in ends:
                    await projection.outcome_applied(partition, last)
            before = await _everything(projection)

            await projection.reset_positions()
            async with projection.projecting():
                for partition, last in ends:
                    await projection.outcome_applied(partition, last)

            assert await _everything(projection) == before
            assert (await projection.compare()).equal

    asyncio.run(scenario())


async def _everything(projection: Projection) -> list[list[tuple[object, ...]]]:
    return [
        await projection.rows("SELECT * FROM memories ORDER BY memory_id"),
        await projection.rows("SELECT * FROM turns ORDER BY turn_id"),
        await projection.rows("SELECT * FROM open_turns ORDER BY partition, turn_offset"),
        await projection.rows("SELECT * FROM partitions ORDER BY partition"),
        await projection.rows("SELECT * FROM waiting_turns ORDER BY turn_id"),
        await projection.rows("SELECT * FROM flags ORDER BY flag_id"),
        await projection.rows("SELECT * FROM rejections ORDER BY record_id, place"),
        await projection.rows("SELECT * FROM spending ORDER BY partition, day"),
    ]


def test_outcomes_and_turns_that_are_appended_twice_take_effect_once(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            writer = await projection.writer()
            turn = await writer.turn()
            again = await writer.turn(turn.turn_id)
            added = writer.new_memory(turn)
            first = await writer.append(writer.outcome(turn, [MemoryAdded(memory=added)]))
            await projection.outcome_applied(writer.partition, first)
            other = writer.outcome(again, closing=Closing.REJECTED)
            last = await writer.append(other)
            await projection.outcome_applied(writer.partition, last)

            rows = await projection.rows("SELECT turn_offset, closing, outcome_offset FROM turns")

            assert rows == [(turn.offset, "stored", first)]
            assert await projection.rows("SELECT memory_id FROM memories") == [(added.memory_id,)]
            assert await projection.rows("SELECT * FROM open_turns") == []
            assert (await projection.compare()).equal

    asyncio.run(scenario())


def test_of_two_who_write_the_same_batch_the_second_is_rolled_back(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            _, added, _ = await writer.stored()
            records = await _records(stores, writer.partition)
            stale = await projection.positions()
            applier = await projection.applier()

            await applier.apply(records, stale)
            with pytest.raises(PositionMoved):
                await applier.apply(records, stale)

            rows = await projection.rows("SELECT memory_id, confirmations FROM memories")
            assert rows == [(added.memory_id, 0)]

    asyncio.run(scenario())


async def _records(stores: TestStores, partition: int) -> list[LogRecord]:
    return [
        record
        for topic in (TURNS, memories_topic(stores.generation))
        for record in read_to_end(
            stores.kafka_bootstrap, topic, partition, start=0, client_id="test"
        )
    ]


def test_two_projectors_share_the_partitions_and_lose_nothing(stores: TestStores) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting() as first,
            projection.projecting() as second,
        ):

            async def shared() -> bool:
                shares = first.state.partitions, second.state.partitions
                return (
                    all(shares)
                    and not shares[0] & shares[1]
                    and (len(shares[0] | shares[1]) == stores.partitions)
                )

            await eventually(shared, what="both projectors to hold partitions")
            for writer in [await projection.writer() for _ in range(8)]:
                last = await _write_story(writer)
                await projection.outcome_applied(writer.partition, last)

            assert (await projection.compare()).equal

    asyncio.run(scenario())


def test_a_record_that_nobody_can_open_is_set_aside_and_the_next_is_applied(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            writer = await projection.writer()
            turn = await writer.turn()
            good = writer.sealed_outcome(writer.outcome(turn))
            topic = memories_topic(stores.generation)
            altered = SealedRecord(
                key=good.key,
                value=good.value[:-1] + bytes([good.value[-1] ^ 1]),
                headers=good.headers,
            )
            headless = SealedRecord(key=b"?", value=b"what is this", headers=[])
            bad = [
                await projection.producer.append(topic, writer.partition, record)
                for record in (altered, headless)
            ]
            _, added, last = await writer.stored()
            await projection.outcome_applied(writer.partition, last)

            letters = await _dead_letters(stores, projection.keyring, writer.partition)

            assert [(letter.offset, letter.stage) for letter in letters] == [
                (offset, "open") for offset in bad
            ]
            assert letters[0].value == altered.value
            assert await projection.rows("SELECT memory_id FROM memories") == [(added.memory_id,)]
            compared = await projection.compare()
            assert (compared.equal, compared.unreadable) == (True, 2)

    asyncio.run(scenario())


async def _dead_letters(stores: TestStores, keyring: Keyring, partition: int) -> list[DeadLetter]:
    keys = await keyring.system_subject()
    records = read_to_end(
        stores.kafka_bootstrap, DEAD_LETTERS, partition, start=0, client_id="test"
    )
    letters = [open_record(DeadLetter, record, keys) for record in records]
    return sorted(letters, key=lambda letter: letter.offset)


async def _closed_by(projection: Projection) -> list[tuple[object, ...]]:
    return await projection.rows(
        "SELECT turn_id, closing, outcome_offset FROM turns WHERE outcome_offset IS NOT NULL"
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_an_outcome_that_nobody_can_use_closes_its_turn_and_one_after_it_does_not_count(
    stores: TestStores, order: tuple[int, ...]
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn = await writer.turn()
            added = MemoryAdded(memory=writer.new_memory(turn))
            refused = await writer.append_altered(writer.outcome(turn))
            await writer.append(writer.outcome(turn, [added]))
            records = await _records(stores, writer.partition)
            closed = [(turn.turn_id, "dead_lettered", refused)]
            for place in order:
                await projection.apply([records[place]])
            assert await _closed_by(projection) == closed
            # Once more into rows that are there, in one batch.
            await projection.reset_positions()
            await projection.apply([records[place] for place in order])

            assert await _closed_by(projection) == closed
            assert await projection.rows("SELECT * FROM open_turns") == []
            assert await projection.rows("SELECT * FROM memories") == []
            assert (await projection.compare()).equal
            audited = (await projection.audit()).partitions[writer.partition]
            assert audited.closings["dead_lettered"] == audited.turns == 1
            assert (audited.in_flight, audited.unaccounted) == (0, 0)
            assert audited.doubled_outcomes == 1

    asyncio.run(scenario())


@pytest.mark.parametrize(("turn_first", "one_batch"), [(True, True), (True, False), (False, True)])
def test_an_outcome_that_nobody_can_use_changes_nothing_after_a_good_one(
    stores: TestStores, *, turn_first: bool, one_batch: bool
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn, added, counted = await writer.stored()
            await writer.append_altered(writer.outcome(turn))
            records = await _records(stores, writer.partition)
            if not turn_first:
                records = [*records[1:], records[0]]
            for _ in range(2):
                for batch in [records] if one_batch else [[record] for record in records]:
                    await projection.apply(batch)
                await projection.reset_positions()
            await projection.apply(records)

            assert await _closed_by(projection) == [(turn.turn_id, "stored", counted)]
            assert await projection.rows("SELECT memory_id FROM memories") == [(added.memory_id,)]
            assert await projection.rows("SELECT * FROM open_turns") == []
            assert (await projection.compare()).equal
            audited = (await projection.audit()).partitions[writer.partition]
            assert (audited.closings["stored"], audited.unaccounted) == (1, 0)

    asyncio.run(scenario())


def test_an_outcome_under_another_subjects_name_closes_nobodys_turn(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer, other = await projection.writer(), await projection.writer()
            while other.partition != writer.partition:
                other = await projection.writer()
            turn = await writer.turn()
            await other.append_altered(other.outcome(turn))
            _, _, last = await writer.stored()
            async with projection.projecting():
                await projection.outcome_applied(writer.partition, last)

            assert await projection.rows("SELECT turn_offset FROM open_turns") == [(turn.offset,)]
            assert (await projection.compare()).equal
            audited = (await projection.audit()).partitions[writer.partition]
            assert (audited.in_flight, audited.unaccounted) == (1, 0)

    asyncio.run(scenario())


def test_the_comparison_finds_a_turn_that_an_unusable_outcome_should_have_closed(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn = await writer.turn()
            offset = await writer.append_altered(writer.outcome(turn))
            async with projection.projecting():
                await projection.outcome_applied(writer.partition, offset)
                await projection.applied(TURNS, writer.partition, turn.offset)
            assert (await projection.compare()).equal
            async with projection.read_model.connection() as connection, connection.transaction():
                await name_subjects(connection, [writer.subject])
                await connection.execute("UPDATE turns SET closing = NULL, outcome_offset = NULL")

            (difference,) = (await projection.compare()).differences

            assert difference.missing == (turn.turn_id,)

    asyncio.run(scenario())


def test_an_outcome_with_enormous_headers_does_not_stop_its_partition(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            huge = SealedRecord(key=b"?", value=b"?", headers=[("huge", b"x" * 3_600_000)])
            topic = memories_topic(stores.generation)
            bad = await projection.producer.append(topic, writer.partition, huge)
            _, added, last = await writer.stored()
            async with projection.projecting():
                await projection.outcome_applied(writer.partition, last)

            (letter,) = await _dead_letters(stores, projection.keyring, writer.partition)

            assert (letter.offset, letter.headers) == (bad, (("huge", b""),))
            assert await projection.rows("SELECT memory_id FROM memories") == [(added.memory_id,)]

    asyncio.run(scenario())


def test_an_outcome_that_postgres_has_no_room_for_is_set_aside(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            writer = await projection.writer()
            turn = await writer.turn()
            added = writer.new_memory(turn, content="a\0b")
            await writer.append(writer.outcome(turn, [MemoryAdded(memory=added)]))
            _, kept, last = await writer.stored()
            await projection.outcome_applied(writer.partition, last)

            letters = await _dead_letters(stores, projection.keyring, writer.partition)

            assert [letter.error for letter in letters] == ["RecordInvalid"]
            assert await projection.rows("SELECT memory_id FROM memories") == [(kept.memory_id,)]

    asyncio.run(scenario())


def test_a_tombstone_of_an_open_turn_leaves_nothing_waiting(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn = await writer.turn()
            await projection.apply(await _records(stores, writer.partition))
            assert await projection.rows("SELECT turn_offset FROM open_turns") == [(turn.offset,)]
            tombstone = LogRecord(
                position=LogPosition(
                    topic=TURNS, partition=writer.partition, offset=turn.offset + 1
                ),
                timestamp_ms=0,
                key=ids.append_key(turn.turn_id),
                value=None,
                headers=writer.sealed_turn(turn.turn_id).headers,
            )

            await projection.apply([tombstone])

            assert await projection.rows("SELECT * FROM open_turns") == []
            assert await projection.rows("SELECT closing FROM turns") == [("erased",)]

    asyncio.run(scenario())


def test_a_tombstone_without_a_header_or_of_an_unknown_turn_wedges_nothing(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn = await writer.turn()
            records = await _records(stores, writer.partition)
            keys = (ids.append_key(turn.turn_id), ids.append_key(uuid4()), b"foreign", None)
            tombstones = [
                LogRecord(
                    position=LogPosition(
                        topic=topic, partition=writer.partition, offset=offset + 1
                    ),
                    timestamp_ms=0,
                    key=key,
                    value=None,
                    headers=[],
                )
                for topic in (TURNS, memories_topic(stores.generation))
                for offset, key in enumerate(keys)
            ]

            await projection.apply([*records, *tombstones])

            assert await projection.rows("SELECT * FROM open_turns") == []
            assert (await projection.positions())[TURNS, writer.partition] == 1 + len(keys)

    asyncio.run(scenario())


@pytest.mark.parametrize("turn_first", [True, False])
def test_what_an_erased_subject_left_in_the_log_closes_its_turn_and_stores_nothing(
    stores: TestStores, *, turn_first: bool
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn, _, _ = await writer.stored()
            await projection.keyring.destroy(writer.subject)
            records = await _records(stores, writer.partition)

            for record in records if turn_first else reversed(records):
                await projection.apply([record])

            assert await projection.rows("SELECT * FROM memories") == []
            assert await projection.rows("SELECT * FROM open_turns") == []
            assert await projection.rows("SELECT turn_offset, closing FROM turns") == [
                (turn.offset, "erased")
            ]
            assert (await projection.compare()).equal

    asyncio.run(scenario())


@pytest.mark.parametrize("turn_first", [True, False])
def test_the_system_can_close_an_erased_subjects_turn(
    stores: TestStores, *, turn_first: bool
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            turn = await writer.turn()
            await projection.keyring.destroy(writer.subject)
            erased = writer.outcome(turn, closing=Closing.ERASED)
            await writer.append(erased, await projection.keyring.system_subject())
            records = await _records(stores, writer.partition)

            for record in records if turn_first else reversed(records):
                await projection.apply([record])

            assert await projection.rows("SELECT * FROM open_turns") == []
            assert await projection.rows("SELECT count(*) FROM turns") == [(1,)]
            assert (await projection.compare()).equal

    asyncio.run(scenario())


def test_keys_that_are_destroyed_inside_the_fence_are_not_used_by_a_batch_that_waits_for_it(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writer = await projection.writer()
            await writer.stored()
            records = await _records(stores, writer.partition)
            lock = [FENCE_LOCK_CLASS, writer.partition]
            async with await psycopg.AsyncConnection.connect(
                stores.database_url, autocommit=True
            ) as eraser:

                async def is_waited_for() -> bool:
                    cursor = await eraser.execute(
                        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' "
                        "AND NOT granted AND classid = %s AND objid = %s",
                        lock,
                    )
                    return await cursor.fetchone() == (1,)

                async with eraser.transaction():
                    await eraser.execute("SELECT pg_advisory_xact_lock(%s, %s)", lock)
                    applying = asyncio.create_task(projection.apply(records))
                    await eventually(is_waited_for, what="the batch to wait for the fence")
                    await projection.keyring.destroy(writer.subject)
            await applying

            assert await projection.rows("SELECT * FROM memories") == []

    asyncio.run(scenario())


def test_a_turn_without_a_readable_header_is_the_systems_and_open(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting():
            strange = SealedRecord(key=b"?", value=b"?", headers=[(HEADER_NAME, b"?")])
            offset = await projection.producer.append(TURNS, 2, strange)
            await projection.applied(TURNS, 2, offset)
            system = await projection.keyring.system_subject()
            turn_id = ids.unreadable_turn_id(TURNS, 2, offset)

            rows = await projection.rows("SELECT subject, turn_id, closing FROM turns")

            assert rows == [(system.subject, turn_id, None)]
            writer = LogWriter(
                projection.producer, system, generation=stores.generation, partitions=4
            )
            writer.partition = 2
            turn = AppendedTurn(turn_id=turn_id, partition=2, offset=offset)
            last = await writer.append(writer.outcome(turn, closing=Closing.DEAD_LETTERED))
            await projection.outcome_applied(2, last)
            assert await projection.rows("SELECT * FROM open_turns") == []
            assert (await projection.compare()).equal

    asyncio.run(scenario())


def test_a_partition_whose_keys_are_missing_waits_and_the_others_go_on(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, projection.projecting() as projector:
            stranger = await projection.writer()
            async with await _keyring_connection(stores) as connection:
                await connection.execute(
                    "CREATE TABLE keyring.lost AS "
                    "SELECT * FROM keyring.subjects WHERE subject = %s",
                    [stranger.subject],
                )
                await connection.execute(
                    "DELETE FROM keyring.subjects WHERE subject = %s", [stranger.subject]
                )
            _, _, stuck = await stranger.stored()
            other = await projection.writer()
            while other.partition == stranger.partition:
                other = await projection.writer()
            _, _, last = await other.stored()
            await projection.outcome_applied(other.partition, last)

            await eventually(
                lambda: asyncio.sleep(0, projector.state.parked == {stranger.partition}),
                what="the partition to be parked",
            )
            assert not projector.ready
            positions = await projection.positions()
            assert positions[memories_topic(stores.generation), stranger.partition] == stuck
            async with await _keyring_connection(stores) as connection:
                await connection.execute("INSERT INTO keyring.subjects SELECT * FROM keyring.lost")
            await projection.outcome_applied(stranger.partition, stuck)
            await eventually(
                lambda: asyncio.sleep(0, not projector.state.parked),
                what="the partition to be taken up again",
            )

    asyncio.run(scenario())


def test_the_comparison_tells_of_a_subject_whose_keys_went_missing_and_of_the_others(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            lost, other = await projection.writer(), await projection.writer()
            async with projection.projecting():
                for writer in (lost, other):
                    turn, added, offset = await writer.stored()
                    if writer is lost:
                        surplus = (turn.turn_id, added.memory_id)
                    await projection.outcome_applied(writer.partition, offset)
            async with await _keyring_connection(stores) as connection:
                await connection.execute(
                    "DELETE FROM keyring.subjects WHERE subject = %s", [lost.subject]
                )

            compared = await projection.compare()

            (difference,) = compared.differences
            assert (difference.subject, difference.surplus) == (
                lost.subject,
                tuple(sorted(surplus)),
            )
            assert (compared.unreadable, compared.rows) == (1, 2)

    asyncio.run(scenario())


async def _keyring_connection(stores: TestStores) -> psycopg.AsyncConnection[TupleRow]:
    return await psycopg.AsyncConnection.connect(stores.keyring_url, autocommit=True)
