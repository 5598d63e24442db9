"""Finding out that another model answers under the name of the one that made the vectors.

Name and dimension tell a great change. A server that was given another model of the same dimension
tells nothing, and its vectors would stand among the old ones with arbitrary cosines. So the vector
of one fixed sentence is recorded with the read model at first use, and compared from then on. Some
memories whose vectors come from the log bear witness too: a read model that is rebuilt has recorded
nothing yet, while its log may hold the vectors of the model before.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from statistics import median_low
from typing import Final, TypeAlias
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from projections.embedders.around import AroundEmbedder
from projections.embedders.checks import CheckedEmbedder
from projections.read_model import ReadModel, name_every_subject
from projections.vectors import HalfVectors, Halves, halves_of
from schemas.embedding import PartlyEmbedded, embed_each
from schemas.errors import EmbedderMismatch, EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors
from schemas.queries import load_queries

_LOG: Final = logging.getLogger(__name__)
_QUERIES: Final = load_queries("projections", "sql/read_model.sql")

SENTENCE: Final = "Lives in a small house by the river and keeps seven bees."
"""What is embedded. Never to be changed: its vectors are recorded."""

COSINE_MIN: Final = 0.9
"""Below it the model is another one. Measured with MiniLM in int8: 1.0000 as half floats, among
other texts and with another number of threads; 0.09 against ``hash`` of the same dimension. It
leaves room for processors that round int8 differently, which was not measured."""

CHECK_EVERY_S: Final = 300.0
"""A model that is exchanged under a process that runs is found out within this time."""

WITNESSES: Final = 5
"""Most of them decide, so that a few vectors that another model left behind do not."""

CALLS_MAX: Final = 2 * WITNESSES
"""Most calls of the embedder for one comparison."""

NAMES_MAX: Final = 16
"""Most names that are remembered of a model; one that is forgotten is compared again."""

_AGAIN_AFTER_S: Final = 15.0

Vector: TypeAlias = NDArray[np.float32]
"""Of shape ``(dimension,)``."""

ErasedAmong: TypeAlias = Callable[[Collection[UUID]], Awaitable[Collection[UUID]]]
"""Returns those of some subjects whose destruction is recorded."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Canary:
    """What is recorded of the model.

    Attributes:
        vector: of the sentence.
        model: what the model called itself; ``None`` where it did not say.
    """

    vector: Vector
    model: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Witness:
    """A memory's words with the vector that the log holds of them."""

    content: str
    vector: Vector


class ModelRecords:
    """What a read model knows of the model that made its vectors.

    Every method raises ``ReadModelUnavailable`` where it cannot be reached.
    """

    def __init__(self, read_model: ReadModel, *, erased_among: ErasedAmong) -> None:
        """Wire it.

        Args:
            read_model: the tables.
            erased_among: tells whose words may not be read any more.
        """
        self._read_model = read_model
        self._erased_among = erased_among

    async def canary(self) -> Canary | None:
        """Return what is recorded."""
        async with self._read_model.connection() as connection:
            cursor = await connection.execute(_QUERIES["select_canary"], binary=True)
            found = await cursor.fetchone()
        return None if found is None else Canary(vector=_of_halves(found[0]), model=found[1])

    async def record(self, canary: Canary) -> Canary:
        """Record it, and return what is recorded: another process may have been faster."""
        first = {"vectors": HalfVectors([halves_of(canary.vector)]), "model": canary.model}
        async with self._read_model.connection() as connection:
            await connection.execute(_QUERIES["record_canary"], first)
        return await self.canary() or canary

    async def discard(self) -> None:
        """Forget what is recorded."""
        async with self._read_model.connection() as connection:
            await connection.execute(_QUERIES["discard_canary"])

    async def witnesses(self) -> list[Witness]:
        """Return a few memories with the vectors that came with them out of the log."""
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            asked = {"limit": WITNESSES}
            cursor = await connection.execute(_QUERIES["select_witnesses"], asked, binary=True)
            found = await cursor.fetchall()
        erased = await self._erased_among({subject for subject, _, _ in found}) if found else ()
        return [
            Witness(content=content, vector=_of_halves(halves))
            for subject, content, halves in found
            if subject not in erased
        ]


