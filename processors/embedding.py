"""Giving texts and the memories of an outcome their vectors."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from processors import metrics
from schemas.embedding import calls_to_single_out, embed_each
from schemas.events import (
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryCorrected,
    MemoryEvent,
    MemorySuperseded,
)
from schemas.memory import Embedding
from schemas.ports import Embedder, Vectors
from schemas.records import Outcome

logger = logging.getLogger(__name__)

_OPENING: Final = (
    MemoryAdded,
    MemorySuperseded,
    MemoryBackfilled,
    MemoriesMerged,
    MemoryCorrected,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbeddedTexts:
    """Texts that an embedder was asked about.

    Attributes:
        vectors: by the number that a text was asked under, its vector; some may have none.
        texts: every text.
    """

    vectors: Mapping[int, Embedding]
    texts: frozenset[str]


NOTHING_EMBEDDED: Final = EmbeddedTexts(vectors={}, texts=frozenset())


async def embedded_texts(texts: Mapping[int, str], embedder: Embedder) -> EmbeddedTexts:
    """Return the vectors of texts, as far as they can be had.

    Args:
        texts: the texts, each under a number; of equal ones one is asked about.
        embedder: gives vectors.
    """
    distinct = list(dict.fromkeys(texts.values()))
    by_text = dict(zip(distinct, await _embeddings(distinct, embedder), strict=True))
    return EmbeddedTexts(
        vectors={
            number: embedding
            for number, text in texts.items()
            if (embedding := by_text[text]) is not None
        },
        texts=frozenset(distinct),
    )


async def with_embeddings(
    outcome: Outcome, embedder: Embedder, *, tried: Collection[str] = ()
) -> Outcome:
    """Return the outcome with a vector in each memory that it brings forth.

    A memory whose vector cannot be had is kept without one: its words are worth more than that, and
    waiting would hold back the user's next turn. Its vector is made later, beside the turns. The
    calls suffice to keep every other vector where one text makes the embedder fail.

    Args:
        outcome: the outcome.
        embedder: gives vectors.
        tried: texts that it was asked about already for this outcome: it is not asked again.
    """
    contents = [
        content for event in outcome.events if (content := _wanting(event, tried)) is not None
    ]
    if not contents:
        return outcome
    embeddings = iter(await _embeddings(contents, embedder))
    events = tuple(
        event if _wanting(event, tried) is None else _with_vector(event, next(embeddings))
        for event in outcome.events
    )
    return outcome.model_copy(update={"events": events})


def count_missing(outcome: Outcome) -> None:
    """Count the memories of an outcome that stands in the log without their vectors."""
    missing = sum(
        event.memory.embedding is None for event in outcome.events if isinstance(event, _OPENING)
    )
    if missing:
        metrics.EMBEDDINGS_MISSING.inc(missing)


async def _embeddings(texts: Sequence[str], embedder: Embedder) -> list[Embedding | None]:
    found = await embed_each(embedder, texts, calls_max=calls_to_single_out(len(texts)))
    if found.faults:
        logger.warning(
            "%d of %d memories are without a vector for now: %s",
            len(found.faults),
            len(texts),
            "; ".join(found.problems),
        )
    return [None if vector is None else _embedding(vector, embedder) for vector in found.vectors]


def _embedding(vector: Vectors, embedder: Embedder) -> Embedding:
    halves = vector.astype("<f2").tobytes()
    return Embedding(model=embedder.name, dimension=embedder.dimension, halves=halves)


def _wanting(event: MemoryEvent, tried: Collection[str]) -> str | None:
    """Return the content of the memory that an event brings forth, if it wants a vector."""
    if not isinstance(event, _OPENING) or event.memory.embedding is not None:
        return None
    return None if event.memory.content in tried else event.memory.content


def _with_vector(event: MemoryEvent, embedding: Embedding | None) -> MemoryEvent:
    if embedding is None or not isinstance(event, _OPENING):
        return event
    memory = event.memory.model_copy(update={"embedding": embedding})
    return event.model_copy(update={"memory": memory})
