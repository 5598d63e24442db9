"""Read models of any size, filled in the order in which the turns of a fleet would fill them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from uuid import UUID, uuid4

import numpy as np
from numpy.typing import NDArray

from projections.changes import Insert
from projections.columns import insert_columns
from projections.read_model import ReadModel, name_subjects
from projections.vectors import Halves, halves_of
from schemas.memory import ABOUT_USER, Confidence, Memory, MemoryKind, Source
from schemas.ports import Vectors
from schemas.queries import load_queries
from schemas.slots import Slot

MATCHES: Final = 10
"""How many of each user's memories are near to the user's question."""

MATCH_COSINE: Final = 0.8
"""How near; random vectors of 384 components lie below 0.3."""

_WORDS_A_MEMORY: Final = 12
_WORDS_A_QUESTION: Final = 6
_VOCABULARY: Final = 5_000
_UNCOUNTED: Final = 4
"""The most frequent words of a language, which are function words and not looked for. With so many
left out, some word of a question stands in about as many of a user's memories (22%, mean of 40
users) as in LoCoMo's conversations (25% of the turns, mean of 340 questions)."""
# Zipf's law: the n-th word comes an n-th as often as the first.
_RANKS: Final = 1 / np.arange(_UNCOUNTED + 1, _UNCOUNTED + _VOCABULARY + 1)
_FREQUENCY: Final = _RANKS / _RANKS.sum()
_BATCH: Final = 1_000
_BEGAN: Final = datetime(2026, 1, 1, tzinfo=UTC)
_PROJECTOR: Final = load_queries("projections", "sql/projector.sql")
_BENCH: Final = load_queries("deploy", "bench/sql/bench.sql")


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchUser:
    """One user of a filled read model.

    Attributes:
        subject: its subject.
        asks: a question in words, of which some stand in the user's memories.
        question: its vector, of shape ``(dimension,)`` and length 1.
        matches: the memories that lie near to it: what a recall must find.
    """

    subject: UUID
    asks: str
    question: Vectors
    matches: frozenset[UUID]


class Filler:
    """Fills a read model through the projector's own statement, one memory of each user in turn."""

    def __init__(self, read_model: ReadModel, *, seed: int) -> None:
        self._read_model = read_model
        self._random = np.random.default_rng(seed)

    async def fill(
        self, users: int, memories_a_user: int, told: Callable[[int], None]
    ) -> list[BenchUser]:
        """Store the memories of new users.

        Args:
            users: how many.
            memories_a_user: of each.
            told: called with the number of rows, now and then.
        """
        return await self.fill_for([uuid4() for _ in range(users)], memories_a_user, told)

    async def fill_for(
        self, subjects: Sequence[UUID], memories_a_user: int, told: Callable[[int], None]
    ) -> list[BenchUser]:
        """Store the memories of some subjects, which have none; see :meth:`fill`."""
        users = len(subjects)
        questions = self._unit_vectors(users)
        # Spread over the time of each user, so that they lie far apart.
        places = {
            int(place)
            for place in np.linspace(0, memories_a_user - 1, min(MATCHES, memories_a_user))
        }
        matches: list[set[UUID]] = [set() for _ in subjects]
        stored = 0
        for place in range(memories_a_user):
            for batch in _batches(range(users), _BATCH):
                vectors = self._vectors(questions[batch], near=place in places)
                memories = [_memory(place, self._text(_WORDS_A_MEMORY)) for _ in batch]
                await self._insert([subjects[user] for user in batch], memories, vectors)
                if place in places:
                    for user, memory in zip(batch, memories, strict=True):
                        matches[user].add(memory.memory_id)
                stored += len(batch)
                told(stored)
        async with self._read_model.connection() as connection:
            # What autovacuum does by itself within minutes.
            await connection.execute(_BENCH["vacuum_memories"])
        return [
            BenchUser(
                subject=subject,
                asks=self._text(_WORDS_A_QUESTION),
                question=question,
                matches=frozenset(found),
            )
            for subject, question, found in zip(subjects, questions, matches, strict=True)
        ]

    async def _insert(
        self, subjects: Sequence[UUID], memories: Sequence[Memory], vectors: Vectors
    ) -> None:
        inserts = [
            Insert(subject=subject, memory=memory)
            for subject, memory in zip(subjects, memories, strict=True)
        ]
        halves: list[Halves | None] = [halves_of(vector) for vector in vectors]
        model = self._read_model
        columns = insert_columns(inserts, halves, model.embedder, model.dimension)
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, subjects)
            await connection.execute(_PROJECTOR["insert_memories"], columns)

    def _text(self, words: int) -> str:
        """Return words drawn as those of a language come: few of them often, most hardly ever."""
        drawn = self._random.choice(_VOCABULARY, size=words, p=_FREQUENCY)
        return " ".join(f"word{number}" for number in drawn)

    def _vectors(self, questions: Vectors, *, near: bool) -> Vectors:
        noise = self._unit_vectors(len(questions))
        if not near:
            return noise
        across = noise - questions * (noise * questions).sum(axis=1, keepdims=True)
        across /= np.linalg.norm(across, axis=1, keepdims=True)
        mixed: Vectors = MATCH_COSINE * questions + np.sqrt(1 - MATCH_COSINE**2) * across
        return mixed.astype(np.float32)

    def _unit_vectors(self, number: int) -> Vectors:
        drawn: NDArray[np.float32] = self._random.standard_normal(
            (number, self._read_model.dimension), dtype=np.float32
        )
        unit: Vectors = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
        return unit


def _memory(place: int, content: str) -> Memory:
    memory_id = uuid4()
    said = _BEGAN + timedelta(minutes=place)
    return Memory(
        memory_id=memory_id,
        lineage_id=memory_id,
        kind=MemoryKind.EPISODIC,
        content=content,
        slot=Slot.EPISODE,
        about=ABOUT_USER,
        importance=2,
        confidence=Confidence.STATED,
        source=Source.USER,
        turn_id=uuid4(),
        conversation_id="bench",
        quote=content,
        valid_from=said,
        recorded_at=said,
    )


def _batches(items: range, size: int) -> Iterator[list[int]]:
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
