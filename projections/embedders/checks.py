"""The checks that stand between any embedder and the ledger.

What is accepted goes into the log for ever and decides what recall finds, so an embedder's output
is believed only after it was looked at: a NaN is greater than every threshold in Postgres, a zero
vector is near to nothing and far from nothing, a short batch pairs texts with others' vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from schemas.errors import EmbeddingFailed, MemledgerError
from schemas.ports import Embedder, Vectors

NORM_TOLERANCE: Final = 1e-3
"""How far a length may be from 1: the rounding of half floats, which the ledger stores, is 5e-4."""

_POSITIONS_NAMED_MAX: Final = 5


class CheckedEmbedder:
    """An embedder whose every answer is checked; it is itself an ``Embedder``.

    An empty batch is answered with shape ``(0, dimension)`` and without a call. A blank text (empty
    or nothing but white space) has no meaning to embed: the batch is refused before the call, since
    models answer such a text with a vector that is near to arbitrary others. Callers keep blank
    texts out: a memory's content and a recall's question are never blank.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """Number of components."""
        return self._embedder.dimension

    @property
    def min_similarity(self) -> float:
        """The cosine at and above which two of the model's vectors count as related."""
        return self._embedder.min_similarity

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text, shape ``(texts, dimension)``.

        Raises:
            EmbeddingFailed: a text is blank, or the embedder gave no usable vectors.
        """
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        blank = [position for position, text in enumerate(texts) if not text.strip()]
        if blank:
            raise EmbeddingFailed(
                f"embedder {self.name}: {_counted(blank, len(texts), 'texts')} are blank: leave "
                "out texts without a visible character"
            )
        try:
            vectors = await self._embedder.embed(texts)
        except MemledgerError:
            raise
        except Exception as error:
            # Whatever a library or a server brings about costs vectors, never the words themselves.
            raise EmbeddingFailed(
                f"embedder {self.name} raised {type(error).__name__}, which nobody foresaw"
            ) from error
        return checked_vectors(
            vectors, texts=len(texts), dimension=self.dimension, embedder=self.name
        )

    async def warm_up(self) -> None:
        """Load what the embedder loads at its first text, so that no user waits for it.

        Raises:
            ConfigurationError: it cannot be loaded.
        """
        load = getattr(self._embedder, "warm_up", None)
        if load is not None:
            await load()

    async def aclose(self) -> None:
        """Release what the embedder holds, such as connections."""
        close = getattr(self._embedder, "aclose", None)
        if close is not None:
            await close()


def checked_vectors(vectors: Vectors, *, texts: int, dimension: int, embedder: str) -> Vectors:
    """Return ``vectors`` as float32 if they are what an embedder must give.

    Args:
        vectors: what the embedder gave.
        texts: how many texts it was given.
        dimension: the number of components it announced.
        embedder: its name, for the message.

    Raises:
        EmbeddingFailed: another shape, or rows that are not finite, of length 0, or not of length
            1; the message tells which fault and how many rows have it.
    """
    if vectors.shape != (texts, dimension):
        raise EmbeddingFailed(
            f"embedder {embedder}: gave shape {vectors.shape} for {texts} texts of dimension "
            f"{dimension}: check that the model is the one that is configured"
        )
    finite: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(vectors), axis=1)
    _require(finite, embedder, "not finite (NaN or infinite)")
    lengths = np.linalg.norm(vectors, axis=1)
    _require(lengths > 0, embedder, "of length 0")
    _require(np.abs(lengths - 1) <= NORM_TOLERANCE, embedder, "not normalised to length 1")
    return vectors.astype(np.float32, copy=False)


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows divided by their lengths; an unusable row stays so, for the check to find."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        rows: Vectors = np.divide(vectors, lengths, out=vectors.copy(), where=lengths > 0)
    return rows


def _require(usable: NDArray[np.bool_], name: str, fault: str) -> None:
    positions = [int(position) for position in np.flatnonzero(~usable)]
    if positions:
        raise EmbeddingFailed(
            f"embedder {name}: {_counted(positions, len(usable), 'vectors')} are {fault}"
        )


def _counted(positions: Sequence[int], total: int, what: str) -> str:
    named = ", ".join(str(position) for position in positions[:_POSITIONS_NAMED_MAX])
    more = ", ..." if len(positions) > _POSITIONS_NAMED_MAX else ""
    return f"{len(positions)} of {total} {what} (at {named}{more})"
