"""Sessions and consolidations on a real broker and Postgres, over the change of workers."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from uuid import UUID, uuid4

from projections.consolidation import ProjectedConsolidation
from projections.read_model import name_subjects
from projections.waiting import PostgresWaitingTurns
from schemas import ids
from schemas.commands import ConsolidationStart
from schemas.consolidation import Crowded
from schemas.events import MemoriesMerged
from schemas.log.sealed import seal_record
from schemas.memory import Confidence, MemoryKind
from schemas.ports import ConsolidationRequest, Extraction
from schemas.proposals import Action, Operation
from schemas.records import Closing
from schemas.slots import Slot
from schemas.topics import TURNS
from schemas.tree import address_for
from tests.conftest import TestStores
from tests.support.extractors import NotingExtractor
from tests.support.one_process import OneProcess, Placed, opened_pipeline
from tests.support.turns import NOON
from tests.support.waiting import eventually


class Merging(NotingExtractor):
    """Lets one memory stand for all that it is shown."""

    async def consolidate(self, request: ConsolidationRequest) -> Extraction:
        """Propose one merge."""
        merges = tuple(it.memory.memory_id for it in request.memories)
        return Extraction(
            operations=(
                Operation(
                    action=Action.MERGE,
                    kind=MemoryKind.EPISODIC,
                    slot=Slot.EPISODE,
                    about="user",
                    content="Told of walks in the park.",
                    importance=3,
                    confidence=Confidence.STATED,
                    quote="",
                    merges=merges,
                ),
            )
        )


async def closings(pipeline: OneProcess, placed: Sequence[Placed]) -> dict[UUID, str | None]:
    """Return how each of the turns closed, settled or at once."""
    async with pipeline.read_model.connection() as connection, connection.transaction():
        await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
        rows = await connection.execute(
            "SELECT turn_id, closing FROM turns WHERE turn_id = ANY (%s)",
            [[one.turn_id for one in placed]],
        )
        return dict(await rows.fetchall())


async def all_closed_as(pipeline: OneProcess, placed: Sequence[Placed], closing: Closing) -> None:
    async def so() -> bool:
        found = await closings(pipeline, placed)
        return list(found.values()) == [closing.value] * len(placed)

    await eventually(so, what=f"{len(placed)} turns to close as {closing}")


async def consolidate(pipeline: OneProcess, user: str) -> Placed:
    """Append the start of a consolidation."""
    keys, record_id = await pipeline.keys_of(user), uuid4()
    record = seal_record(
        ConsolidationStart(turn_id=record_id, occurred_at=NOON),
        keys=keys,
        record_id=record_id,
        address=address_for(NOON.date(), record_id),
    )
    offset = await pipeline.producer.append(TURNS, 0, record)
    return Placed(keys=keys, turn_id=record_id, partition=0, offset=offset)


def test_what_one_worker_deferred_another_settles_and_looks_through(stores: TestStores) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            users = [await pipeline.user_in(0) for _ in range(2)]
            placed = [
                await pipeline.say(users[number % 2], f"I walked in park {number}.")
                for number in range(6)
            ]
            first = NotingExtractor()
            session = {"extraction_mode": "session", "session_idle_s": 86400.0 * 30}
            async with pipeline.working(first, **session):
                await all_closed_as(pipeline, placed, Closing.DEFERRED)
            assert first.requests == []
            waiting = await PostgresWaitingTurns(pipeline.read_model).of_conversation(
                subject=placed[0].keys.subject,
                conversation_id="conversation",
                below=placed[4].offset,
                limit=10,
            )
            assert [turn.turn_offset for turn in waiting] == [placed[0].offset, placed[2].offset]

            # The turns were accepted long ago, so whoever takes over ends their sessions at once.
            second = Merging()
            async with pipeline.working(second, extraction_mode="session", session_idle_s=1):
                await all_closed_as(pipeline, placed, Closing.STORED)
                assert set(second.calls) == {one.turn_id for one in placed}
                assert set(second.calls.values()) == {1}
                start = await consolidate(pipeline, users[0])
                await pipeline.all_closed([start])
            await _check_merged(pipeline, placed, start)

    asyncio.run(run())


async def _check_merged(pipeline: OneProcess, placed: Sequence[Placed], start: Placed) -> None:
    outcomes = {outcome.turn_id: outcome for _, _, outcome in await pipeline.outcomes()}
    (merged,) = outcomes[start.turn_id].events
    assert isinstance(merged, MemoriesMerged)
    assert len(merged.memory.merged_from) == 3

    consolidating = ProjectedConsolidation(pipeline.read_model)
    everything = await consolidating.memories(
        subject=start.keys.subject, episodes_max=80, facts_max=60
    )
    # What the merged one stands for is shown with it, and nothing else is.
    assert {memory.memory_id for memory in everything} == {
        merged.memory.memory_id,
        *merged.memory.merged_from,
    }
    cut_short = await consolidating.memories(
        subject=start.keys.subject, episodes_max=3, facts_max=60
    )
    assert cut_short == ()

    crowded = await consolidating.crowded(episodes_min=3, after=None, limit=10)
    assert [(it.subject, it.attempt) for it in crowded] == [(placed[1].keys.subject, 0)]
    assert await consolidating.crowded(episodes_min=4, after=None, limit=10) == ()
    behind = crowded[0].subject
    assert await consolidating.crowded(episodes_min=3, after=behind, limit=10) == ()
    await _check_attempts(pipeline, crowded[0])

    some = await consolidating.memories(subject=behind, episodes_max=2, facts_max=60)
    # All are of one moment, so which two they are is told by their ids alone.
    assert len({memory.quote for memory in some}) == 2


async def _check_attempts(pipeline: OneProcess, crowded: Crowded) -> None:
    """See which start is due behind others that came to nothing, or that are under way."""
    subject = crowded.subject
    closings = (Closing.DEFERRED, Closing.DEAD_LETTERED, None)
    for attempt, closing in enumerate(closings):
        record_id = ids.consolidation_id(subject, crowded.newest, attempt)
        async with pipeline.read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            await connection.execute(
                "INSERT INTO turns (subject, turn_id, partition, turn_offset, closing) "
                "VALUES (%s, %s, 0, %s, %s)",
                [subject, record_id, 1_000_000 + attempt, closing],
            )
        (found,) = await ProjectedConsolidation(pipeline.read_model).crowded(
            episodes_min=3, after=None, limit=10
        )
        assert found.attempt == (None if closing is None else attempt + 1)
