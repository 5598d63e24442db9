"""Two workers on a real broker: partitions that move, and those that stay."""

from __future__ import annotations

import asyncio
from collections import Counter

from prometheus_client import REGISTRY

from tests.conftest import TestStores
from tests.support.extractors import NotingExtractor
from tests.support.one_process import OneProcess, Placed, RunningWorker, opened_pipeline
from tests.support.waiting import eventually


async def shared(pipeline: OneProcess, *workers: RunningWorker) -> None:
    """Return once every worker is ready and holds partitions, and together they hold all."""

    async def there() -> bool:
        held = [set(running.worker.partitions) for running in workers]
        ready = all(running.worker.not_ready is None for running in workers)
        return ready and sum(map(len, held)) == pipeline.stores.partitions and all(held)

    await eventually(there, what="the partitions to be shared", timeout_s=60)


def partitions_ready() -> float | None:
    """Return what the process exports of both workers."""
    return REGISTRY.get_sample_value("memledger_partitions_held", {"state": "ready"})


async def assert_each_closed_once(pipeline: OneProcess, placed: list[Placed]) -> None:
    outcomes = await pipeline.outcomes()
    counted = Counter(outcome.turn_id for _, _, outcome in outcomes)
    assert counted == Counter(one.turn_id for one in placed)
    for subject in {one.keys.subject for one in placed}:
        said = [one.turn_id for one in placed if one.keys.subject == subject]
        assert [outcome.turn_id for _, _, outcome in outcomes if outcome.turn_id in said] == said
    assert await pipeline.proposals() == len(placed)


def test_turns_go_on_while_a_second_worker_joins_and_the_first_one_leaves(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            users = [
                await pipeline.user_in(number % stores.partitions)
                for number in range(2 * stores.partitions)
            ]
            placed: list[Placed] = []
            talking = asyncio.Event()
            talking.set()

            async def talk() -> None:
                number = 0
                while talking.is_set():
                    placed.append(await pipeline.say(users[number % len(users)], f"{number}"))
                    number += 1

            one, other = NotingExtractor(), NotingExtractor()
            async with pipeline.working(one) as first:
                await shared(pipeline, first)
                speaker = asyncio.create_task(talk())
                async with pipeline.working(other) as second:
                    await shared(pipeline, first, second)
                    assert partitions_ready() == stores.partitions
                    await first.end()
                    await shared(pipeline, second)
                    talking.clear()
                    await speaker
                    await pipeline.all_closed(placed, timeout_s=120)
            assert other.requests
            await assert_each_closed_once(pipeline, placed)

    asyncio.run(run())


def test_a_turn_under_way_in_a_partition_that_stays_is_closed_after_the_rebalance(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline, pipeline.projecting():
            extractor = NotingExtractor()
            placed = []
            for partition in range(stores.partitions):
                text = f"blocked {partition}"
                extractor.gates[text] = asyncio.Event()
                placed.append(await pipeline.say(await pipeline.user_in(partition), text))
            async with pipeline.working(extractor) as first:

                async def all_asked() -> bool:
                    return len(extractor.requests) == stores.partitions

                await eventually(all_asked, what="every turn to be in the extractor")
                async with pipeline.working(extractor) as second:
                    await shared(pipeline, first, second)
                    assert await pipeline.proposals() == 0
                    for gate in extractor.gates.values():
                        gate.set()
                    await pipeline.all_closed(placed)
            await assert_each_closed_once(pipeline, placed)

    asyncio.run(run())
