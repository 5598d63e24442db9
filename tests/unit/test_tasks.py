"""Ending tasks."""

from __future__ import annotations

import asyncio

import pytest

from schemas.tasks import end_tasks


async def _deaf(swallowed: int) -> None:
    """Swallow a number of cancellations, as ``asyncio.wait_for`` of Python 3.11 may."""
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            swallowed -= 1
            if swallowed < 0:
                raise


async def _failing() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise ValueError("closing failed")


@pytest.mark.parametrize("swallowed", [0, 1, 3])
def test_a_task_that_swallows_cancellations_is_ended(swallowed: int) -> None:
    async def scene() -> None:
        task = asyncio.create_task(_deaf(swallowed))
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await end_tasks([task])
        assert task.cancelled()

    asyncio.run(scene())


def test_a_task_that_fails_while_it_ends_does_not_spare_the_others() -> None:
    async def scene() -> None:
        tasks = [asyncio.create_task(_failing()), asyncio.create_task(_deaf(1))]
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await end_tasks(tasks)
        assert all(task.done() for task in tasks)

    asyncio.run(scene())


def test_nothing_to_end_is_no_wait() -> None:
    asyncio.run(end_tasks([]))
