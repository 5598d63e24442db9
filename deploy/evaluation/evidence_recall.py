"""How much of the evidence recall finds, by words alone, by meaning alone, and by both.

Every turn is an episode, as the ``verbatim`` extractor keeps it, and stored by the projector's own
statement; questions go through the code that serves. Ways differ in what meaning counts for, and
nothing else: no threshold, no age, no budget. How a policy with all of these serves is measured
beside them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from deploy.bench.stores import throwaway_home, throwaway_postgres
from deploy.evaluation.evidence import EvidenceQuestion, PublicSet, Said, Talk
from deploy.evaluation.known_vectors import KnownVectors
from projections.changes import Insert
from projections.columns import insert_columns
from projections.read_model import ReadModel, name_subjects, open_read_model
from projections.recall import BUDGET_TOKENS_MAX, Recall
from projections.recall_policies import Policies, Policy, PolicyFile
from projections.vectors import Halves, halves_of
from schemas.memory import ABOUT_USER, Confidence, Memory, MemoryKind, Source
from schemas.ports import Embedder
from schemas.queries import load_queries
from schemas.slots import Slot

CUTS: Final = (5, 10, 20)
"""At how many memories the found evidence is counted."""

_QUERIES: Final = load_queries("projections", "sql/projector.sql")
_PARTITIONS: Final = 4
_BATCH: Final = 256
_IMPORTANCE: Final = 2  # as the verbatim extractor gives it
_RELEVANCE_ALONE: Final = "relevance"


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """One way to serve.

    Attributes:
        name: what it is called.
        policy: its policy.
        meaning_weight: what meaning counts for in relevance.
        min_similarity: the threshold; ``None`` for the embedder's.
    """

    name: str
    policy: str
    meaning_weight: float
    min_similarity: float | None


WAYS: Final = (
    Way(name="words", policy=_RELEVANCE_ALONE, meaning_weight=0.0, min_similarity=-1),
    Way(name="meaning", policy=_RELEVANCE_ALONE, meaning_weight=1.0, min_similarity=-1),
    Way(name="blend", policy=_RELEVANCE_ALONE, meaning_weight=0.5, min_similarity=-1),
    Way(name="gated", policy="gated", meaning_weight=0.5, min_similarity=None),
    Way(name="weighted", policy="weighted", meaning_weight=0.5, min_similarity=None),
)


@dataclass(kw_only=True, slots=True)
class Found:
    """The shares of their evidence that questions found.

    Attributes:
        shares: by question, at each of the cuts.
    """

    shares: list[tuple[float, ...]] = field(default_factory=list)

    @property
    def recall(self) -> dict[int, float]:
        """The mean share at each of the cuts; 0 without a question."""
        number = max(len(self.shares), 1)
        return {
            cut: sum(share[place] for share in self.shares) / number
            for place, cut in enumerate(CUTS)
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class WayFound:
    """What one way found.

    Attributes:
        way: its name.
        all: over all questions.
        by_kind: by kind of question.
        by_talk: by talk.
    """

    way: str
    all: Found
    by_kind: dict[str, Found]
    by_talk: dict[str, Found]


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceScores:
    """What a public set came to.

    Attributes:
        name: the set's name.
        embedder: the embedder's name.
        talks, turns, questions: how many of each were measured.
        left_out: how many questions were not, by why.
        ways: what each way found.
    """

    name: str
    embedder: str
    talks: int
    turns: int
    questions: int
    left_out: dict[str, int]
    ways: tuple[WayFound, ...]


Told = Callable[[str], None]
"""Called with what is being done."""


async def run_public_set(
    held: PublicSet, embedder: Embedder, *, told: Told, ways: Sequence[Way] = WAYS
) -> EvidenceScores:
    """Measure a set in a Postgres of its own, which is gone afterwards.

    Args:
        held: the set.
        embedder: gives vectors.
        told: called with each step.
        ways: what is compared.

    Raises:
        EmbeddedStoreError: Postgres could not be started.
        EmbeddingFailed: a turn or a question could not be embedded.
    """
    with throwaway_home() as home, throwaway_postgres(home) as postgres:
        return await measure_in(postgres.url(), held, embedder, told=told, ways=ways)


async def measure_in(
    database_url: str,
    held: PublicSet,
    embedder: Embedder,
    *,
    told: Told,
    ways: Sequence[Way] = WAYS,
) -> EvidenceScores:
    """Measure a set in an empty database with pgvector; see :func:`run_public_set`."""
    vectors = KnownVectors(embedder)
    read_model = await open_read_model(
        database_url,
        generation="evidence",
        embedder=embedder.name,
        dimension=embedder.dimension,
        migrate=True,
    )
    found = [WayFound(way=way.name, all=Found(), by_kind={}, by_talk={}) for way in ways]
    try:
        for number, talk in enumerate(held.talks, start=1):
            told(
                f"{talk.name} ({number} of {len(held.talks)}): {len(talk.said):,} turns, "
                f"{len(talk.asked):,} questions"
            )
            if not talk.asked:
                continue
            await vectors.learn([said.text for said in talk.said])
            await vectors.learn([question.asks for question in talk.asked])
            subject, references = await _store(read_model, vectors, talk)
            for way, into in zip(ways, found, strict=True):
                asker = _Asker(_recall(read_model, vectors, way, talk), subject, references, talk)
                await asker.ask_all(into)
    finally:
        await read_model.close()
    return EvidenceScores(
        name=held.name,
        embedder=embedder.name,
        talks=len(held.talks),
        turns=sum(len(talk.said) for talk in held.talks),
        questions=sum(len(talk.asked) for talk in held.talks),
        left_out=held.left_out,
        ways=tuple(found),
    )


class _Asker:
    """Asks the questions of one talk in one way."""

    def __init__(
        self, recall: Recall, subject: UUID, references: dict[UUID, str], talk: Talk
    ) -> None:
        self._recall = recall
        self._subject = subject
        self._references = references
        self._talk = talk

    async def ask_all(self, into: WayFound) -> None:
        """Ask every question and add what was found."""
        for question in self._talk.asked:
            share = await self._share(question)
            for found in (
                into.all,
                into.by_kind.setdefault(question.kind, Found()),
                into.by_talk.setdefault(self._talk.name, Found()),
            ):
                found.shares.append(share)

    async def _share(self, question: EvidenceQuestion) -> tuple[float, ...]:
        result = await self._recall.recall(
            self._subject, question.asks, limit=max(CUTS), budget_tokens=BUDGET_TOKENS_MAX
        )
        served = [self._references[memory.memory_id] for memory in result.memories]
        return tuple(
            len(question.evidence.intersection(served[:cut])) / len(question.evidence)
            for cut in CUTS
        )


def _recall(read_model: ReadModel, embedder: Embedder, way: Way, talk: Talk) -> Recall:
    # Asked when the talk is over: age counts from there.
    over_at = max(said.said_at for said in talk.said)
    return Recall(
        read_model,
        embedder,
        partitions=_PARTITIONS,
        min_similarity=way.min_similarity,
        clock=lambda: over_at,
        policies=Policies(PolicyFile(default=way.policy, policies={_RELEVANCE_ALONE: Policy()})),
        meaning_weight=way.meaning_weight,
    )


async def _store(
    read_model: ReadModel, vectors: KnownVectors, talk: Talk
) -> tuple[UUID, dict[UUID, str]]:
    """Store a talk's turns as episodes of a new subject; return what each is named by."""
    subject = uuid4()
    references: dict[UUID, str] = {}
    for some in _batches(talk.said):
        halves: list[Halves | None] = [
            halves_of(vector) for vector in await vectors.embed([said.text for said in some])
        ]
        memories = [_episode(said.text, said.said_at, talk.name) for said in some]
        references |= {
            memory.memory_id: said.reference for memory, said in zip(memories, some, strict=True)
        }
        inserts = [Insert(subject=subject, memory=memory) for memory in memories]
        columns = insert_columns(inserts, halves, read_model.embedder, read_model.dimension)
        async with read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            await connection.execute(_QUERIES["insert_memories"], columns)
    return subject, references


def _episode(text: str, said_at: datetime, talk: str) -> Memory:
    memory_id = uuid4()
    return Memory(
        memory_id=memory_id,
        lineage_id=memory_id,
        kind=MemoryKind.EPISODIC,
        content=text,
        slot=Slot.EPISODE,
        about=ABOUT_USER,
        importance=_IMPORTANCE,
        confidence=Confidence.STATED,
        source=Source.USER,
        turn_id=uuid4(),
        conversation_id=talk,
        quote=text,
        valid_from=said_at,
        recorded_at=said_at,
    )


def _batches(items: Sequence[Said]) -> Iterator[Sequence[Said]]:
    for start in range(0, len(items), _BATCH):
        yield items[start : start + _BATCH]
