"""Giving the memories of an outcome their vectors."""

from __future__ import annotations

import logging
from typing import Final

from processors import metrics
from schemas.embedding import embed_each
from schemas.events import MemoryAdded, MemoryBackfilled, MemoryEvent, MemorySuperseded
from schemas.memory import Embedding
from schemas.ports import Embedder, Vectors
from schemas.records import Outcome

logger = logging.getLogger(__name__)

CALLS_MAX: Final = 8
"""Most calls of the embedder for one turn: enough to find one bad text among a dozen."""


async def with_embeddings(outcome: Outcome, embedder: Embedder) -> Outcome:
    """Return the outcome with a vector in each memory that it brings forth.

    A memory whose vector cannot be had is kept without one: its words are worth more than that, and
    waiting would hold back the user's next turn. Its vector is made later, beside the turns.
    """
    contents = [content for event in outcome.events if (content := _content(event)) is not None]
    if not contents:
        return outcome
    found = await embed_each(embedder, contents, calls_max=CALLS_MAX)
    if found.faults:
        metrics.EMBEDDINGS_MISSING.inc(len(found.faults))
        problems = "; ".join(found.problems)
        logger.warning(
            "%d of %d memories are kept without a vector: %s",
            len(found.faults),
            len(contents),
            problems,
        )
    vectors = iter(found.vectors)
    events = tuple(
        event if _content(event) is None else _with_vector(event, embedder, next(vectors))
        for event in outcome.events
    )
    return outcome.model_copy(update={"events": events})


def _content(event: MemoryEvent) -> str | None:
    if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled):
        return event.memory.content
    return None


def _with_vector(event: MemoryEvent, embedder: Embedder, vector: Vectors | None) -> MemoryEvent:
    if vector is None:
        return event
    assert isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled)  # noqa: S101 - asked by _content
    embedding = Embedding(
        model=embedder.name, dimension=embedder.dimension, halves=vector.astype("<f2").tobytes()
    )
    return event.model_copy(
        update={"memory": event.memory.model_copy(update={"embedding": embedding})}
    )
