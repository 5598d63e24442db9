"""What the OpenAI embedder makes of answers, good and bad, against a real socket."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.responses import Response, StreamingResponse

from projections.embedders.openai import COMPONENT_BYTES_MAX, ENVELOPE_BYTES_MAX
from schemas.embedding import EmbeddingFault, PartlyEmbedded
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from tests.support.embeddings_server import DIMENSION, with_items
from tests.support.openai_scene import OpenAIScene, play


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
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [lambda _body: with_items(items)]
        with pytest.raises(EmbeddingFailed, match=problem):
            await scene.embedder.embed(["a", "b"])

    play(act)


def test_an_answer_that_is_not_json_is_refused() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [lambda _body: Response("<html>")]
        with pytest.raises(EmbeddingFailed, match="not JSON"):
            await scene.embedder.embed(["a"])

    play(act)


def test_good_vectors_of_an_answer_come_with_the_faults_of_the_bad_ones() -> None:
    bad: dict[str, tuple[object, EmbeddingFault]] = {
        "nan": ([float("nan"), 0, 0, 0], EmbeddingFault.NOT_FINITE),
        "zero": ([0, 0, 0, 0], EmbeddingFault.ZERO),
        "short": ([1, 0, 0], EmbeddingFault.WRONG_DIMENSION),
        "long": ([1, 0, 0, 0, 0], EmbeddingFault.WRONG_DIMENSION),
        "empty": ([], EmbeddingFault.WRONG_DIMENSION),
        "null": (None, EmbeddingFault.MISSING),
        "digits": (["1", "0", "0", "0"], EmbeddingFault.MISSING),
        "nested": ([[1], [0], [0], [0]], EmbeddingFault.MISSING),
        "ragged": ([[1], 0, 0, 0], EmbeddingFault.MISSING),
        "holes": ([1, None, 0, 0], EmbeddingFault.MISSING),
        "truths": ([True, False, False, False], EmbeddingFault.MISSING),
        "endless": ([10**400, 0, 0, 0], EmbeddingFault.MISSING),
        "text": ("AACAPw==", EmbeddingFault.MISSING),
    }
    texts = [one for name in bad for one in (f"good {name}", name)]

    def answer(body: dict[str, Any]) -> Response:
        items = [
            {
                "index": index,
                "embedding": bad[text][0] if text in bad else [len(text), 1, 0, 0],
            }
            for index, text in enumerate(body["input"])
        ]
        return with_items(list(reversed(items)))

    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [answer]
        with pytest.raises(PartlyEmbedded) as partly:
            await scene.embedder.embed(texts)
        assert partly.value.faults == {texts.index(name): fault for name, (_, fault) in bad.items()}
        for position, text in enumerate(texts):
            if text not in bad:
                first, second = partly.value.vectors[position, :2]
                assert first / second == pytest.approx(len(text), rel=1e-5)
        assert "MEMLEDGER_EMBEDDER_DIMENSION" in str(partly.value)

    play(act)


def test_components_that_are_large_or_small_are_brought_to_length_1() -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [
            lambda _body: with_items(
                [
                    {"index": 0, "embedding": [3e37, 4e37, 0, 0]},
                    {"index": 1, "embedding": [3e-20, 4e-20, 0, 0]},
                ]
            )
        ]
        vectors = await scene.embedder.embed(["a", "b"])
        assert vectors[:, :2].ravel().tolist() == pytest.approx([0.6, 0.8] * 2)

    play(act)


def test_of_an_endless_answer_no_more_is_read_than_its_vectors_can_need() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 64 * 1024
            yield b" " * 64 * 1024
            await asyncio.sleep(0)  # or the server would never see that nobody reads

    async def act(scene: OpenAIScene) -> None:
        limit = ENVELOPE_BYTES_MAX + 2 * (DIMENSION * COMPONENT_BYTES_MAX + 1024)
        scene.server.answers = [lambda _body: StreamingResponse(endless())]
        with pytest.raises(EmbeddingFailed, match=f"above {limit} bytes"):
            await scene.embedder.embed(["a", "b"])

    play(act)
    assert sent < 16 * 1024 * 1024, "it went on reading"


def test_of_an_endless_error_only_the_beginning_is_read() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 64 * 1024
            await asyncio.sleep(0)

    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [lambda _body: StreamingResponse(endless(), status_code=404)]
        with pytest.raises(EmbedderUnavailable, match="HTTP 404"):
            await scene.embedder.embed(["a"])

    play(act)


def test_the_longest_good_answer_fits() -> None:
    async def act(scene: OpenAIScene) -> None:
        component = -1.2345678901234567e-300  # as many characters as a float has
        vector = [component] * (DIMENSION - 1) + [-0.12345678901234567]
        scene.server.answers = [
            lambda body: with_items(
                [
                    {"object": "embedding", "index": index, "embedding": vector}
                    for index, _ in enumerate(body["input"])
                ]
            )
        ]
        vectors = await scene.embedder.embed(["a"] * 256)
        assert vectors.shape == (256, DIMENSION)

    play(act)


@pytest.mark.parametrize("content", [b'{"data": [', b"[" * 60_000, b"null", b'"text"', b"\xff"])
def test_an_answer_that_is_cut_off_or_no_object_is_refused(content: bytes) -> None:
    async def act(scene: OpenAIScene) -> None:
        scene.server.answers = [lambda _body: Response(content)]
        with pytest.raises(EmbeddingFailed, match=r"not (a )?JSON"):
            await scene.embedder.embed(["a"])

    play(act)


def test_a_packed_answer_that_nobody_asked_for_is_not_unpacked() -> None:
    async def act(scene: OpenAIScene) -> None:
        packed = gzip.compress(b" " * 1_000_000)
        scene.server.answers = [
            lambda _body: Response(packed, headers={"Content-Encoding": "gzip"})
        ]
        with pytest.raises(EmbeddingFailed, match="packed"):
            await scene.embedder.embed(["a"])

    play(act)
