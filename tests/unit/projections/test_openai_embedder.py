"""The OpenAI embedder against a real socket: order, retries, and answers that are no answer."""

from __future__ import annotations

import asyncio
import gzip
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

import numpy as np
import pytest
from starlette.responses import Response, StreamingResponse

from projections.embedders import CheckedEmbedder, OpenAIEmbedder
from projections.embedders.openai import COMPONENT_BYTES_MAX, ENVELOPE_BYTES_MAX
from schemas.embedding import EmbeddingFault, PartlyEmbedded
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from tests.support.embeddings_server import (
    DIMENSION,
    EmbeddingsServer,
    embeddings_server,
    status,
    with_items,
    with_vectors,
)

Result = TypeVar("Result")


class _Scene:
    """A server, an embedder that asks it, and the pauses the embedder made."""

    def __init__(
        self, server: EmbeddingsServer, *, ask_dimension: bool = False, deadline_s: float = 30.0
    ) -> None:
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
                deadline_s=deadline_s,
                sleep=self._sleep,
            )
        )

    async def _sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)


def _play(
    act: Callable[[_Scene], Awaitable[Result]],
    *,
    ask_dimension: bool = False,
    deadline_s: float = 30.0,
) -> Result:
    async def play() -> Result:
        async with embeddings_server() as server:
            scene = _Scene(server, ask_dimension=ask_dimension, deadline_s=deadline_s)
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

    async def act(scene: _Scene) -> None:
        scene.server.answers = [answer]
        with pytest.raises(PartlyEmbedded) as partly:
            await scene.embedder.embed(texts)
        assert partly.value.faults == {texts.index(name): fault for name, (_, fault) in bad.items()}
        for position, text in enumerate(texts):
            if text not in bad:
                first, second = partly.value.vectors[position, :2]
                assert first / second == pytest.approx(len(text), rel=1e-5)
        assert "MEMLEDGER_EMBEDDER_DIMENSION" in str(partly.value)

    _play(act)


def test_components_that_are_large_or_small_are_brought_to_length_1() -> None:
    async def act(scene: _Scene) -> None:
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

    _play(act)


def test_of_an_endless_answer_no_more_is_read_than_its_vectors_can_need() -> None:
    sent = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal sent
        while True:
            sent += 64 * 1024
            yield b" " * 64 * 1024
            await asyncio.sleep(0)  # or the server would never see that nobody reads

    async def act(scene: _Scene) -> None:
        limit = ENVELOPE_BYTES_MAX + 2 * (DIMENSION * COMPONENT_BYTES_MAX + 1024)
        scene.server.answers = [lambda _body: StreamingResponse(endless())]
        with pytest.raises(EmbeddingFailed, match=f"above {limit} bytes"):
            await scene.embedder.embed(["a", "b"])

    _play(act)
    assert sent < 16 * 1024 * 1024, "it went on reading"


def test_of_an_endless_error_only_the_beginning_is_read() -> None:
    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b" " * 64 * 1024
            await asyncio.sleep(0)

    async def act(scene: _Scene) -> None:
        scene.server.answers = [lambda _body: StreamingResponse(endless(), status_code=404)]
        with pytest.raises(EmbedderUnavailable, match="HTTP 404"):
            await scene.embedder.embed(["a"])

    _play(act)


def test_the_longest_good_answer_fits() -> None:
    async def act(scene: _Scene) -> None:
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

    _play(act)


@pytest.mark.parametrize("content", [b'{"data": [', b"[" * 60_000, b"null", b'"text"', b"\xff"])
def test_an_answer_that_is_cut_off_or_no_object_is_refused(content: bytes) -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [lambda _body: Response(content)]
        with pytest.raises(EmbeddingFailed, match=r"not (a )?JSON"):
            await scene.embedder.embed(["a"])

    _play(act)


def test_a_packed_answer_that_nobody_asked_for_is_not_unpacked() -> None:
    async def act(scene: _Scene) -> None:
        packed = gzip.compress(b" " * 1_000_000)
        scene.server.answers = [
            lambda _body: Response(packed, headers={"Content-Encoding": "gzip"})
        ]
        with pytest.raises(EmbeddingFailed, match="packed"):
            await scene.embedder.embed(["a"])

    _play(act)


def test_a_connection_that_breaks_in_the_middle_of_an_answer_is_tried_again() -> None:
    async def half() -> AsyncIterator[bytes]:
        yield b'{"data": ['
        raise ConnectionResetError

    async def act(scene: _Scene) -> None:
        scene.server.answers = [
            lambda _body: StreamingResponse(half(), headers={"Content-Length": "4000"})
        ]
        assert (await scene.embedder.embed(["a"])).shape == (1, DIMENSION)
        assert len(scene.server.bodies) == 2

    _play(act)


def test_a_server_that_is_slow_costs_one_deadline() -> None:
    async def drip() -> AsyncIterator[bytes]:
        while True:
            yield b" "
            await asyncio.sleep(0.02)

    async def act(scene: _Scene) -> None:
        scene.server.standing = lambda _body: StreamingResponse(drip())
        began = time.monotonic()
        with pytest.raises(EmbedderUnavailable, match="no whole answer within"):
            await scene.embedder.embed(["a"])
        assert time.monotonic() - began < 5

    _play(act, deadline_s=0.4)


def test_a_pause_that_does_not_fit_into_the_deadline_is_not_waited_for() -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [status(429, {"Retry-After": "7"})]
        with pytest.raises(EmbedderUnavailable, match="a pause of 7 s") as refusal:
            await scene.embedder.embed(["a"])
        assert refusal.value.retry_after_s == 7
        assert scene.pauses_s == []

    _play(act, deadline_s=5)


def test_a_redirect_is_not_followed_and_the_error_says_what_to_set() -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [status(307, {"Location": f"{scene.server.base_url}/embeddings"})]
        with pytest.raises(EmbedderUnavailable, match=r"redirect.*EMBEDDER_BASE_URL"):
            await scene.embedder.embed(["a"])
        assert len(scene.server.bodies) == 1

    _play(act)


@pytest.mark.parametrize(
    ("code", "whose"),
    [(400, "text"), (413, "text"), (422, "text"), (401, "server"), (404, "server")],
)
def test_what_the_server_refuses_is_told_apart_from_a_server_that_refuses_all(
    code: int, whose: str
) -> None:
    async def act(scene: _Scene) -> None:
        scene.server.answers = [status(code)]
        with pytest.raises(EmbeddingFailed) as refusal:
            await scene.embedder.embed(["a"])
        assert isinstance(refusal.value, EmbedderUnavailable) == (whose == "server")

    _play(act)


def test_the_model_that_an_answer_names_is_known() -> None:
    async def act(scene: _Scene) -> None:
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

    _play(act)
