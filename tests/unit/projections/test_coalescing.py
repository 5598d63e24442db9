"""Answering many requests with one query."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from projections.coalescing import REQUESTS_MAX, Coalescer
from tests.support.virtual_time import run_virtual


class _Unreachable(Exception):
    pass


class _Store:
    """Doubles numbers; refuses negative ones, and counts its queries."""

    def __init__(self) -> None:
        self.queries: list[list[int]] = []
        self.reachable = True

    async def ask(self, requests: Sequence[int]) -> list[int]:
        self.queries.append(list(requests))
        await asyncio.sleep(0)
        if not self.reachable:
            raise _Unreachable
        if any(request < 0 for request in requests):
            raise ValueError("negative")
        return [2 * request for request in requests]

    def coalescer(self) -> Coalescer[int, int]:
        return Coalescer(self.ask, queries_max=1, shared_failure=_Unreachable)


def test_what_comes_during_a_query_goes_into_the_next_one() -> None:
    async def scenario() -> None:
        store = _Store()
        coalescer = store.coalescer()
        numbers = range(2 * REQUESTS_MAX + 1)

        answers = await asyncio.gather(*map(coalescer, numbers))

        assert answers == [2 * number for number in numbers]
        assert len(store.queries) == 3
        assert max(map(len, store.queries)) == REQUESTS_MAX

    asyncio.run(scenario())


def test_a_bad_request_fails_alone() -> None:
    async def scenario() -> None:
        coalescer = _Store().coalescer()

        good, bad, other = await asyncio.gather(*map(coalescer, [1, -1, 3]), return_exceptions=True)

        assert (good, other) == (2, 6)
        assert isinstance(bad, ValueError)

    asyncio.run(scenario())


def test_a_store_that_cannot_be_reached_is_told_to_all_after_one_query() -> None:
    async def scenario() -> None:
        store = _Store()
        store.reachable = False
        coalescer = store.coalescer()

        answers = await asyncio.gather(*map(coalescer, range(5)), return_exceptions=True)

        assert [type(answer) for answer in answers] == [_Unreachable] * 5
        assert len(store.queries) == 1
        store.reachable = True
        assert await coalescer(4) == 8

    asyncio.run(scenario())


def test_one_who_gave_up_costs_the_others_nothing() -> None:
    async def scenario() -> None:
        coalescer = _Store().coalescer()
        first, second = (asyncio.create_task(coalescer(number)) for number in (1, 2))
        await asyncio.sleep(0)
        first.cancel()

        assert await second == 4
        with pytest.raises(asyncio.CancelledError):
            await first

    asyncio.run(scenario())


def test_those_who_wait_when_it_is_closed_are_cancelled() -> None:
    async def scenario() -> None:
        never = asyncio.Event()

        async def ask(requests: Sequence[int]) -> list[int]:
            await never.wait()
            return list(requests)

        coalescer = Coalescer(ask, queries_max=1, shared_failure=_Unreachable)
        waiting = [asyncio.create_task(coalescer(number)) for number in range(REQUESTS_MAX + 1)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)

        await coalescer.close()
        answers = await asyncio.gather(*waiting, return_exceptions=True)

        assert all(isinstance(answer, asyncio.CancelledError) for answer in answers)

    asyncio.run(scenario())


def test_whoever_asks_again_as_soon_as_it_is_answered_is_answered_again() -> None:
    async def scenario() -> None:
        coalescer = _Store().coalescer()
        for number in range(5):
            assert await coalescer(number) == 2 * number

    run_virtual(scenario())


def test_the_first_of_a_batch_waits_a_moment_for_company() -> None:
    async def scenario() -> None:
        store = _Store()
        coalescer = Coalescer(store.ask, queries_max=1, shared_failure=_Unreachable, gather_s=0.01)

        async def late(number: int) -> int:
            await asyncio.sleep(0.005)
            return await coalescer(number)

        assert [*await asyncio.gather(coalescer(1), late(2))] == [2, 4]
        assert store.queries == [[1, 2]]

    run_virtual(scenario())


@pytest.mark.parametrize("answered", [0, 1, 4])
def test_a_wrong_number_of_answers_fails_who_asked_and_nobody_else(answered: int) -> None:
    async def ask(requests: Sequence[int]) -> list[int]:
        await asyncio.sleep(0)
        if 13 in requests:
            return [0] * (2 if len(requests) == 1 else answered)
        return [2 * request for request in requests]

    async def scenario() -> None:
        coalescer = Coalescer(ask, queries_max=1, shared_failure=_Unreachable)
        async with asyncio.timeout(60):
            first = await asyncio.gather(*map(coalescer, [1, 13, 3]), return_exceptions=True)
            later = await coalescer(4)

        assert (first[0], first[2], later) == (2, 6, 8)
        assert isinstance(first[1], RuntimeError)

    run_virtual(scenario())


def test_closing_leaves_nobody_waiting_while_requests_are_asked_one_by_one() -> None:
    alone = asyncio.Event()

    async def ask(requests: Sequence[int]) -> list[int]:
        if len(requests) > 1:
            raise ValueError("together")
        alone.set()
        await asyncio.Event().wait()
        return []

    async def scenario() -> None:
        coalescer = Coalescer(ask, queries_max=1, shared_failure=_Unreachable)
        asked = [asyncio.create_task(coalescer(number)) for number in range(3)]
        await alone.wait()
        await coalescer.close()
        async with asyncio.timeout(60):
            results = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)

    run_virtual(scenario())
