"""Giving the memories of an outcome their vectors."""

from __future__ import annotations

import logging

from processors import metrics
from schemas.embedding import calls_to_single_out, embed_each
from schemas.events import MemoryAdded, MemoryBackfilled, MemoryEvent, MemorySuperseded
from schemas.memory import Embedding
from schemas.ports import Embedder, Vectors
from schemas.records import Outcome

logger = logging.getLogger(__name__)


async def with_embeddings(outcome: Outcome, embedder: Embedder) -> Outcome:
    """Return the outcome with a vector in each memory that it brings forth.

    A memory whose vector cannot be had is kept without one: its words are worth more than that, and
    waiting would hold back the user's next turn. Its vector is made later, beside the turns. The
    calls suffice to keep every other vector where one text makes the embedder fail.
    """
    contents = [content for event in outcome.events if (content := _content(event)) is not None]
    if not contents:
        return outcome
    calls_max = calls_to_single_out(len(contents))
    found = await embed_each(embedder, contents, calls_max=calls_max)
    if found.faults:
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


def count_missing(outcome: Outcome) -> None:
    """Count the memories of an outcome that stands in the log without their vectors."""
    missing = sum(
        event.memory.embedding is None
        for event in outcome.events
        if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled)
    )
    if missing:
        metrics.EMBEDDINGS_MISSING.inc(missing)


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
