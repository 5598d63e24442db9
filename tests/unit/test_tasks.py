"""Ending tasks."""

from __future__ import annotations

import asyncio

import pytest

from schemas import tasks
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
def test_a_task_that_swallows_cancellations_is_ended(
    swallowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks, "_AGAIN_S", 0.01)

    async def scene() -> None:
        task = asyncio.create_task(_deaf(swallowed))
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await end_tasks([task])
        assert task.cancelled()

    asyncio.run(scene())


def test_a_task_that_fails_while_it_ends_does_not_spare_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tasks, "_AGAIN_S", 0.01)

    async def scene() -> None:
        both = [asyncio.create_task(_failing()), asyncio.create_task(_deaf(1))]
        await asyncio.sleep(0)
        async with asyncio.timeout(10):
            await end_tasks(both)
        assert all(task.done() for task in both)

    asyncio.run(scene())


def test_what_a_task_has_to_clean_up_is_not_cancelled_too() -> None:
    cleaned: list[str] = []

    async def tidy() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.3)
            cleaned.append("up")

    async def scene() -> None:
        task = asyncio.create_task(tidy())
        await asyncio.sleep(0)
        await end_tasks([task])

    asyncio.run(scene())
    assert cleaned == ["up"]


def test_nothing_to_end_is_no_wait() -> None:
    asyncio.run(end_tasks([]))
