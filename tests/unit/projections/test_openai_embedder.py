"""The OpenAI embedder against a real socket: order, retries, and answers that are no answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import numpy as np
import pytest
from starlette.responses import Response

from projections.embedders import CheckedEmbedder, OpenAIEmbedder
from schemas.errors import EmbeddingFailed
from tests.support.embeddings_server import (
    DIMENSION,
    EmbeddingsServer,
    embeddings_server,
    status,
    with_items,
)

Result = TypeVar("Result")


class _Scene:
    """A server, an embedder that asks it, and the pauses the embedder made."""

    def __init__(self, server: EmbeddingsServer, *, ask_dimension: bool = False) -> None:
        self.server = server
        self.pauses_s: list[float] = []
        self.embedder = CheckedEmbedder(
            OpenAIEmbedder(
                model="model",
                dimension=DIMENSION,
                min_similarity=0.4,
                base_url=server.base_url + "/",
                api_key="key-1",
                ask_dimension=ask_dimension,
                sleep=self._sleep,
            )
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)


def _play(act: Callable[[_Scene], Awaitable[Result]], *, ask_dimension: bool = False) -> Result:
    async def play() -> Result:
        async with embeddings_server() as server:
            scene = _Scene(server, ask_dimension=ask_dimension)
            try:
                return await act(scene)
            finally:
                await scene.embedder.aclose()

    return asyncio.run(play())


def test_vectors_come_back_in_the_order_of_the_texts() -> None:
    async def act(scene: _Scene) -> None:
        vectors = await scene.embedder.embed(["a", "bb", "ccc"])

        assert vectors.shape == (3, DIMENSION)
        assert (vectors[:, 0] / vectors[:, 1]).tolist() == pytest.approx([1, 2, 3])
        assert np.linalg.norm(vectors, axis=1).tolist() == pytest.approx([1, 1, 1])
        assert scene.server.bodies == [
            {"model": "model", "input": ["a", "bb", "ccc"], "encoding_format": "float"}
        ]
        assert scene.server.authorizations == ["Bearer key-1"]
        assert scene.embedder.name == "model:4"

    _play(act)


def test_a_dimension_is_sent_when_it_is_asked_for() -> None:
    async def act(scene: _Scene) -> None:
        await scene.embedder.embed(["a"])

        assert scene.server.bodies[0]["dimensions"] == DIMENSION

    _play(act, ask_dimension=True)


def test_many_texts_are_sent_in_bounded_requests() -> None:
    async def act(scene: _Scene) -> None:
        texts = ["x" * (1 + position % 7) for position in range(600)]
        vectors = await scene.embedder.embed(texts)

        assert [len(body["input"]) for body in scene.server.bodies] == [256, 256, 88]
        found = (vectors[:, 0] / vectors[:, 1]).round().astype(int).tolist()
        assert found == [len(text) for text in texts]

    _play(act)


def test_long_texts_are_spread_over_requests_and_none_is_cut() -> None:
    async def act(scene: _Scene) -> None:
        texts = ["x" * 150_000, "y" * 60_000, "z" * 300_000, "end"]
        await scene.embedder.embed(texts)

        sent = [[len(text) for text in body["input"]] for body in scene.server.bodies]
        assert sent == [[150_000], [60_000], [300_000], [3]]

    _play(act)


@pytest.mark.parametrize("code", [408, 409, 429, 500, 503])
def test_what_may_pass_is_tried_again_after_growing_pauses(code: int) -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [status(code), status(code), status(code)]
        await scene.embedder.embed(["a"])

        assert len(scene.server.bodies) == 4
        for pause_s, full_s in zip(scene.pauses_s, [0.5, 1.0, 2.0], strict=True):
            assert full_s / 2 <= pause_s <= full_s

    _play(act)


def test_retries_are_bounded_and_the_error_counts_them() -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [status(500)] * 10
        with pytest.raises(EmbeddingFailed, match="HTTP 500, in each of 4 attempts"):
            await scene.embedder.embed(["a"])

        assert len(scene.server.bodies) == 4

    _play(act)


def test_retry_after_is_honoured_up_to_a_cap() -> None:
    async def act(scene: _Scene) -> None:
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

    _play(act)


def test_a_refusal_is_final_and_repeats_neither_key_nor_text() -> None:
    async def act(scene: _Scene) -> None:
        body = '{"error": {"code": "invalid_api_key", "message": "key-1 for my words"}}'
        scene.server.answers = [status(401, body=body)]
        with pytest.raises(EmbeddingFailed, match=r"HTTP 401 \(invalid_api_key\)") as refusal:
            await scene.embedder.embed(["my words"])

        assert "key-1" not in str(refusal.value)
        assert "my words" not in str(refusal.value)
        assert scene.pauses_s == []

    _play(act)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([], "0 items for 2 texts"),
        ({"index": 0}, "no list for 2 texts"),
        (["a", "b"], "not an object"),
        ([{"index": 0, "embedding": [1, 0, 0, 0]}] * 2, "name 1 of 2 texts"),
        ([{"index": index, "embedding": [1, 0, 0, 0]} for index in (0, 2)], "has the index 2"),
        ([{"index": index, "embedding": [1, 0, 0, 0]} for index in (0, True)], "the index True"),
        ([{"index": index, "embedding": [1, 0, 0]} for index in (0, 1)], "of another dimension"),
        ([{"index": index, "embedding": "AACAPw=="} for index in (0, 1)], "lists of numbers"),
        ([{"index": index} for index in (0, 1)], "not lists of numbers"),
        (
            [{"index": index, "embedding": [float("nan"), 0, 0, 0]} for index in (0, 1)],
            r"2 of 2 vectors \(at 0, 1\) are not finite",
        ),
        (
            [
                {"index": 0, "embedding": [1, 0, 0, 0]},
                {"index": 1, "embedding": [1e300, 0, 0, 0]},
            ],
            r"1 of 2 vectors \(at 1\) are not finite",
        ),
        (
            [{"index": index, "embedding": [0, 0, 0, 0]} for index in (0, 1)],
            "2 of 2 vectors .* of length 0",
        ),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(items: object, problem: str) -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [lambda _body: with_items(items)]
        with pytest.raises(EmbeddingFailed, match=problem):
            await scene.embedder.embed(["a", "b"])

    _play(act)


def test_an_answer_that_is_not_json_is_refused() -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [lambda _body: Response("<html>")]
        with pytest.raises(EmbeddingFailed, match="not JSON"):
            await scene.embedder.embed(["a"])

    _play(act)


def test_a_server_that_is_not_there_fails_after_its_retries() -> None:
    async def act(scene: _Scene) -> None:
        nowhere = OpenAIEmbedder(
            model="model",
            dimension=DIMENSION,
            min_similarity=0.4,
            base_url="http://127.0.0.1:1/v1",
            sleep=scene._sleep,
        )
        with pytest.raises(EmbeddingFailed, match="ConnectError at http"):
            await nowhere.embed(["a"])

        assert len(scene.pauses_s) == 3
        await nowhere.aclose()

    _play(act)
