"""Finding out that another model answers under the name of the one that made the vectors.

Name and dimension tell a great change. A server that was given another model of the same dimension
tells nothing, and its vectors would stand among the old ones with arbitrary cosines. So the vector
of one fixed sentence is recorded with the read model at first use, and compared from then on.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.embedders.checks import CheckedEmbedder
from projections.read_model import ReadModel
from projections.vectors import HalfVectors, halves_of
from schemas.database import load_queries
from schemas.embedding import PartlyEmbedded
from schemas.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors

_LOG: Final = logging.getLogger(__name__)
_QUERIES: Final = load_queries("projections", "sql/read_model.sql")

SENTENCE: Final = "Lives in a small house by the river and keeps seven bees."
"""What is embedded. Never to be changed: its vectors are recorded."""

COSINE_MIN: Final = 0.95
"""Below it the model is another one. Measured with MiniLM in int8: 1.0000 as half floats, among
other texts and with another number of threads; 0.09 against ``hash`` of the same dimension."""

CHECK_EVERY_S: Final = 300.0
"""A model that is exchanged under a process that runs is found out within this time."""

_AGAIN_AFTER_S: Final = 15.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """What is recorded of the model.

    Attributes:
        vector: of the sentence, shape ``(dimension,)``.
        model: what the model called itself; ``None`` where it did not say.
    """

    vector: NDArray[np.float32]
    model: str | None


async def recorded_canary(
    read_model: ReadModel, vector: NDArray[np.float32], model: str | None
) -> Canary:
    """Return what is recorded with the read model; record this where nothing is.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    async with read_model.connection() as connection:
        found = await (await connection.execute(_QUERIES["select_canary"], binary=True)).fetchone()
        if found is None:
            first = {"vectors": HalfVectors([halves_of(vector)]), "model": model}
            await connection.execute(_QUERIES["record_canary"], first)
            # Another process may have been faster.
            cursor = await connection.execute(_QUERIES["select_canary"], binary=True)
            found = await cursor.fetchone()
    assert found is not None, "a read model has its one row from the start"  # noqa: S101 - made with the tables
    halves, name = found
    return Canary(vector=np.frombuffer(halves, "<f2").astype(np.float32), model=name)


class VerifiedEmbedder:
    """An embedder that answers only while it is the one that the read model was built with.

    It is compared before its first vectors, every ``CHECK_EVERY_S`` seconds, and when the answers
    name another model. One that differs gives no vectors until a later comparison, tried again at
    most every 15 s, finds the right one.
    """

    def __init__(
        self,
        embedder: CheckedEmbedder,
        read_model: ReadModel,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder.
            read_model: the tables whose vectors it is to be compared with.
            clock: a time in seconds that never goes back.
        """
        self._embedder = embedder
        self._read_model = read_model
        self._clock = clock
        self._check_at = float("-inf")
        self._checking = asyncio.Lock()
        self._names: set[str | None] = set()
        self._mismatch: EmbedderMismatch | None = None
        self._failure: EmbeddingFailed | None = None
        self._failed_at = float("-inf")

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
        """The cosine from which the model's vectors count as related."""
        return self._embedder.min_similarity

    @property
    def mismatch(self) -> str | None:
        """What the last comparison found to differ, or ``None``."""
        return None if self._mismatch is None else str(self._mismatch)

    async def begin(self) -> None:
        """Compare the model now, as far as it answers: one that cannot be asked is compared later.

        Raises:
            EmbedderMismatch: it is another one.
            ReadModelUnavailable: the read model cannot be reached.
        """
        try:
            await self._verify_if_due()
        except EmbedderMismatch:
            raise
        except EmbeddingFailed as error:
            _LOG.warning("the embedder is compared with the read model's later: %s", error)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text.

        Raises:
            EmbedderMismatch: another model answers.
            PartlyEmbedded, EmbedderUnavailable, EmbeddingFailed: as the embedder raises them.
            ReadModelUnavailable: the recorded vector cannot be read.
        """
        await self._verify_if_due()
        try:
            vectors = await self._embedder.embed(texts)
        except PartlyEmbedded:
            await self._verify_name()
            raise
        await self._verify_name()
        return vectors

    async def _verify_name(self) -> None:
        """Compare where the answer that came just now names a model that was not compared yet."""
        name = self._embedder.answered_as
        if name in self._names:
            return
        self._check_at = float("-inf")
        await self._verify_if_due()
        if name not in self._names:
            raise EmbedderUnavailable(
                f"embedder {self.name}: one answer names the model {name!r} and the next another: "
                "let the server serve one model"
            )

    async def _verify_if_due(self) -> None:
        asked_at = self._clock()
        if asked_at >= self._check_at:
            async with self._checking:
                if self._clock() >= self._check_at:  # nobody else has done it meanwhile
                    await self._verify(asked_at)
        if self._mismatch is not None:
            raise EmbedderMismatch(str(self._mismatch))

    async def _verify(self, asked_at: float) -> None:
        if self._failure is not None and self._failed_at >= asked_at:
            # The comparison that this one waited for failed: many would wait for many deadlines.
            raise EmbedderUnavailable(str(self._failure))
        try:
            vector = (await self._embedder.embed([SENTENCE]))[0]
        except EmbeddingFailed as error:
            self._failure, self._failed_at = error, self._clock()
            if isinstance(error, EmbedderUnavailable):
                raise
            # Whatever is wrong with the answer, it is not the caller's texts.
            raise EmbedderUnavailable(f"for a fixed sentence, {error}") from error
        self._failure = None
        name = self._embedder.answered_as
        recorded = await recorded_canary(self._read_model, vector, name)
        cosine = float(vector @ recorded.vector) / float(np.linalg.norm(recorded.vector))
        if cosine < COSINE_MIN:
            self._names.clear()
            self._mismatch = EmbedderMismatch(self._told(recorded, name, cosine))
            self._check_at = self._clock() + _AGAIN_AFTER_S
            _LOG.error("%s", self._mismatch)
            return
        if name != recorded.model and name not in self._names:
            _LOG.warning(
                "the embedder %s answers as %r, at first it was %r; its vectors are the same",
                self.name,
                name,
                recorded.model,
            )
        self._names.add(name)
        self._mismatch = None
        self._check_at = self._clock() + CHECK_EVERY_S

    def _told(self, recorded: Canary, name: str | None, cosine: float) -> str:
        answering = f"as {name!r}" if name is not None else "without naming itself"
        return (
            f"another model answers for the embedder {self.name!r} ({answering}) than the read "
            f"model's vectors were made with ({recorded.model!r}): the fixed sentence's cosine is "
            f"{cosine:.2f} instead of 1. Let the server serve the model it had. To keep this one, "
            "give it another name (MEMLEDGER_EMBEDDER_MODEL) and a generation of its own "
            "(MEMLEDGER_GENERATION), or drop the generation's schema: the vectors are then made "
            "anew"
        )
