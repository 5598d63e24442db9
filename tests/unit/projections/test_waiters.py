"""Waiting for offsets to be applied."""

from __future__ import annotations

import asyncio

import pytest

from projections.waiters import Waiters


async def _started(waiters: Waiters, partition: int, offset: int) -> asyncio.Task[None]:
    task = asyncio.create_task(waiters.wait(partition, offset))
    await asyncio.sleep(0)
    return task


async def _settled() -> None:
    for _ in range(3):
        await asyncio.sleep(0)


def test_those_below_the_position_go_on_and_the_others_wait() -> None:
    async def scenario() -> None:
        waiters = Waiters()
        late, early, elsewhere = [
            await _started(waiters, partition, offset)
            for partition, offset in [(0, 5), (0, 4), (1, 4)]
        ]

        waiters.heard(0, 5)
        await _settled()

        assert (early.done(), late.done(), elsewhere.done()) == (True, False, False)
        waiters.heard(0, 6)
        waiters.heard(1, 5)
        await asyncio.gather(late, elsewhere)
        assert not waiters

    asyncio.run(scenario())


def test_what_is_applied_already_is_not_waited_for() -> None:
    async def scenario() -> None:
        waiters = Waiters()
        waiters.heard(0, 6)
        waiters.heard(0, 3)

        await waiters.wait(0, 5)

    asyncio.run(scenario())


def test_a_read_model_that_began_anew_is_waited_for() -> None:
    async def scenario() -> None:
        waiters = Waiters()
        waiters.heard(0, 6)
        waiters.read({0: 0}, since=waiters.mark())

        waiting = await _started(waiters, 0, 5)

        assert not waiting.done()
        waiters.read({0: 6}, since=waiters.mark())
        await waiting

    asyncio.run(scenario())


def test_what_was_heard_during_a_reading_is_not_forgotten() -> None:
    async def scenario() -> None:
        waiters = Waiters()
        since = waiters.mark()
        waiters.heard(0, 6)

        waiters.read({0: 2}, since=since)

        await waiters.wait(0, 5)

    asyncio.run(scenario())


def test_one_who_gave_up_holds_nobody_back() -> None:
    async def scenario() -> None:
        waiters = Waiters()
        first, second = await _started(waiters, 0, 1), await _started(waiters, 0, 2)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first

        waiters.heard(0, 3)
        await second

        assert not waiters

    asyncio.run(scenario())
