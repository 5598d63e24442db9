"""The checks that stand between any embedder and the ledger.

What is accepted goes into the log for ever and decides what recall finds, so an embedder's output
is believed only after it was looked at: a NaN is greater than every threshold in Postgres, a zero
vector is near to nothing and far from nothing, a short batch pairs texts with others' vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np

from projections.embedders.around import AroundEmbedder
from projections.embedders.breaker import BreakingEmbedder
from schemas.embedding import FAULT_TEXTS, EmbeddingFault, PartlyEmbedded, row_faults
from schemas.errors import EmbeddingFailed, MemledgerError
from schemas.ports import Vectors

NORM_TOLERANCE: Final = 1e-3
"""How far a length may be from 1: the rounding of half floats, which the ledger stores, is 5e-4."""

_POSITIONS_NAMED_MAX: Final = 5


class CheckedEmbedder(AroundEmbedder):
    """An embedder whose every answer is checked; it is itself an ``Embedder``.

    An empty batch is answered with shape ``(0, dimension)`` and without a call. A blank text (empty
    or nothing but white space) has no meaning to embed: the batch is refused before the call, since
    models answer such a text with a vector that is near to arbitrary others. Callers keep blank
    texts out: a memory's content and a recall's question are never blank.
    """

    def without_breaker(self) -> CheckedEmbedder:
        """Return the same embedder, asked also while others leave it alone since it failed."""
        inner = self.inner
        return CheckedEmbedder(inner.inner if isinstance(inner, BreakingEmbedder) else inner)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text, shape ``(texts, dimension)``.

        Raises:
            PartlyEmbedded: some vectors cannot be used; it carries the others.
            EmbedderUnavailable: the embedder cannot be asked.
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
        faults: Mapping[int, EmbeddingFault] = {}
        try:
            vectors = await self.inner.embed(texts)
        except PartlyEmbedded as partly:
            vectors, faults = partly.vectors, partly.faults
        except MemledgerError:
            raise
        except Exception as error:
            # Whatever a library or a server brings about costs vectors, never the words themselves.
            raise EmbeddingFailed(
                f"embedder {self.name} raised {type(error).__name__}, which nobody foresaw"
            ) from error
        return checked_vectors(
            vectors, texts=len(texts), dimension=self.dimension, embedder=self.name, faults=faults
        )

    async def warm_up(self) -> None:
        """Load what the embedder loads at its first text, so that no user waits for it.

        Raises:
            ConfigurationError: it cannot be loaded.
        """
        load = getattr(self.inner, "warm_up", None)
        if load is not None:
            await load()

    async def aclose(self) -> None:
        """Release what the embedder holds, such as connections."""
        close = getattr(self.inner, "aclose", None)
        if close is not None:
            await close()


def checked_vectors(
    vectors: Vectors,
    *,
    texts: int,
    dimension: int,
    embedder: str,
    faults: Mapping[int, EmbeddingFault] = MappingProxyType({}),
) -> Vectors:
    """Return ``vectors`` as float32 if they are what an embedder must give.

    Args:
        vectors: what the embedder gave.
        texts: how many texts it was given.
        dimension: the number of components it announced.
        embedder: its name, for the message.
        faults: the rows that it found to be of no use itself.

    Raises:
        PartlyEmbedded: rows that are not finite, of length 0, or not of length 1, or that came with
            a fault; the message tells which fault and how many rows have it.
        EmbeddingFailed: another shape.
    """
    if vectors.shape != (texts, dimension):
        raise EmbeddingFailed(
            f"embedder {embedder}: gave shape {vectors.shape} for {texts} texts of dimension "
            f"{dimension}: check that the model is the one that is configured"
        )
    vectors = vectors.astype(np.float32, copy=False)
    found = {**row_faults(vectors, tolerance=NORM_TOLERANCE), **faults}
    if found:
        message = "; ".join(_told(found, texts))
        raise PartlyEmbedded(f"embedder {embedder}: {message}", vectors=vectors, faults=found)
    return vectors


def unit_rows(vectors: Vectors) -> Vectors:
    """Return the rows divided by their lengths; an unusable row stays so, for the check to find."""
    with np.errstate(over="ignore", invalid="ignore"):
        # In double precision, in which no square of a single component is too large.
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        rows: Vectors = np.divide(
            vectors, lengths, out=vectors.copy(), where=lengths > 0, casting="same_kind"
        )
    return rows


def _told(faults: Mapping[int, EmbeddingFault], texts: int) -> Iterator[str]:
    for fault in dict.fromkeys(faults.values()):
        positions = sorted(position for position, one in faults.items() if one is fault)
        told = FAULT_TEXTS.get(fault, fault.value)
        yield f"{_counted(positions, texts, 'vectors')} are {told}"
        if fault is EmbeddingFault.WRONG_DIMENSION:
            yield "set MEMLEDGER_EMBEDDER_DIMENSION to what the model gives"


def _counted(positions: Sequence[int], total: int, what: str) -> str:
    named = ", ".join(str(position) for position in positions[:_POSITIONS_NAMED_MAX])
    more = ", ..." if len(positions) > _POSITIONS_NAMED_MAX else ""
    return f"{len(positions)} of {total} {what} (at {named}{more})"
