"""An embeddings server that fails, on the whole path: real log, real read model, real HTTP."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from zlib import crc32

import numpy as np
import pytest
from starlette.responses import Response, StreamingResponse

from projections.canary import ModelRecords, VerifiedEmbedder
from projections.digest import Comparison, ReadModelComparer
from projections.embedders import BreakingEmbedder, CheckedEmbedder, OpenAIEmbedder
from projections.memories import Memories
from projections.recall import Recall, RecallResult
from projections.vector_repair import Pace, VectorRepair
from schemas.embedding import EmbeddingFault
from schemas.errors import EmbedderMismatch, EmbeddingFailed
from schemas.events import MemoryAdded
from schemas.records import Closing
from tests.conftest import TestStores
from tests.support.embeddings_server import (
    EmbeddingsServer,
    embeddings_server,
    status,
    with_vectors,
)
from tests.support.extractors import SentencesExtractor
from tests.support.one_process import OneProcess, opened_pipeline
from tests.support.waiting import eventually

DIMENSION: Final = 64
DEADLINE_S: Final = 1.0
TURN_S_MAX: Final = 8.0
"""What a turn may take with a dead server: one deadline, and the rest of a busy machine."""

FAST: Final = Pace(poll_s=0.05, pause_max_s=0.2, backoff_first_s=0.1, backoff_max_s=0.4)
GOOD: Final = ("Amber kettle", "Violin lesson", "Granite shelf", "Winter ferry")
BAD: Final = {
    "Hollow nan": EmbeddingFault.NOT_FINITE,
    "Quiet infinity": EmbeddingFault.NOT_FINITE,
    "Empty zero": EmbeddingFault.ZERO,
    "Clipped short": EmbeddingFault.WRONG_DIMENSION,
    "Vanished null": EmbeddingFault.MISSING,
}


def vector_of(text: str) -> list[float]:
    """Count words into buckets."""
    counts = [0.0] * DIMENSION
    for word in text.lower().split():
        counts[crc32(word.encode()) % DIMENSION] += 1
    return counts


def partly_broken(text: str) -> list[float] | None:
    """Give a good vector for most texts, and every kind of bad one for some."""
    match text.rsplit(maxsplit=1)[-1]:
        case "nan":
            return [float("nan"), *vector_of(text)[1:]]
        case "infinity":
            return [float("inf"), *vector_of(text)[1:]]
        case "zero":
            return [0.0] * DIMENSION
        case "short":
            return vector_of(text)[:-1]
        case "null":
            return None
    return vector_of(text)


def another_model(text: str) -> list[float]:
    return [*vector_of(text)[7:], *vector_of(text)[:7]]


def hanging(_: dict[str, Any]) -> Response:
    """Begin an answer that never ends."""

    async def drip() -> AsyncIterator[bytes]:
        yield b'{"data": ['
        await asyncio.Event().wait()

    return StreamingResponse(drip(), media_type="application/json")


@dataclass(kw_only=True)
class _Scene:
    """A pipeline whose vectors come from a server that a test breaks."""

    server: EmbeddingsServer
    pipeline: OneProcess
    clients: list[CheckedEmbedder] = field(default_factory=list)

    def embedder(self) -> CheckedEmbedder:
        """Return what ``make_embedder`` returns for a server, but for its deadline."""
        self.clients.append(CheckedEmbedder(BreakingEmbedder(_client(self.server))))
        return self.clients[-1]

    def process(self) -> tuple[VerifiedEmbedder, VectorRepair]:
        """Return what a worker's process is made of: for turns, and for what is made later."""
        pipeline, embedder = self.pipeline, self.embedder()
        records = ModelRecords(pipeline.read_model, erased_among=pipeline.keyring.erased_among)
        repair = VectorRepair(
            pipeline.read_model,
            VerifiedEmbedder(embedder.without_breaker(), records),
            erased_among=pipeline.keyring.erased_among,
            pace=FAST,
        )
        return VerifiedEmbedder(embedder, records), repair

    @asynccontextmanager
    async def worker(self) -> AsyncIterator[VectorRepair]:
        """Run a worker as its process does."""
        self.pipeline.embedder, repair = self.process()
        stop = asyncio.Event()
        async with self.pipeline.working(SentencesExtractor()):
            repairing = asyncio.create_task(repair.run(stop))
            try:
                yield repair
            finally:
                stop.set()
                await repairing

    async def say(self, user: str, *sentences: str) -> float:
        """Say something and return after how many seconds it was closed and applied."""
        began = time.monotonic()
        await self.pipeline.all_closed([await self.pipeline.say(user, ". ".join(sentences))])
        return time.monotonic() - began

    async def recall(self, user: str, question: str) -> RecallResult:
        pipeline = self.pipeline
        verified, _ = self.process()
        recall = Recall(pipeline.read_model, verified, partitions=pipeline.stores.partitions)
        keys = await pipeline.keys_of(user)
        return await recall.recall(keys.subject, question, min_similarity=0.9)

    async def found(self, user: str, *sentences: str) -> list[str]:
        """Return which of the sentences a question in the same words finds, alone and first."""
        results = {sentence: await self.recall(user, sentence) for sentence in sentences}
        return [
            sentence
            for sentence, result in results.items()
            if [memory.content for memory in result.memories] == [sentence]
        ]

    async def searchable(self, user: str) -> dict[str, bool]:
        keys = await self.pipeline.keys_of(user)
        page = await Memories(self.pipeline.read_model).list_memories(keys.subject)
        return {memory.content: memory.searchable for memory in page.memories}

    async def compared(self) -> Comparison:
        pipeline = self.pipeline
        return await ReadModelComparer(
            pipeline.read_model,
            bootstrap=pipeline.stores.kafka_bootstrap,
            keyring=pipeline.keyring,
        ).compare()

    async def none_waits(self, repair: VectorRepair) -> None:
        async def none() -> bool:
            return await repair.waiting() == 0

        await eventually(none, what="every vector to be made")


