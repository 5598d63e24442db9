"""A question about food is near to the topic of diets; one about something else is not."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from projections.embedders.hashing import HashEmbedder
from projections.embedders.minilm import MiniLmEmbedder
from projections.slot_topics import TOPICS, SlotTopics
from schemas.errors import EmbeddingFailed
from schemas.ports import Vectors
from schemas.slots import Slot


@pytest.fixture(scope="module")
def embedder() -> Iterator[MiniLmEmbedder]:
    made = MiniLmEmbedder()
    yield made
    asyncio.run(made.aclose())


def _asked_for(embedder: MiniLmEmbedder, question: str) -> set[Slot]:
    async def ask() -> dict[Slot, float]:
        (vector,) = await embedder.embed([question])
        topics = SlotTopics(embedder)
        return await topics.asked_for(vector, min_similarity=embedder.min_similarity)

    return set(asyncio.run(ask()))


@pytest.mark.parametrize(
    "question",
    [
        "Which dish would you bring to a potluck?",
        "I want to bake something for Sunday",
        "What can I order at the steakhouse?",
        "A quick lunch idea, please",
    ],
)
def test_questions_about_food_ask_for_the_diet(embedder: MiniLmEmbedder, question: str) -> None:
    assert Slot.DIET in _asked_for(embedder, question)


@pytest.mark.parametrize(
    "question",
    ["Is there a hardware store nearby?", "Will it rain in my town today?", "Find a vet near me"],
)
def test_questions_about_what_is_near_ask_for_the_residence(
    embedder: MiniLmEmbedder, question: str
) -> None:
    assert Slot.RESIDENCE in _asked_for(embedder, question)


@pytest.mark.parametrize(
    "question",
    [
        "Good morning!",
        "Why does my borrow checker complain?",
        "Explain how vaccines work",
        "Translate this sentence into Latin",
        "What is the square root of 144?",
    ],
)
def test_other_questions_ask_for_neither(embedder: MiniLmEmbedder, question: str) -> None:
    assert _asked_for(embedder, question) == set()


def test_the_topics_are_embedded_once() -> None:
    asked: list[list[str]] = []

    class Counting(MiniLmEmbedder):
        async def embed(self, texts: Sequence[str]) -> Vectors:
            asked.append(list(texts))
            return await super().embed(texts)

    async def ask() -> None:
        embedder = Counting()
        topics = SlotTopics(embedder)
        (vector,) = await embedder.embed(["dinner"])
        await topics.asked_for(vector, min_similarity=0.2)
        await topics.asked_for(vector, min_similarity=0.2)
        await embedder.aclose()

    asyncio.run(ask())
    assert asked == [["dinner"], list(TOPICS.values())]


def test_topics_that_cannot_be_embedded_cost_no_answer_and_are_tried_again() -> None:
    class FailingOnce(HashEmbedder):
        failed = False

        async def embed(self, texts: Sequence[str]) -> Vectors:
            if len(texts) > 1 and not self.failed:
                self.failed = True
                raise EmbeddingFailed("not now")
            return await super().embed(texts)

    async def ask() -> list[set[Slot]]:
        embedder = FailingOnce(dimension=64)
        topics = SlotTopics(embedder)
        (vector,) = await embedder.embed([TOPICS[Slot.DIET]])
        return [set(await topics.asked_for(vector, min_similarity=0.9)) for _ in range(2)]

    assert asyncio.run(ask()) == [set(), {Slot.DIET}]
