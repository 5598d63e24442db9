"""Giving the memories of an outcome their vectors."""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from processors import metrics
from schemas.errors import EmbeddingFailed
from schemas.events import MemoryAdded, MemoryBackfilled, MemoryEvent, MemorySuperseded
from schemas.memory import Embedding
from schemas.ports import Embedder, Vectors
from schemas.records import Outcome

logger = logging.getLogger(__name__)

_BACKOFF_FIRST_S: Final = 0.5


async def with_embeddings(outcome: Outcome, embedder: Embedder, *, attempts_max: int) -> Outcome:
    """Return the outcome with a vector in each memory that it brings forth.

    Where the embedder gives none after ``attempts_max`` attempts, the memory is kept without one:
    it is listed, counted, and not found by meaning. A fact is worth more than its vector.
    """
    contents = [content for event in outcome.events if (content := _content(event)) is not None]
    if not contents:
        return outcome
    vectors = await _embed(contents, embedder, attempts_max)
    if vectors is None:
        metrics.EMBEDDINGS_MISSING.inc(len(contents))
        return outcome
    rows = iter(vectors)
    events = tuple(
        event if _content(event) is None else _with_vector(event, embedder, next(rows))
        for event in outcome.events
    )
    return outcome.model_copy(update={"events": events})


async def _embed(contents: list[str], embedder: Embedder, attempts_max: int) -> Vectors | None:
    backoff_s = _BACKOFF_FIRST_S
    for attempt in range(1, attempts_max + 1):
        try:
            return await embedder.embed(contents)
        except EmbeddingFailed as error:
            logger.warning("attempt %d of %d to embed: %s", attempt, attempts_max, error)
            if attempt < attempts_max:
                await asyncio.sleep(backoff_s)
                backoff_s *= 2
    return None


def _content(event: MemoryEvent) -> str | None:
    if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled):
        return event.memory.content
    return None


def _with_vector(event: MemoryEvent, embedder: Embedder, vector: Vectors) -> MemoryEvent:
    assert isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled)  # noqa: S101 - asked by _content
    embedding = Embedding(
        model=embedder.name, dimension=embedder.dimension, halves=vector.astype("<f2").tobytes()
    )
    return event.model_copy(
        update={"memory": event.memory.model_copy(update={"embedding": embedding})}
    )
