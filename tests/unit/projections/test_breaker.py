"""An embedder that does not answer is left alone for a while, and then asked by one caller."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
import pytest

from projections.embedders import BreakingEmbedder, CheckedEmbedder
from projections.embedders.breaker import FAILURES_MAX, PAUSE_FIRST_S, PAUSE_MAX_S
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors


class _Scene:
    """An embedder behind a breaker, and the time."""

    name = "inner"
    dimension = 2
    min_similarity = 0.5
    same_statement_similarity = None

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.calls = 0
        self.failure: Exception | None = EmbedderUnavailable("down")
        self.gate: asyncio.Event | None = None
        self.asked = asyncio.Event()
        self.embedder = BreakingEmbedder(self, clock=lambda: self.now_s)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls += 1
        self.asked.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        return np.tile(np.array([[1, 0]], dtype=np.float32), (len(texts), 1))

    async def fail(self, times: int) -> None:
        for _ in range(times):
            with pytest.raises(EmbedderUnavailable):
                await self.embedder.embed(["a"])

    async def opened(self) -> None:
        """Fail until nobody asks any more."""
        await self.fail(FAILURES_MAX)
        assert self.calls == FAILURES_MAX
        self.calls = 0
        self.asked.clear()


def _play(act: Callable[[_Scene], Awaitable[None]]) -> None:
    async def play() -> None:
        await act(_Scene())

    asyncio.run(play())


def test_after_some_failures_in_a_row_nobody_asks_until_the_pause_is_over() -> None:
    async def act(scene: _Scene) -> None:
        await scene.opened()
        with pytest.raises(EmbedderUnavailable, match=r"left alone since it failed 3 .* down"):
            await scene.embedder.embed(["a"])
        scene.now_s += PAUSE_FIRST_S - 0.1
        await scene.fail(5)
        assert scene.calls == 0

        scene.now_s += 0.2
        scene.failure = None
        for _ in range(3):
            assert (await scene.embedder.embed(["a"])).shape == (1, 2)
        assert scene.calls == 3

    _play(act)


def test_a_success_between_failures_begins_the_count_anew() -> None:
    async def act(scene: _Scene) -> None:
        for _ in range(4):
            await scene.fail(FAILURES_MAX - 1)
            failure, scene.failure = scene.failure, None
            await scene.embedder.embed(["a"])
            scene.failure = failure
        assert scene.calls == 4 * FAILURES_MAX

    _play(act)


def test_what_is_the_texts_fault_counts_for_nothing() -> None:
    async def act(scene: _Scene) -> None:
        scene.failure = EmbeddingFailed("refused")
        for _ in range(3 * FAILURES_MAX):
            with pytest.raises(EmbeddingFailed, match="refused"):
                await scene.embedder.embed(["a"])
        assert scene.calls == 3 * FAILURES_MAX

    _play(act)


def test_pauses_grow_up_to_a_bound_while_it_stays_away() -> None:
    async def act(scene: _Scene) -> None:
        await scene.opened()
        pause_s = PAUSE_FIRST_S
        for tries in range(1, 9):
            scene.now_s += pause_s - 0.1
            await scene.fail(3)
            assert scene.calls == tries - 1
            scene.now_s += 0.2
            await scene.fail(3)
            assert scene.calls == tries
            pause_s = min(2 * pause_s, PAUSE_MAX_S)

    _play(act)


def test_one_caller_tries_while_the_others_do_not_wait() -> None:
    async def act(scene: _Scene) -> None:
        await scene.opened()
        scene.now_s += PAUSE_FIRST_S + 0.01
        scene.failure, scene.gate = None, asyncio.Event()
        trying = asyncio.create_task(scene.embedder.embed(["a"]))
        await scene.asked.wait()
        await scene.fail(10)
        assert scene.calls == 1
        scene.gate.set()
        assert (await trying).shape == (1, 2)
        await scene.embedder.embed(["a"])

    _play(act)


def test_a_try_that_is_cancelled_leaves_the_next_one_to_another() -> None:
    async def act(scene: _Scene) -> None:
        await scene.opened()
        scene.now_s += PAUSE_FIRST_S + 0.01
        scene.failure, scene.gate = None, asyncio.Event()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await scene.embedder.embed(["a"])
        scene.gate.set()
        assert (await scene.embedder.embed(["a"])).shape == (1, 2)

    _play(act)


def test_a_pause_that_it_asks_for_is_kept_at_once() -> None:
    async def act(scene: _Scene) -> None:
        scene.failure = EmbedderUnavailable("later", retry_after_s=40)
        await scene.fail(1)
        scene.now_s += 39
        await scene.fail(3)
        assert scene.calls == 1
        scene.now_s += 2
        scene.failure = None
        await scene.embedder.embed(["a"])

    _play(act)


def test_what_is_made_later_asks_all_the_same() -> None:
    async def act(scene: _Scene) -> None:
        checked = CheckedEmbedder(scene.embedder)
        await scene.opened()
        scene.failure = None
        with pytest.raises(EmbedderUnavailable):
            await checked.embed(["a"])
        assert (await checked.without_breaker().embed(["a"])).shape == (1, 2)

    _play(act)
