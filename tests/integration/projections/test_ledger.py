"""What the workers are told about progress, turns and memories."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import uuid4

import numpy as np
import psycopg
import pytest

from projections.ledger import _REREAD_S, PostgresLedger
from schemas.events import MemoriesMerged, MemoryAdded, MemoryRetracted, MemorySuperseded
from schemas.memory import Memory, Provenance, statement_key
from schemas.ports import Ledger, Vectors
from schemas.records import Closing
from schemas.slots import Slot
from tests.conftest import TestStores
from tests.support.log_writer import DIMENSION, NOON, LogWriter, at, embedding
from tests.support.projection import Projection, opened
from tests.support.waiting import eventually

_PROVENANCE = Provenance(system="orders", type="order_late", reference="17")
_TURNS_IN_A_ROW = 20


@asynccontextmanager
async def _ledger(projection: Projection) -> AsyncIterator[PostgresLedger]:
    ledger = await PostgresLedger.open(projection.read_model)
    try:
        yield ledger
    finally:
        await ledger.close()


def _vector(memory: Memory) -> Vectors:
    assert memory.embedding is not None
    return np.frombuffer(memory.embedding.halves, "<f2").astype(np.float32).reshape(1, -1)


def _told(memory: Memory) -> Memory:
    return memory.model_copy(update={"embedding": None})


def test_progress_tells_which_turns_are_open(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            empty = await ledger.progress(writer.partition)
            assert (empty.watermark, empty.turns_next, empty.memories_next) == (0, 0, 0)
            async with projection.projecting():
                await writer.turn()
                turn = await writer.turn()
                outcome = writer.outcome(turn, proposals_floor=7)
                offset = await writer.append(outcome)
                last = await writer.turn()
                await ledger.wait_applied(writer.partition, offset)
                await projection.applied("memledger.turns", writer.partition, last.offset)

                progress = await ledger.progress(writer.partition)

            assert progress.open_offsets == {0, 2}
            assert (progress.turns_next, progress.memories_next) == (3, 1)
            assert progress.proposals_floor == 7
            assert [progress.closed(offset) for offset in range(4)] == [False, True, False, False]

    asyncio.run(scenario())


def test_waiting_ends_when_the_outcome_is_applied_and_not_before(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            _, _, offset = await writer.stored()
            waiting = asyncio.create_task(ledger.wait_applied(writer.partition, offset))
            await ledger.progress(writer.partition)
            assert not waiting.done()

            async with projection.projecting():
                await asyncio.wait_for(waiting, 30)
                assert (await ledger.progress(writer.partition)).memories_next > offset
                await ledger.wait_applied(writer.partition, offset)

    asyncio.run(scenario())


def test_waiting_ends_at_once_and_not_when_the_positions_are_next_read(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting(),
            _ledger(projection) as ledger,
        ):
            writer = await projection.writer()
            _, _, offset = await writer.stored()
            await ledger.wait_applied(writer.partition, offset)
            async with asyncio.timeout(_TURNS_IN_A_ROW * _REREAD_S / 2):
                for _ in range(_TURNS_IN_A_ROW):
                    _, _, offset = await writer.stored()
                    await ledger.wait_applied(writer.partition, offset)

    asyncio.run(scenario())


def test_waiting_survives_the_loss_of_the_listening_connection(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            _, _, offset = await writer.stored()
            waiting = asyncio.create_task(ledger.wait_applied(writer.partition, offset))
            async with await psycopg.AsyncConnection.connect(
                stores.database_url, autocommit=True
            ) as connection:
                await connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                    "WHERE application_name = 'memledger-ledger-listener' "
                    "AND datname = current_database()"
                )

            async with projection.projecting():
                await asyncio.wait_for(waiting, 30)

    asyncio.run(scenario())


def test_a_word_that_says_nothing_is_ignored_and_the_next_is_heard(
    stores: TestStores, caplog: pytest.LogCaptureFixture
) -> None:
    ours, others = ["g1", "g1:", "g1:one:2", "g1:1:2:3"], ["", "another", "another:x"]

    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            _, _, offset = await writer.stored()
            async with projection.projecting():
                await ledger.wait_applied(writer.partition, offset)
                async with projection.read_model.connection() as connection:
                    for payload in (*ours, *others):
                        await connection.execute(
                            "SELECT pg_notify('memledger_applied', %s)", [payload]
                        )
                async with asyncio.timeout(_TURNS_IN_A_ROW * _REREAD_S / 2):
                    for _ in range(_TURNS_IN_A_ROW):
                        _, _, offset = await writer.stored()
                        await ledger.wait_applied(writer.partition, offset)
        assert caplog.text.count("says nothing is ignored") == len(ours)
        assert "Traceback" not in caplog.text

    asyncio.run(scenario())


def test_a_wait_outlives_what_nobody_foresaw(
    stores: TestStores, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    read_positions = PostgresLedger._read_positions
    failures: list[None] = []

    async def failing(ledger: PostgresLedger) -> None:
        if len(failures) < 3:
            failures.append(None)
            raise KeyError("a bug")
        await read_positions(ledger)

    async def scenario() -> None:
        monkeypatch.setattr(PostgresLedger, "_read_positions", failing)
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            _, _, offset = await writer.stored()
            waiting = asyncio.create_task(ledger.wait_applied(writer.partition, offset))
            # Both the listener and the reader fail before anything is applied.
            await eventually(lambda: asyncio.sleep(0, len(failures) == 3), what="three failures")
            async with projection.projecting():
                await asyncio.wait_for(waiting, 60)
        assert "failed unexpectedly" in caplog.text

    asyncio.run(scenario())


def test_a_context_tells_how_the_turn_closed_and_who_holds_the_partition(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            writer = await projection.writer()
            async with projection.projecting():
                turn, _, offset = await writer.stored()
                await ledger.wait_applied(writer.partition, offset)
            for owner in ("first", "second"):
                await ledger.claim(writer.partition, owner)

            known, unknown = [
                await ledger.context(
                    subject=writer.subject,
                    turn_id=turn_id,
                    partition=writer.partition,
                    vector=None,
                    known_max=5,
                )
                for turn_id in (turn.turn_id, uuid4())
            ]

            assert (known.closing, known.owner, known.nearest) == (Closing.STORED, "second", ())
            assert (unknown.closing, unknown.owner) == (None, "second")

    asyncio.run(scenario())


async def _memories_of_every_state(projection: Projection, writer: LogWriter) -> list[Memory]:
    """Store two live memories and one of each kind that is not live; return the live ones."""
    _, first, _ = await writer.stored(content="first")
    _, second, _ = await writer.stored(content="second")
    await writer.stored(content="expired", expires_at=at(1))
    _, old, _ = await writer.stored(content="old")
    turn = await writer.turn()
    new = writer.new_memory(turn, content="new", lineage_id=old.lineage_id, valid_from=at(5))
    superseded = MemorySuperseded(closes=old.memory_id, memory=new)
    await writer.append(writer.outcome(turn, [superseded]))
    _, wrong, _ = await writer.stored(content="wrong")
    turn = await writer.turn()
    retracted = MemoryRetracted(
        memory_id=wrong.memory_id, turn_id=turn.turn_id, quote="no", retracted_at=at(9)
    )
    await writer.append(writer.outcome(turn, [retracted]))
    _, source, _ = await writer.stored(content="merged into another")
    turn = await writer.turn()
    merged = writer.new_memory(
        turn, content="merged", merged_from=(source.memory_id,), provenance=_PROVENANCE
    )
    offset = await writer.append(writer.outcome(turn, [MemoriesMerged(memory=merged)]))
    await projection.outcome_applied(writer.partition, offset)
    return [first, second, new, merged]


def test_the_nearest_live_memories_of_the_subject_are_found_and_no_others(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting(),
            _ledger(projection) as ledger,
        ):
            writer, stranger = await projection.writer(), await projection.writer()
            live = await _memories_of_every_state(projection, writer)
            await _memories_of_every_state(projection, stranger)
            asked = live[1]

            context = await ledger.context(
                subject=writer.subject,
                turn_id=uuid4(),
                partition=writer.partition,
                vector=_vector(asked),
                known_max=10,
            )

            by_distance = sorted(
                live, key=lambda memory: -float((_vector(memory) @ _vector(asked).T).item())
            )
            assert context.nearest == tuple(map(_told, by_distance))
            assert context.nearest[0] == _told(asked)

    asyncio.run(scenario())


def test_many_contexts_at_once_are_each_answered_for_their_own_subject(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting(),
            _ledger(projection) as ledger,
        ):
            written = []
            for _ in range(10):
                writer = await projection.writer()
                turn, stored, offset = await writer.stored()
                await ledger.wait_applied(writer.partition, offset)
                written.append((writer, turn, stored))
            asked = written * 30

            contexts = await asyncio.gather(
                *(
                    ledger.context(
                        subject=writer.subject,
                        turn_id=turn.turn_id,
                        partition=writer.partition,
                        vector=_vector(stored) if number % 3 else None,
                        known_max=3,
                    )
                    for number, (writer, turn, stored) in enumerate(asked)
                )
            )

            for number, ((_, _, stored), context) in enumerate(zip(asked, contexts, strict=True)):
                assert context.closing is Closing.STORED
                assert context.nearest == ((_told(stored),) if number % 3 else ())

    asyncio.run(scenario())


@pytest.mark.parametrize("shape", [(DIMENSION,), (2, DIMENSION), (1, DIMENSION + 1)])
def test_a_vector_of_another_shape_is_refused(stores: TestStores, shape: tuple[int, ...]) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            with pytest.raises(ValueError, match="one vector of 8"):
                await ledger.context(
                    subject=uuid4(),
                    turn_id=uuid4(),
                    partition=0,
                    vector=np.zeros(shape, np.float32),
                    known_max=1,
                )

    asyncio.run(scenario())


def test_related_versions_are_whole_lineages_found_by_slot_statement_or_id(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting(),
            _ledger(projection) as ledger,
        ):
            writer, stranger = await projection.writer(), await projection.writer()
            await stranger.stored(slot=Slot.RESIDENCE, content="lives in Rome")
            _, old, _ = await writer.stored(slot=Slot.RESIDENCE, content="lives in Rome")
            turn = await writer.turn()
            # The newer version of the lineage states another slot: the lineage counts as a whole.
            new = writer.new_memory(
                turn, lineage_id=old.lineage_id, content="lives anywhere", valid_from=at(5)
            )
            superseded = MemorySuperseded(closes=old.memory_id, memory=new)
            await writer.append(writer.outcome(turn, [superseded]))
            await writer.stored(slot=Slot.RESIDENCE, about="sister", content="lives in Bonn")
            _, said, _ = await writer.stored(content="Likes tea.")
            _, wrong, _ = await writer.stored(content="wrong")
            turn = await writer.turn()
            retracted = MemoryRetracted(
                memory_id=wrong.memory_id, turn_id=turn.turn_id, quote="no", retracted_at=at(9)
            )
            offset = await writer.append(writer.outcome(turn, [retracted]))
            await ledger.wait_applied(writer.partition, offset)

            async def related(**asked: object) -> dict[str, tuple[bool, bool]]:
                wanted = {"slots": (), "statement_keys": (), "memory_ids": ()} | asked
                found = await ledger.related(subject=writer.subject, **wanted)  # type: ignore[arg-type] # spelled out by the calls below
                return {it.memory.content: (it.live, it.retracted) for it in found.versions}

            key = statement_key(said.kind, "user", "likes TEA", NOON)
            lineage = {"lives in Rome": (False, False), "lives anywhere": (True, False)}
            assert await related(slots=[(Slot.RESIDENCE, "user")]) == lineage
            assert await related(memory_ids=[new.memory_id]) == lineage
            assert await related(statement_keys=[key]) == {"Likes tea.": (True, False)}
            assert await related(memory_ids=[wrong.memory_id]) == {"wrong": (False, True)}
            assert await related(slots=[(Slot.NAME, "user")]) == {}
            assert await related() == {}

    asyncio.run(scenario())


def test_a_ledger_is_one(stores: TestStores) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection, _ledger(projection) as ledger:
            promised: Ledger = ledger
            await promised.claim(0, "worker")

    asyncio.run(scenario())


def test_memories_without_a_vector_that_fits_are_kept_and_not_compared(
    stores: TestStores,
) -> None:
    async def scenario() -> None:
        async with (
            opened(stores) as projection,
            projection.projecting(),
            _ledger(projection) as ledger,
        ):
            writer = await projection.writer()
            turn = await writer.turn()
            foreign = writer.new_memory(turn, embedding=embedding(1, model="another"))
            await writer.append(writer.outcome(turn, [MemoryAdded(memory=foreign)]))
            _, _, offset = await writer.stored(embedding=None)
            await ledger.wait_applied(writer.partition, offset)

            context = await ledger.context(
                subject=writer.subject,
                turn_id=turn.turn_id,
                partition=writer.partition,
                vector=_vector(writer.new_memory(turn)),
                known_max=5,
            )

            assert context.nearest == ()
            rows = await projection.rows("SELECT embedding_model FROM memories")
            assert rows == [(None,), (None,)]
            assert (await projection.compare()).equal

    asyncio.run(scenario())
