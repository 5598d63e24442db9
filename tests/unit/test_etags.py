"""Who has an answer is not sent it again, and a tag tells nothing of it."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import httpx
import pytest
from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse

from deploy.processes.etags import ConditionalGets, tag_key_of
from schemas.errors import InvalidApiKey, UnknownTurn
from schemas.http import install_problem_handlers
from schemas.keyring.signing import SigningKeys


class _Door:
    """A listing that a test changes."""

    def __init__(self, key: Callable[[], bytes]) -> None:
        self.content: object = {"memories": ["likes tea"]}
        self.failure: Exception | None = None
        self.app = FastAPI()
        install_problem_handlers(self.app)
        self.app.add_middleware(ConditionalGets, key=key)

        @self.app.get("/v1/memories")
        @self.app.post("/v1/memories")
        @self.app.get("/outside")
        async def memories() -> JSONResponse:
            if self.failure is not None:
                raise self.failure
            return JSONResponse(self.content)

        @self.app.get("/v1/half")
        async def half() -> JSONResponse:
            return JSONResponse(self.content, status_code=207)

        @self.app.get("/v1/stream")
        async def stream() -> StreamingResponse:
            async def parts() -> AsyncIterator[bytes]:
                yield b'["a",'
                yield b'"b"]'

            return StreamingResponse(parts(), media_type="application/json")


def _play(
    act: Callable[[_Door, httpx.AsyncClient], Awaitable[None]], key: bytes = b"k" * 32
) -> None:
    async def play() -> None:
        door = _Door(lambda: key)
        transport = httpx.ASGITransport(door.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            await act(door, client)

    asyncio.run(play())


def test_the_same_answer_is_304_and_another_is_sent_whole() -> None:
    async def act(door: _Door, client: httpx.AsyncClient) -> None:
        first = await client.get("/v1/memories?user_id=ann")
        tag = first.headers["etag"]
        assert (first.status_code, first.headers["cache-control"]) == (200, "private, no-cache")
        assert first.headers["vary"] == "Authorization"
        for sent in (tag, f'"other", W/{tag}', "*", f"W/{tag}"):
            again = await client.get("/v1/memories?user_id=ann", headers={"If-None-Match": sent})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["etag"] == tag
            assert "content-length" not in again.headers
        door.content = {"memories": []}
        changed = await client.get("/v1/memories?user_id=ann", headers={"If-None-Match": tag})
        assert (changed.status_code, changed.json()) == (200, {"memories": []})
        assert changed.headers["etag"] != tag

    _play(act)


@pytest.mark.parametrize("sent", ["", '""', "unquoted", '"cut', 'W/"x"', '"' + "0" * 32 + '"'])
def test_a_tag_that_is_none_or_another_matches_nothing(sent: str) -> None:
    async def act(_door: _Door, client: httpx.AsyncClient) -> None:
        answer = await client.get("/v1/memories", headers={"If-None-Match": sent})
        assert answer.status_code == 200

    _play(act)


def test_a_tag_is_no_hash_that_a_guess_could_be_compared_with() -> None:
    tags: list[str] = []

    async def act(_door: _Door, client: httpx.AsyncClient) -> None:
        answer = await client.get("/v1/memories")
        tags.append(answer.headers["etag"].strip('"'))
        for algorithm in ("md5", "sha1", "sha256", "blake2b"):
            assert hashlib.new(algorithm, answer.content).hexdigest()[:32] != tags[-1]

    _play(act, b"a" * 32)
    _play(act, b"b" * 32)
    assert len(set(tags)) == 2


def test_the_same_answer_at_two_addresses_has_two_tags() -> None:
    async def act(_door: _Door, client: httpx.AsyncClient) -> None:
        tags = {
            (await client.get(address)).headers["etag"]
            for address in ("/v1/memories?user_id=ann", "/v1/memories?user_id=bob", "/v1/memories")
        }
        assert len(tags) == 3

    _play(act)


def test_the_same_answer_for_two_callers_has_two_tags() -> None:
    async def act(_door: _Door, client: httpx.AsyncClient) -> None:
        tags = {
            (await client.get("/v1/memories", headers=headers)).headers["etag"]
            for headers in ({"authorization": "Bearer a"}, {"authorization": "Bearer b"}, {})
        }
        assert len(tags) == 3

    _play(act)


def test_a_refusal_has_no_tag_and_is_never_304() -> None:
    async def act(door: _Door, client: httpx.AsyncClient) -> None:
        tag = (await client.get("/v1/memories")).headers["etag"]
        for failure, status in ((InvalidApiKey("no"), 401), (UnknownTurn("none"), 404)):
            door.failure = failure
            for sent in (tag, "*"):
                answer = await client.get("/v1/memories", headers={"If-None-Match": sent})
                assert answer.status_code == status
                assert "etag" not in answer.headers

    _play(act)


def test_other_methods_addresses_and_streams_are_left_alone() -> None:
    async def act(_door: _Door, client: httpx.AsyncClient) -> None:
        everything = {"If-None-Match": "*"}
        for answer in (
            await client.post("/v1/memories", headers=everything),
            await client.get("/outside", headers=everything),
            await client.get("/v1/half", headers=everything),
            await client.get("/v1/stream", headers=everything),
        ):
            assert answer.status_code in (200, 207)
            assert "etag" not in answer.headers
        assert answer.json() == ["a", "b"]

    _play(act)


def test_gateways_of_one_key_directory_give_one_tag_and_one_without_it_still_answers(
    tmp_path: Path,
) -> None:
    one, other = tag_key_of(SigningKeys(tmp_path)), tag_key_of(SigningKeys(tmp_path))
    assert one() == other()
    assert one() not in [file.read_bytes() for file in tmp_path.iterdir()]
    alone = tag_key_of(SigningKeys(tmp_path / "not there"))
    assert len(alone()) == 32
    assert alone() == alone() != one()
