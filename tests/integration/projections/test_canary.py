"""Another model of the same name and dimension is found out, and gives no vectors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from uuid import UUID, uuid4

import numpy as np
import pytest

from projections.canary import (
    CHECK_EVERY_S,
    NAMES_MAX,
    SENTENCE,
    WITNESSES,
    Canary,
    ModelRecords,
    VerifiedEmbedder,
    Witness,
)
from projections.embedders import CheckedEmbedder
from projections.recall import Recall
from schemas.embedding import EmbeddingFault, PartlyEmbedded
from schemas.errors import EmbedderMismatch, EmbedderUnavailable, ReadModelUnavailable
from tests.support.scripted_embedder import BAD_ROWS, ScriptedEmbedder, vector_of
from tests.support.stored import PARTITIONS, QUESTION, Stored, stored


class _Scene:
    """A read model, and an embedder that may be another one when it is looked at again."""

    def __init__(self, tables: Stored) -> None:
        self.tables = tables
        self.embedder = ScriptedEmbedder()
        self.erased: set[UUID] = set()
        self.now_s = 0.0

    def started(self) -> VerifiedEmbedder:
        """Return what a process that starts now has."""

        async def erased_among(subjects: Collection[UUID]) -> set[UUID]:
            return self.erased & set(subjects)

        records = ModelRecords(self.tables.read_model, erased_among=erased_among)
        return VerifiedEmbedder(CheckedEmbedder(self.embedder), records, clock=lambda: self.now_s)

    async def remember(self, *contents: str) -> UUID:
        """Store memories with the vectors that the embedder gives now, as out of the log."""
        subject = uuid4()
        for content in contents:
            (vector,) = await self.embedder.embed([content])
            await self.tables.add(subject, vector=vector, content=content)
        return subject


def _play(postgres_url: str, act: Callable[[_Scene], Awaitable[None]]) -> None:
    async def play() -> None:
        async with stored(postgres_url) as tables:
            await act(_Scene(tables))

    asyncio.run(play())


def test_the_same_model_is_known_again_and_another_one_refused_with_a_remedy(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        await scene.started().begin()
        await scene.started().begin()

        scene.embedder.turned = True
        other = scene.started()
        with pytest.raises(EmbedderMismatch, match=r"another model answers .*MEMLEDGER_GENERAT"):
            await other.begin()
        asked = len(scene.embedder.calls)
        with pytest.raises(EmbedderMismatch):
            await other.embed(["fact"])
        assert len(scene.embedder.calls) == asked, "its vectors are not even asked for"
        assert other.mismatch is not None

    _play(postgres_url, act)


def test_a_small_difference_is_the_same_model(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        await scene.started().begin()
        turned = vector_of(SENTENCE) + np.array([0, 0, 0.1, 0], dtype=np.float32)
        scene.embedder.rows[SENTENCE] = turned / np.linalg.norm(turned)

        await scene.started().begin()

    _play(postgres_url, act)


def test_a_server_that_is_away_at_the_start_is_compared_before_its_first_vector(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        await scene.started().begin()
        scene.embedder.down = True
        process = scene.started()
        await process.begin()
        with pytest.raises(EmbedderUnavailable):
            await process.embed(["fact"])

        scene.embedder.down, scene.embedder.turned = False, True
        with pytest.raises(EmbedderMismatch):
            await process.embed(["fact"])
        assert scene.embedder.calls == []

        # Found out again at most every 15 s, and without a restart.
        scene.embedder.turned = False
        with pytest.raises(EmbedderMismatch):
            await process.embed(["fact"])
        scene.now_s += 15
        assert (await process.embed(["fact"])).shape == (1, 4)
        assert process.mismatch is None

    _play(postgres_url, act)


def test_a_model_that_is_exchanged_under_a_process_is_found_out_in_time(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        process = scene.started()
        await process.embed(["fact"])
        scene.embedder.turned = True
        scene.now_s += CHECK_EVERY_S
        with pytest.raises(EmbedderMismatch):
            await process.embed(["fact"])

    _play(postgres_url, act)


def test_an_answer_that_names_another_model_is_compared_at_once(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.embedder.answered_as = "model-a"
        process = scene.started()
        await process.embed(["fact"])
        probes = scene.embedder.probes

        scene.embedder.answered_as = "model-a-of-june"
        await process.embed(["fact"])
        assert scene.embedder.probes == probes + 1, "a new name of the same model is compared once"
        await process.embed(["fact"])
        assert scene.embedder.probes == probes + 1

        scene.embedder.answered_as, scene.embedder.turned = "model-b", True
        scene.embedder.rows["bad"] = BAD_ROWS["zero"]
        with pytest.raises(EmbedderMismatch, match="'model-b'"):
            await process.embed(["fact", "bad"])

    _play(postgres_url, act)


def test_a_server_that_answers_as_two_models_in_turn_gives_no_vectors(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        embed = scene.embedder.embed

        async def answering_by_turns(texts: list[str]) -> object:
            scene.embedder.answered_as = "model-a" if SENTENCE in texts else "model-b"
            return await embed(texts)

        scene.embedder.embed = answering_by_turns  # type: ignore[method-assign,assignment] # for this scene
        with pytest.raises(EmbedderUnavailable, match="one answer names the model 'model-b'"):
            await scene.started().embed(["fact"])

    _play(postgres_url, act)


def test_a_server_that_names_every_answer_differently_is_not_remembered_without_end(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        process = scene.started()
        for number in range(NAMES_MAX + 2):
            scene.embedder.answered_as = f"model-{number}"
            await process.embed(["fact"])
        assert len(process._names) == NAMES_MAX
        probes = scene.embedder.probes
        await process.embed(["fact"])
        assert scene.embedder.probes == probes, "the last name is the last to be forgotten"

    _play(postgres_url, act)


def test_of_two_models_that_are_recorded_at_one_time_only_the_first_is_accepted(
    postgres_url: str,
) -> None:
    async def act(scene: _Scene) -> None:
        async def nobody(_: Collection[UUID]) -> set[UUID]:
            return set()

        class Slow(ModelRecords):
            async def record(self, canary: Canary) -> Canary:
                # Another process, with another model, is the faster one.
                await scene.started().begin()
                return await super().record(canary)

        scene.embedder.turned = True
        records = Slow(scene.tables.read_model, erased_among=nobody)
        process = VerifiedEmbedder(CheckedEmbedder(scene.embedder), records)
        embed = scene.embedder.embed

        async def turned_once(texts: list[str]) -> object:
            rows = await embed(texts)
            scene.embedder.turned = False
            return rows

        scene.embedder.embed = turned_once  # type: ignore[method-assign,assignment] # for this scene
        with pytest.raises(EmbedderMismatch, match="recorded of"):
            await process.begin()

    _play(postgres_url, act)


def test_a_rebuilt_read_model_is_compared_with_the_vectors_of_its_log(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        # The log's vectors are of the model before, and nothing is recorded yet.
        scene.embedder.turned = True
        await scene.started().begin()
        scene.embedder.turned = False
        subject = await scene.remember(*(f"fact {number}" for number in range(WITNESSES)))
        scene.embedder.turned = True
        with pytest.raises(EmbedderMismatch, match="those of memories in its log"):
            await scene.started().begin()
        # Nor does it help to be asked twice: what was recorded of the wrong model is forgotten.
        with pytest.raises(EmbedderMismatch, match="those of memories in its log"):
            await scene.started().begin()
        scene.embedder.turned = False
        await scene.started().begin()

        # Words of an erased user are not sent anywhere.
        scene.erased.add(subject)
        scene.embedder.calls.clear()
        await scene.started().begin()
        assert scene.embedder.calls == []

    _play(postgres_url, act)


def test_one_memory_that_another_model_left_behind_decides_nothing(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.embedder.turned = True
        await scene.remember("stray")
        scene.embedder.turned = False
        await scene.remember("fact 1", "fact 2")
        scene.embedder.refused.add("fact 3")
        await scene.tables.add(uuid4(), content="fact 3")
        await scene.started().begin()

    _play(postgres_url, act)


def test_a_useless_vector_of_the_fixed_sentence_is_no_text_s_fault(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.embedder.rows[SENTENCE] = BAD_ROWS["not_finite"]
        with pytest.raises(EmbedderUnavailable, match="not finite"):
            await scene.started().embed(["fact"])

    _play(postgres_url, act)


def test_bad_vectors_of_a_batch_stay_with_their_texts(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.embedder.rows |= BAD_ROWS
        with pytest.raises(PartlyEmbedded) as partly:
            await scene.started().embed(["fact", *BAD_ROWS])
        assert partly.value.faults == {
            1 + place: EmbeddingFault(fault) for place, fault in enumerate(BAD_ROWS)
        }

    _play(postgres_url, act)


def test_many_who_wait_for_a_comparison_that_fails_wait_for_one(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.embedder.down = True
        process = scene.started()
        failures = await asyncio.gather(
            *(process.embed(["fact"]) for _ in range(20)), return_exceptions=True
        )
        assert {type(failure) for failure in failures} == {EmbedderUnavailable}
        assert scene.embedder.probes == 1

    _play(postgres_url, act)


def test_many_who_wait_for_a_read_model_that_is_away_wait_for_one_attempt() -> None:
    attempts = 0

    class Away(ModelRecords):
        async def witnesses(self) -> list[Witness]:
            nonlocal attempts
            attempts += 1
            await asyncio.sleep(0)  # the others come to wait
            raise ReadModelUnavailable("away")

    async def scenario() -> None:
        records = Away.__new__(Away)  # it reaches no tables
        process = VerifiedEmbedder(CheckedEmbedder(ScriptedEmbedder()), records)
        failures = await asyncio.gather(
            *(process.embed(["fact"]) for _ in range(10)), return_exceptions=True
        )
        assert {type(failure) for failure in failures} == {ReadModelUnavailable}
        assert attempts == 1
        with pytest.raises(ReadModelUnavailable):
            await process.embed(["fact"])
        assert attempts == 2, "who comes later tries again"

    asyncio.run(scenario())


def test_a_question_is_never_answered_by_another_model(postgres_url: str) -> None:
    async def act(scene: _Scene) -> None:
        subject = await scene.remember("fact")
        await scene.started().begin()
        scene.embedder.turned = True
        recall = Recall(scene.tables.read_model, scene.started(), partitions=PARTITIONS)
        with pytest.raises(EmbedderMismatch):
            await recall.recall(subject, QUESTION)

    _play(postgres_url, act)