class VerifiedEmbedder(AroundEmbedder):
    """An embedder that answers only while it is the one that the read model was built with.

    It is compared before its first vectors, every ``CHECK_EVERY_S`` seconds, and when the answers
    name another model. One that differs gives no vectors until a later comparison, tried again at
    most every 15 s, finds the right one.
    """

    def __init__(
        self,
        embedder: CheckedEmbedder,
        records: ModelRecords,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap an embedder.

        Args:
            embedder: the embedder.
            records: what the read model knows of the model that made its vectors.
            clock: a time in seconds that never goes back.
        """
        super().__init__(embedder)
        self._records = records
        self._clock = clock
        self._check_at = float("-inf")
        self._checking = asyncio.Lock()
        self._names: dict[str | None, None] = {}  # in the order in which they were compared
        self._mismatch: EmbedderMismatch | None = None
        self._failed = 0
        self._failure: Exception | None = None

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
            vectors = await self.inner.embed(texts)
        except PartlyEmbedded:
            await self._verify_name()
            raise
        await self._verify_name()
        return vectors

    async def _verify_name(self) -> None:
        """Compare where the answer that came just now names a model that was not compared yet."""
        name = self.answered_as
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
        if self._clock() >= self._check_at:
            failed = self._failed
            async with self._checking:
                if self._failed != failed and self._failure is not None:
                    # The comparison that this one waited for failed: many would wait for many.
                    raise self._failure.with_traceback(None)
                if self._clock() >= self._check_at:  # nobody else has done it meanwhile
                    await self._verify_for_all()
        if self._mismatch is not None:
            raise EmbedderMismatch(str(self._mismatch))

    async def _verify_for_all(self) -> None:
        """Compare; whoever waits for it meanwhile fails as it does, whatever went wrong."""
        try:
            await self._verify()
        except Exception as error:
            self._failed += 1
            self._failure = error
            raise
        self._failure = None

    async def _verify(self) -> None:
        witnesses = await self._records.witnesses()
        texts = [SENTENCE, *(witness.content for witness in witnesses)]
        found = await embed_each(self.inner, texts, calls_max=CALLS_MAX)
        vector, *of_witnesses = found.vectors
        if vector is None:
            # Whatever is wrong with the answer, it is not the caller's texts.
            raise EmbedderUnavailable("; ".join(found.problems))
        answered = Canary(vector=vector, model=self.answered_as)
        recorded = await self._records.canary()
        if recorded is None or _cosine(vector, recorded.vector) >= COSINE_MIN:
            pairs = zip(witnesses, of_witnesses, strict=True)
            cosines = [_cosine(one.vector, again) for one, again in pairs if again is not None]
            if cosines and median_low(cosines) < COSINE_MIN:
                # What is recorded came later than the log's vectors, from this very model.
                await self._records.discard()
                self._differs(answered, None, median_low(cosines))
                return
            recorded = recorded or await self._records.record(answered)
        # Compared after it was recorded, too: another process may have recorded another model.
        cosine = _cosine(vector, recorded.vector)
        if cosine < COSINE_MIN:
            self._differs(answered, recorded, cosine)
        else:
            self._agrees(answered, recorded)

    def _differs(self, answered: Canary, recorded: Canary | None, cosine: float) -> None:
        self._names.clear()
        self._mismatch = EmbedderMismatch(self._told(answered, recorded, cosine))
        self._check_at = self._clock() + _AGAIN_AFTER_S
        _LOG.error("%s", self._mismatch)

    def _agrees(self, answered: Canary, recorded: Canary) -> None:
        if answered.model not in {recorded.model, *self._names}:
            _LOG.warning(
                "the embedder %s answers as %r, at first it was %r; its vectors are the same",
                self.name,
                answered.model,
                recorded.model,
            )
        self._names[answered.model] = None
        while len(self._names) > NAMES_MAX:
            del self._names[next(iter(self._names))]
        self._mismatch = None
        self._check_at = self._clock() + CHECK_EVERY_S

    def _told(self, answered: Canary, recorded: Canary | None, cosine: float) -> str:
        compared = (
            "those of memories in its log"
            if recorded is None
            else f"that of a fixed sentence, recorded of {_named(recorded.model)}"
        )
        return (
            f"another model answers for the embedder {self.name!r} ({_named(answered.model)}) than "
            f"made the read model's vectors: compared with {compared}, the cosine is "
            f"{cosine:.2f} instead of 1. Let the server serve the model it had. To keep this one, "
            "give it another name (MEMLEDGER_EMBEDDER_MODEL) and a generation of its own "
            "(MEMLEDGER_GENERATION), or drop the generation's schema: the vectors are then made "
            "anew"
        )


def _named(model: str | None) -> str:
    return "a model that does not name itself" if model is None else f"the model {model!r}"


def _cosine(one: Vector, other: Vector) -> float:
    return float(one @ other) / float(np.linalg.norm(one) * np.linalg.norm(other))


def _of_halves(halves: Halves) -> Vector:
    return np.frombuffer(halves, "<f2").astype(np.float32)
