"""Workers on a real broker and Postgres: what becomes of turns, restarts and handovers."""

from __future__ import annotations

import asyncio

from processors.worker import Worker
from schemas.records import Closing
from tests.conftest import TestStores
from tests.support.extractors import NotingExtractor
from tests.support.one_process import opened_pipeline
from tests.support.waiting import eventually


async def head_at(worker: Worker, partition: int, head: int) -> None:
    async def there() -> bool:
        return worker.heads.get(partition) == head

    await eventually(there, what=f"the head of partition {partition} to come to {head}")


def test_each_subjects_turns_are_closed_once_and_in_order(stores: TestStores) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            placed = [
                await pipeline.say(f"user-{number % 5}", f"turn {number}") for number in range(20)
            ]
            extractor = NotingExtractor()
            async with pipeline.working(extractor):
                await pipeline.all_closed(placed)
            outcomes = await pipeline.outcomes()
            assert sorted(outcome.turn_id for _, _, outcome in outcomes) == sorted(
                one.turn_id for one in placed
            )
            assert {outcome.closing for _, _, outcome in outcomes} == {Closing.STORED}
            for user in {one.keys.subject for one in placed}:
                said = [one.turn_id for one in placed if one.keys.subject == user]
                closed = [outcome.turn_id for _, _, outcome in outcomes if outcome.turn_id in said]
                assert closed == said
            assert set(extractor.calls.values()) == {1}
            assert await pipeline.open_turns() == []
            ends = {one.partition: one.offset + 1 for one in placed}
            assert await pipeline.committed() == ends

    asyncio.run(run())


def test_a_blocked_turn_with_many_done_behind_it_is_worked_on_after_a_restart(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            blocked_user = await pipeline.user_in(0)
            others = [await pipeline.user_in(0) for _ in range(4)]
            before = [await pipeline.say(others[0], "before")]
            blocked = await pipeline.say(blocked_user, "blocked")
            behind = [await pipeline.say(others[n % 4], f"behind {n}") for n in range(40)]
            first = NotingExtractor()
            first.gates["blocked"] = asyncio.Event()
            async with pipeline.working(first) as running:
                await pipeline.all_closed(before + behind)
                await eventually(pipeline.committed, what="the head to be committed")
                assert await pipeline.committed() == {0: blocked.offset}
                assert running.worker.heads[0] == blocked.offset
            assert await pipeline.committed() == {0: blocked.offset}
            second = NotingExtractor()
            async with pipeline.working(second) as running:
                await pipeline.all_closed([*before, blocked, *behind])
                await head_at(running.worker, 0, behind[-1].offset + 1)
            assert [request.turn.user_text for request in second.requests] == ["blocked"]
            assert len(await pipeline.outcomes()) == 42

    asyncio.run(run())
