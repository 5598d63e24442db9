"""What every embedder owes to whoever stores or compares its vectors; a suite to inherit from."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import numpy as np
import pytest

from schemas.errors import EmbeddingFailed
from schemas.ports import Embedder, Vectors

Opened = AbstractAsyncContextManager[Embedder]

TEXTS = (
    "Lives in Zürich.",
    "緑茶が好き",
    "🍵",
    "C++",
    "one\x07two\u2028three",
    "?!",
    "x" * 20_000,
    "Is allergic to nuts. " * 2_000,
)
"""Texts as odd as memories may be; none is blank."""

TOLERANCE = 1e-3
"""How far a length may be from 1: the rounding of the half floats that are stored."""

ALONE_TOLERANCE = 1e-3
"""How far a component may be from what the text has alone: sums are made in another order."""


class EmbedderContract:
    """Holds for every embedder, behind the checks that it is always used behind."""

    def opened(self) -> Opened:
        """Open the embedder under test, inside a running event loop."""
        raise NotImplementedError

    def play(self, act: Callable[[Embedder], Awaitable[None]]) -> None:
        """Run a scene with the embedder."""

        async def scene() -> None:
            async with self.opened() as embedder:
                await act(embedder)

        asyncio.run(scene())

    def test_has_the_shape_of_the_port(self) -> None:
        async def act(embedder: Embedder) -> None:
            assert isinstance(embedder, Embedder)
            assert embedder.name.strip() == embedder.name != ""
            assert embedder.dimension > 0
            assert 0 < embedder.min_similarity < 1

        self.play(act)

    def test_gives_each_text_one_vector_of_length_1(self) -> None:
        async def act(embedder: Embedder) -> None:
            vectors = await embedder.embed(TEXTS)

            assert vectors.shape == (len(TEXTS), embedder.dimension)
            assert vectors.dtype == np.float32
            assert np.isfinite(vectors).all()
            assert np.abs(np.linalg.norm(vectors, axis=1) - 1).max() <= TOLERANCE

        self.play(act)

    def test_answers_an_empty_batch_with_no_vectors(self) -> None:
        async def act(embedder: Embedder) -> None:
            assert (await embedder.embed([])).shape == (0, embedder.dimension)

        self.play(act)

    def test_keeps_the_order_of_the_texts(self) -> None:
        async def act(embedder: Embedder) -> None:
            forth = await embedder.embed(TEXTS)
            back = await embedder.embed(TEXTS[::-1])

            _same(back[::-1], forth)
            assert len({tuple(row.round(3)) for row in forth}) > 1

        self.play(act)

    def test_gives_a_text_the_vector_that_it_has_alone(self) -> None:
        async def act(embedder: Embedder) -> None:
            together = await embedder.embed([*TEXTS, TEXTS[0]])
            alone = [await embedder.embed([text]) for text in (*TEXTS, TEXTS[0])]

            _same(together, np.concatenate(alone))

        self.play(act)

    def test_gives_many_callers_at_once_their_own_vectors(self) -> None:
        async def act(embedder: Embedder) -> None:
            batches = [TEXTS[start : start + 3] for start in range(5)] * 4
            found = await asyncio.gather(*(embedder.embed(batch) for batch in batches))

            for batch, vectors in zip(batches, found, strict=True):
                _same(vectors, await embedder.embed(batch))

        self.play(act)

    def test_is_the_same_when_it_is_opened_again(self) -> None:
        found: list[Vectors] = []
        names: list[tuple[str, int]] = []

        async def act(embedder: Embedder) -> None:
            found.append(await embedder.embed(TEXTS[:4]))
            names.append((embedder.name, embedder.dimension))

        self.play(act)
        self.play(act)

        assert names[0] == names[1]
        _same(found[0], found[1])

    @pytest.mark.parametrize("blank", ["", " \n\t\u3000"], ids=["empty", "white space"])
    def test_refuses_a_blank_text_and_tells_which(self, blank: str) -> None:
        async def act(embedder: Embedder) -> None:
            with pytest.raises(EmbeddingFailed, match="at 1"):
                await embedder.embed([TEXTS[0], blank])

        self.play(act)


@asynccontextmanager
async def shared(embedder: Embedder) -> AsyncIterator[Embedder]:
    """Open an embedder that is loaded once and closed by somebody else."""
    yield embedder


def _same(found: Vectors, expected: Vectors) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= ALONE_TOLERANCE
