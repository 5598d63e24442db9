"""Answering many requests that come at about the same time with one query."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

from schemas.tasks import end_tasks

Request = TypeVar("Request")
Answer = TypeVar("Answer")

REQUESTS_MAX: Final = 100


class Coalescer(Generic[Request, Answer]):
    """Gathers the requests that come while an earlier query is under way into the next one.

    A query costs much the same for one request as for fifty, so the first one of a batch may wait
    a moment for company.

    Args:
        ask: answers several requests, in order.
        gather_s: how long a request that comes while no query is under way waits for others.
        queries_max: queries under way at once.
        shared_failure: what a query raises through no fault of a request. After any other failure
            the requests are asked one by one, so that one bad one fails alone.
    """

    def __init__(
        self,
        ask: Callable[[Sequence[Request]], Awaitable[Sequence[Answer]]],
        *,
        queries_max: int,
        shared_failure: type[Exception],
        gather_s: float = 0.0,
    ) -> None:
        self._ask = ask
        self._gather_s = gather_s
        self._shared_failure = shared_failure
        self._queries_max = queries_max
        self._pending: list[tuple[Request, asyncio.Future[Answer]]] = []
        self._queries: set[asyncio.Task[None]] = set()
        self._running = 0

    async def __call__(self, request: Request) -> Answer:
        """Return the answer to one request; raises what the query that held it raised."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending.append((request, future))
        if self._running < self._queries_max:
            self._running += 1
            query = asyncio.create_task(self._run())
            self._queries.add(query)
            query.add_done_callback(self._queries.discard)
        return await future

    async def close(self) -> None:
        """Give up; whoever still waits is cancelled."""
        await end_tasks(self._queries)
        for _, future in self._pending:
            future.cancel()

    async def _run(self) -> None:
        try:
            if self._gather_s > 0:
                await asyncio.sleep(self._gather_s)
            while self._pending:
                taken, self._pending = self._pending[:REQUESTS_MAX], self._pending[REQUESTS_MAX:]
                waiting = [(request, future) for request, future in taken if not future.done()]
                try:
                    await self._answer(waiting)
                finally:
                    for _, future in waiting:
                        future.cancel()  # nothing, but where the query was cancelled
        finally:
            # Counted here, in the same step in which nothing was found pending. A task leaves the
            # set only later: whoever was answered last asks again before that, and would wait for
            # a query that is over.
            self._running -= 1

    async def _answer(self, waiting: Sequence[tuple[Request, asyncio.Future[Answer]]]) -> None:
        if not waiting:
            return
        try:
            answers = await self._answers([request for request, _ in waiting])
        except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
            await self._fail(waiting, error)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)

    async def _answers(self, requests: Sequence[Request]) -> Sequence[Answer]:
        answers = await self._ask(requests)
        if len(answers) != len(requests):
            raise RuntimeError(f"{len(requests)} requests got {len(answers)} answers")
        return answers

    async def _fail(
        self, waiting: Sequence[tuple[Request, asyncio.Future[Answer]]], error: Exception
    ) -> None:
        if len(waiting) > 1 and not isinstance(error, self._shared_failure):
            for one in waiting:
                await self._answer([one])
            return
        for _, future in waiting:
            if not future.done():
                future.set_exception(error)
