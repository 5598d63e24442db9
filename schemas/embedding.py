"""Vectors for each text of a batch by itself: a text that has none costs its neighbours nothing."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np

from schemas.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Embedder, Vectors


class EmbeddingFault(StrEnum):
    """Why a text has no vector."""

    UNAVAILABLE = "unavailable"
    """The embedder could not be asked, or not in time."""
    MISMATCH = "mismatch"
    """The embedder is not the one that the read model was built with."""
    REFUSED = "refused"
    """The embedder refused the text, or its answer could not be used."""
    MISSING = "missing"
    """The answer holds no list of numbers for the text."""
    WRONG_DIMENSION = "wrong_dimension"
    NOT_FINITE = "not_finite"
    """NaN or infinite."""
    ZERO = "zero"
    """Of length 0: it has no direction."""
    NOT_NORMALISED = "not_normalised"
    NOT_TRIED = "not_tried"
    """The calls that one batch may cost were spent before it was known of the text."""


FAULT_TEXTS: Final[Mapping[EmbeddingFault, str]] = {
    EmbeddingFault.MISSING: "not lists of numbers",
    EmbeddingFault.WRONG_DIMENSION: "of another dimension",
    EmbeddingFault.NOT_FINITE: "not finite (NaN or infinite)",
    EmbeddingFault.ZERO: "of length 0",
    EmbeddingFault.NOT_NORMALISED: "not normalised to length 1",
}
"""How messages call vectors with a fault."""


class PartlyEmbedded(EmbeddingFailed):
    """Some texts of a batch have usable vectors and some have none.

    Attributes:
        vectors: shape ``(texts, dimension)``; the rows of texts with a fault mean nothing.
        faults: by the position of a text, why it has no vector; never empty.
    """

    def __init__(
        self, message: str, *, vectors: Vectors, faults: Mapping[int, EmbeddingFault]
    ) -> None:
        super().__init__(message)
        self.vectors = vectors
        self.faults = faults


@dataclass(frozen=True, kw_only=True, slots=True)
class EachEmbedded:
    """What became of each text of a batch.

    Attributes:
        vectors: by position, the text's vector of shape ``(dimension,)``, or ``None``.
        faults: by position, why it has none; positions with a vector are not there.
        problems: the messages of what failed, each once.
    """

    vectors: tuple[Vectors | None, ...]
    faults: Mapping[int, EmbeddingFault]
    problems: tuple[str, ...]


def calls_to_single_out(texts: int) -> int:
    """Return how many calls find the one text of a batch at which the embedder fails.

    One call for the whole batch, then two for each time that what holds the text is halved:
    1 for 1 text, 9 for 12 and 17 for 200.

    Args:
        texts: how many texts the batch has, at least 1.
    """
    return 1 + 2 * (texts - 1).bit_length()


async def embed_each(
    embedder: Embedder,
    texts: Sequence[str],
    *,
    calls_max: int,
    alive: Callable[[], Awaitable[bool]] | None = None,
) -> EachEmbedded:
    """Embed texts so that each usable vector is kept, whatever became of the other texts.

    A batch that fails as a whole is halved until what is at fault stands alone, the larger parts
    first: whatever the calls are spent on, they tell of as many texts as they can. Whoever cannot
    be asked at all is not asked again for the halves, unless ``alive`` says that it answers: then
    a text brings it down.

    Args:
        embedder: gives vectors; its own checks tell which of them are usable.
        texts: the texts, none of them blank.
        calls_max: the most calls of the embedder, at least 1; each one of ``alive`` counts.
        alive: tells whether the embedder answers for a text that is known to be good, by one call.
    """
    batch = _Batch(embedder=embedder, texts=texts, calls_left=calls_max, alive=alive)
    await batch.run()
    return EachEmbedded(
        vectors=tuple(batch.vectors), faults=batch.faults, problems=tuple(batch.problems)
    )


class _Batch:
    def __init__(
        self,
        *,
        embedder: Embedder,
        texts: Sequence[str],
        calls_left: int,
        alive: Callable[[], Awaitable[bool]] | None,
    ) -> None:
        self._embedder = embedder
        self._texts = texts
        self._calls_left = calls_left
        self._alive = alive
        self._over: EmbeddingFault | None = None
        self.vectors: list[Vectors | None] = [None] * len(texts)
        self.faults: dict[int, EmbeddingFault] = {}
        self.problems: dict[str, None] = {}

    async def run(self) -> None:
        stretches = deque([range(len(self._texts))] if self._texts else [])
        while stretches:
            stretch = stretches.popleft()
            over = self._why_over()
            fault = await self._embed(stretch) if over is None else over
            if fault is None:
                continue
            if len(stretch) == 1:
                self.faults[stretch[0]] = fault
            elif (over := self._why_over()) is None:
                stretches += _halves(stretch)
            else:  # whose fault it was is not known, so none of them is blamed
                self.faults |= dict.fromkeys(stretch, over)

    def _why_over(self) -> EmbeddingFault | None:
        if self._over is None and self._calls_left == 0:
            return EmbeddingFault.NOT_TRIED
        return self._over

    async def _embed(self, stretch: range) -> EmbeddingFault | None:
        """Embed a stretch; return the fault of a stretch that failed as a whole."""
        self._calls_left -= 1
        try:
            rows = await self._embedder.embed([self._texts[position] for position in stretch])
        except PartlyEmbedded as partly:
            self._note(partly)
            for place, position in enumerate(stretch):
                if place in partly.faults:
                    self.faults[position] = partly.faults[place]
                else:
                    self.vectors[position] = partly.vectors[place]
        except EmbedderMismatch as error:
            self._note(error)
            self._over = EmbeddingFault.MISMATCH
            return self._over
        except EmbedderUnavailable as error:
            self._note(error)
            return await self._why_unavailable(self._alive)
        except EmbeddingFailed as error:
            self._note(error)
            return EmbeddingFault.REFUSED
        else:
            for position, row in zip(stretch, rows, strict=True):
                self.vectors[position] = row
        return None

    async def _why_unavailable(self, alive: Callable[[], Awaitable[bool]] | None) -> EmbeddingFault:
        """Return the fault of a stretch at which the embedder was away: a text's, or its own."""
        if alive is None:
            self._over = EmbeddingFault.UNAVAILABLE
        elif self._calls_left == 0:
            # No call is left to find out which it is, so no text is blamed.
            return EmbeddingFault.NOT_TRIED
        else:
            self._calls_left -= 1
            if not await alive():
                self._over = EmbeddingFault.UNAVAILABLE
        return EmbeddingFault.UNAVAILABLE

    def _note(self, error: EmbeddingFailed) -> None:
        self.problems[str(error)] = None


def _halves(stretch: range) -> Iterator[range]:
    middle = (len(stretch) + 1) // 2
    yield stretch[:middle]
    yield stretch[middle:]


def row_faults(vectors: Vectors, *, tolerance: float) -> dict[int, EmbeddingFault]:
    """Return the rows that cannot be used, with what is wrong with each.

    Args:
        vectors: shape ``(texts, dimension)``.
        tolerance: how far a length may be from 1.
    """
    faults: dict[int, EmbeddingFault] = {}
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1)
        usable = np.abs(lengths - 1) <= tolerance  # of NaN, too, this is false
    for position in np.flatnonzero(~usable):
        if not np.isfinite(vectors[position]).all():
            fault = EmbeddingFault.NOT_FINITE
        elif lengths[position] == 0:
            fault = EmbeddingFault.ZERO
        else:
            fault = EmbeddingFault.NOT_NORMALISED
        faults[int(position)] = fault
    return faults
