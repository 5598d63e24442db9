"""The OpenAI embedder against a real socket: order, requests, retries and deadlines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import numpy as np
import pytest
from starlette.responses import StreamingResponse

from projections.embedders import OpenAIEmbedder
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from tests.support.embeddings_server import DIMENSION, status, with_vectors
from tests.support.openai_scene import OpenAIScene, play


def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    async def act(scene: OpenAIScene) -> None:
        vectors = await scene.embedder.embed(["a", "bb", "ccc"])

        assert vectors.shape == (3, DIMENSION)
        assert (vectors[:, 0] / vectors[:, 1]).tolist() == pytest.approx([1, 2, 3])
        assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1, 1, 1])
        assert scene.server.bodies == [
            {"model": "model", "input": ["a", "bb", "ccc"], "encoding_format": "float"}
        ]
        assert scene.server.authorizations == ["Bearer key-1"]
        assert scene.embedder.name == "model:4"

    play(act)


def test_a_dimension_is_sent_when_it_is_asked_for() -> None:
    async def act(scene: OpenAIScene) -> None:
        await scene.embedder.embed(["a"])

        assert scene.server.bodies[0]["dimensions"] == DIMENSION

    play(act, ask_dimension=True)


def test_many_texts_are_sent_in_bounded_requests() -> None:
    async def act(scene: OpenAIScene) -> None:
        texts = ["x" * (1 + position % 7) for position in range(600)]
        vectors = await scene.embedder.embed(texts)

        assert [len(body["input"]) for body in scene.server.bodies] == [256, 256, 88]
        found = (vectors[:, 0] / vectors[:, 1]).round().astype(int).tolist()
        assert found == [len(text) for text in texts]

    play(act)


def test_long_texts_are_spread_over_requests_and_none_is_cut() -> None:
    async def act(scene: OpenAIScene) -> None:
        texts = ["x" * 150_000, "y" * 60_000, "z" * 300_000, "end"]
        await scene.embedder.embed(texts)

        sent = [[len(text) for text in body["input"]] for body in scene.server.bodies]
        assert sent == [[150_000], [60_000], [300_000], [3]]

    play(act)


@pytest.mark.parametrize("code", [408, 409, 429, 500, 503])
def test_what_may_pass_is_tried_again_after_growing_pauses(code: int) -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(code), status(code), status(code)]
        await scene.embedder.embed(["a"])

        assert len(scene.server.bodies) == 4
        for pause_s, full_s in zip(scene.pauses_s, [0.5, 1.0, 2.0], strict=True):
            assert full_s / 2 <= pause_s <= full_s

    play(act)


def test_retries_are_bounded_and_the_error_counts_them() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(500)] * 10
        with pytest.raises(EmbeddingFailed, match="HTTP 500, in each of 4 attempts"):
            await scene.embedder.embed(["a"])

        assert len(scene.server.bodies) == 4

    play(act)


def test_retry_after_is_honoured_up_to_a_cap() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(429, {"Retry-After": "7"})]
        await scene.embedder.embed(["a"])
        assert scene.pauses_s == [7.0]

        scene.server.answers = [status(429, {"Retry-After": "3600"})]
        with pytest.raises(EmbeddingFailed, match="a pause of 3600 s"):
            await scene.embedder.embed(["a"])

        scene.server.answers = [status(503, {"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"})]
        await scene.embedder.embed(["a"])
        assert scene.pauses_s[1:] == [0.0]

        scene.server.answers = [status(503, {"Retry-After": "soon"})]
        await scene.embedder.embed(["a"])
        assert scene.pauses_s[2] <= 0.5

    play(act)


def test_a_refusal_is_final_and_repeats_neither_key_nor_text() -> None:
    async def act(scene: OpenAIScene) -> None:
        body = '{"error": {"code": "invalid_api_key", "message": "key-1 for my words"}}'
        scene.server.answers = [status(401, body=body)]
        with pytest.raises(EmbeddingFailed, match=r"HTTP 401 \(invalid_api_key\)") as refusal:
            await scene.embedder.embed(["my words"])

        assert "key-1" not in str(refusal.value)
        assert "my words" not in str(refusal.value)
        assert scene.pauses_s == []

    play(act)


def test_a_server_that_is_not_there_fails_after_its_retries() -> None:
    async def act(scene: OpenAIScene) -> None:
        nowhere = OpenAIEmbedder(
            model="model",
            dimension=DIMENSION,
            min_similarity=0.4,
            base_url="http://127.0.0.1:1/v1",
            sleep=scene.sleep,
        )
        with pytest.raises(EmbeddingFailed, match="ConnectError at http"):
            await nowhere.embed(["a"])

        assert len(scene.pauses_s) == 3
        await nowhere.aclose()

    play(act)


def test_a_connection_that_breaks_in_the_middle_of_an_answer_is_tried_again() -> None:
    async def half() -> AsyncIterator[bytes]:
        yield b'{"data": ['
        raise ConnectionResetError

    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [
            lambda _body: StreamingResponse(half(), headers={"Content-Length": "4000"})
        ]
        assert (await scene.embedder.embed(["a"])).shape == (1, DIMENSION)
        assert len(scene.server.bodies) == 2

    play(act)


def test_a_server_that_is_slow_costs_one_deadline() -> None:
    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    async def act(scene: OpenAIScene) -> None:
        scene.server.standing = lambda _body: StreamingResponse(drip())
        began = time.monotonic()
        with pytest.raises(EmbedderUnavailable, match="no whole answer within"):
            await scene.embedder.embed(["a"])
        assert time.monotonic() - began < 5

    play(act, deadline_s=0.4)


def test_a_pause_that_does_not_fit_into_the_deadline_is_not_waited_for() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(429, {"Retry-After": "7"})]
        with pytest.raises(EmbedderUnavailable, match="a pause of 7 s") as refusal:
            await scene.embedder.embed(["a"])
        assert refusal.value.retry_after_s == 7
        assert scene.pauses_s == []

    play(act, deadline_s=5)


def test_a_redirect_is_not_followed_and_the_error_says_what_to_set() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(307, {"Location": f"{scene.server.base_url}/embeddings"})]
        with pytest.raises(EmbedderUnavailable, match=r"redirect.*EMBEDDER_BASE_URL"):
            await scene.embedder.embed(["a"])
        assert len(scene.server.bodies) == 1

    play(act)


@pytest.mark.parametrize(
    ("code", "whose"),
    [(400, "text"), (413, "text"), (422, "text"), (401, "server"), (404, "server")],
)
def test_what_the_server_refuses_is_told_apart_from_a_server_that_refuses_all(
    code: int, whose: str
) -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [status(code)]
        with pytest.raises(EmbeddingFailed) as refusal:
            await scene.embedder.embed(["a"])
        assert isinstance(refusal.value, EmbedderUnavailable) == (whose == "server")

    play(act)


def test_the_model_that_an_answer_names_is_known() -> None:
    async def act(scene: OpenAIScene) -> None:
        assert scene.embedder.answered_as is None
        scene.server.answers = [
            with_vectors(lambda _text: [1.0, 0, 0, 0], model=name)
            for name in ("model-1", "model-2", "x" * 1000)
        ]
        names: list[str | None] = []
        for _ in range(3):
            await scene.embedder.embed(["a"])
            names.append(scene.embedder.answered_as)
        assert names == ["model-1", "model-2", "x" * 200]

    play(act)
