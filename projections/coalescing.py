"""Answering many requests that come at about the same time with one query."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Generic, TypeVar

Request = TypeVar("Request")
Answer = TypeVar("Answer")

REQUESTS_MAX: Final = 100


class Coalescer(Generic[Request, Answer]):
    """Gathers the requests that come while an earlier query is under way into the next one.

    A request that comes alone is asked at once, so nobody waits for company.

    Args:
        ask: answers several requests, in order.
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
    ) -> None:
        self._ask = ask
        self._shared_failure = shared_failure
        self._queries_max = queries_max
        self._pending: list[tuple[Request, asyncio.Future[Answer]]] = []
        self._queries: set[asyncio.Task[None]] = set()

    async def __call__(self, request: Request) -> Answer:
        """Return the answer to one request; raises what the query that held it raised."""
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending.append((request, future))
        if len(self._queries) < self._queries_max:
            query = asyncio.create_task(self._run())
            self._queries.add(query)
            query.add_done_callback(self._queries.discard)
        return await future

    async def close(self) -> None:
        """Give up; whoever still waits is cancelled."""
        for query in self._queries:
            query.cancel()
        await asyncio.gather(*self._queries, return_exceptions=True)
        for _, future in self._pending:
            future.cancel()

    async def _run(self) -> None:
        while self._pending:
            taken, self._pending = self._pending[:REQUESTS_MAX], self._pending[REQUESTS_MAX:]
            waiting = [(request, future) for request, future in taken if not future.done()]
            await self._answer(waiting)

    async def _answer(self, waiting: Sequence[tuple[Request, asyncio.Future[Answer]]]) -> None:
        if not waiting:
            return
        try:
            answers = await self._ask([request for request, _ in waiting])
        except asyncio.CancelledError:
            for _, future in waiting:
                future.cancel()
            raise
        except Exception as error:  # noqa: BLE001 - it is raised again where it is waited for
            await self._fail(waiting, error)
            return
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)

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
