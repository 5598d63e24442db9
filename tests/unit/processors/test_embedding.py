"""The vectors of an outcome's memories."""

from __future__ import annotations

from uuid import UUID, uuid4

import numpy as np

from processors import metrics
from processors.embedding import count_missing, with_embeddings
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemorySuperseded,
)
from schemas.records import Closing, Outcome
from tests.support.embedder import CountingEmbedder
from tests.support.log_writer import NOON, memory
from tests.support.virtual_time import run_virtual

TURN = uuid4()


def added(content: str, memory_id: UUID | None = None) -> MemoryAdded:
    return MemoryAdded(memory=memory(memory_id or uuid4(), TURN, content=content, embedding=None))


def confirmed() -> MemoryConfirmed:
    return MemoryConfirmed(memory_id=uuid4(), turn_id=TURN, quote="quote", confirmed_at=NOON)


def outcome(*events: MemoryEvent) -> Outcome:
    return Outcome(
        turn_id=TURN,
        generation="g1",
        turn_partition=0,
        turn_offset=0,
        closing=Closing.STORED,
        events=events,
        proposal_offset=0,
        proposals_floor=0,
        decided_at=NOON,
    )


def halves(outcome: Outcome) -> list[list[float] | None]:
    found: list[list[float] | None] = []
    for event in outcome.events:
        if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled):
            embedding = event.memory.embedding
            found.append(
                None
                if embedding is None
                else [float(half) for half in np.frombuffer(embedding.halves, dtype="<f2")]
            )
    return found


def test_every_memory_gets_its_own_vector_in_one_call() -> None:
    embedder = CountingEmbedder()
    before = outcome(
        added("short"),
        confirmed(),
        MemorySuperseded(
            closes=uuid4(), memory=memory(uuid4(), TURN, content="longer text", embedding=None)
        ),
        MemoryBackfilled(
            after=None, memory=memory(uuid4(), TURN, content="the longest text", embedding=None)
        ),
    )
    after = run_virtual(with_embeddings(before, embedder))
    assert embedder.texts == [["short", "longer text", "the longest text"]]
    for vector, length in zip(halves(after), (5, 11, 16), strict=True):
        assert vector is not None
        assert np.allclose(vector, [np.cos(length / 100), np.sin(length / 100)], atol=1e-3)
    assert after.events[1] == before.events[1]
    memories = [event.memory for event in after.events if not isinstance(event, MemoryConfirmed)]  # type: ignore[union-attr] # of the four events above only the confirmation has none
    assert {one.embedding.model for one in memories if one.embedding} == {"counting"}


def test_nothing_is_asked_where_no_memory_is_brought_forth() -> None:
    embedder = CountingEmbedder()
    before = outcome(confirmed())
    assert run_virtual(with_embeddings(before, embedder)) is before
    assert embedder.texts == []


def test_a_memory_is_kept_without_a_vector_when_there_is_none_to_be_had() -> None:
    embedder = CountingEmbedder(failures=9)
    before = outcome(added("fact"))
    after = run_virtual(with_embeddings(before, embedder))
    assert len(embedder.texts) == 1
    assert after == before


def test_a_text_that_is_refused_costs_the_others_nothing() -> None:
    contents = [f"fact {number}" for number in range(12)]
    for refused in contents:
        embedder = CountingEmbedder(refused={refused})
        after = run_virtual(with_embeddings(outcome(*map(added, contents)), embedder))
        assert [vector is None for vector in halves(after)] == [
            content == refused for content in contents
        ]
        assert len(embedder.texts) <= 9


def test_a_vector_is_counted_as_missing_when_its_memory_stands_in_the_log() -> None:
    def counted() -> float:
        (family,) = metrics.EMBEDDINGS_MISSING.collect()
        return next(one.value for one in family.samples if one.name.endswith("_total"))

    before = counted()
    embedder = CountingEmbedder(refused={"bad"})
    after = run_virtual(
        with_embeddings(outcome(added("fact"), added("bad"), confirmed()), embedder)
    )
    assert counted() == before, "nothing was appended yet"
    count_missing(after)
    assert counted() == before + 1


def test_an_embedder_that_cannot_be_asked_is_asked_once_for_a_turn() -> None:
    embedder = CountingEmbedder(unavailable=True)
    before = outcome(*(added(f"fact {number}") for number in range(5)))
    assert run_virtual(with_embeddings(before, embedder)) == before
    assert len(embedder.texts) == 1