def _client(server: EmbeddingsServer) -> OpenAIEmbedder:
    return OpenAIEmbedder(
        model="model",
        dimension=DIMENSION,
        min_similarity=0.5,
        base_url=server.base_url,
        deadline_s=DEADLINE_S,
    )


@asynccontextmanager
async def _opened(stores: TestStores) -> AsyncIterator[_Scene]:
    async with embeddings_server() as server:
        client = _client(server)
        async with (
            opened_pipeline(stores, embedder=client) as pipeline,
            pipeline.projecting(),
        ):
            scene = _Scene(server=server, pipeline=pipeline)
            try:
                yield scene
            finally:
                for embedder in scene.clients:
                    await embedder.aclose()
        await client.aclose()


@pytest.mark.lasting_broker(reason="turns are timed, and the trial broker is slow to let one join")
def test_good_vectors_go_through_and_bad_ones_wait_until_the_server_is_mended(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with _opened(stores) as scene:
            sentences = [one for pair in zip(GOOD, BAD, strict=False) for one in pair]
            sentences += [one for one in BAD if one not in sentences]
            scene.server.standing = with_vectors(partly_broken, model="model-1")

            # One batch with every fault: its good neighbours are found at once.
            async with scene.worker() as repair:
                await scene.say("ann", *sentences)
                assert await scene.found("ann", *GOOD) == list(GOOD)
                for question in BAD:
                    with pytest.raises(EmbeddingFailed):
                        await scene.recall("ann", question)
                result = await scene.recall("ann", "Hollow nan was good")
                # Without a vector it is found by its words alone.
                assert [(one.content, one.score) for one in result.memories] == [
                    ("Hollow nan", None)
                ]
                assert result.unsearchable == len(BAD)
                assert await scene.searchable("ann") == {one: one in GOOD for one in sentences}
                assert await repair.waiting() == len(BAD)
                compared = await scene.compared()
                assert (compared.equal, compared.embeddings_waiting) == (True, len(BAD))

                async def faults_are_told() -> bool:
                    return await _faults(scene.pipeline) == BAD

                await eventually(faults_are_told, what="each fault to be noted")

                # A server that begins an answer and never ends it costs a turn one deadline.
                scene.server.standing = hanging
                assert await scene.say("bob", "Copper lantern", "Paper boat") < TURN_S_MAX
                with pytest.raises(EmbeddingFailed):
                    await scene.recall("bob", "Copper lantern")
            # The worker is gone, and what waits is not.
            scene.server.standing = status(503)
            async with scene.worker() as repair:
                assert await scene.say("cid", "Silver thimble") < TURN_S_MAX
                assert await repair.waiting() == len(BAD) + 3
                asked = len(scene.server.bodies)

                async def asked_again() -> bool:
                    return len(scene.server.bodies) > asked + 2

                await eventually(asked_again, what="the server to be asked whether it is back")
                with pytest.raises(EmbeddingFailed):
                    await scene.recall("cid", "Silver thimble")

                scene.server.standing = with_vectors(vector_of, model="model-1")
                await scene.none_waits(repair)
                assert await scene.found("ann", *sentences) == sentences
                assert await scene.found("bob", "Copper lantern", "Paper boat") == [
                    "Copper lantern",
                    "Paper boat",
                ]
                assert await scene.found("cid", "Silver thimble") == ["Silver thimble"]
            compared = await scene.compared()
            assert (compared.equal, compared.embeddings_waiting) == (True, 0)
            outcomes = [outcome for _, _, outcome in await scene.pipeline.outcomes()]
            assert [outcome.closing for outcome in outcomes] == [Closing.STORED] * 3
            contents = Counter(
                event.memory.content
                for outcome in outcomes
                for event in outcome.events
                if isinstance(event, MemoryAdded)
            )
            assert contents == Counter(
                [*sentences, "Copper lantern", "Paper boat", "Silver thimble"]
            )

            await _refuses_another_model(scene)

    asyncio.run(run())


async def _refuses_another_model(scene: _Scene) -> None:
    """Exchange the model for one of the same name and dimension.

    It is refused at the start, and by a worker that runs, which keeps the words and waits.
    """
    scene.server.standing = with_vectors(another_model, model="model-1")
    starting, _ = scene.process()
    with pytest.raises(EmbedderMismatch, match="Let the server serve the model it had"):
        await starting.begin()
    async with scene.worker() as repair:
        await scene.say("dee", "Cedar ladder")
        assert await scene.searchable("dee") == {"Cedar ladder": False}
        assert await repair.waiting() == 1


async def _faults(pipeline: OneProcess) -> dict[str, str]:
    query = "SELECT content, vector_fault FROM memories WHERE vector_fault IS NOT NULL"
    async with pipeline.read_model.connection() as connection, connection.transaction():
        await connection.execute("SELECT set_config('memledger.every_subject', 'yes', true)")
        return dict(await (await connection.execute(query)).fetchall())


def test_the_vectors_of_the_scene_are_apart() -> None:
    vectors = np.array([vector_of(one) for one in (*GOOD, *BAD)])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (vectors @ vectors.T - np.eye(len(vectors))).max() < 0.9
