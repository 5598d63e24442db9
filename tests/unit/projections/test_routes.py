"""The body of a question is read as that of a turn is: as JSON, with a limit and an answer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import cast
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Request

from projections.memories import Memories
from projections.recall import Recall
from projections.routes import REQUEST_BYTES_MAX, query_router
from schemas.http import install_problem_handlers
from tests.support.broken_request import post_broken

JSON = {"content-type": "application/json"}


def _app() -> FastAPI:
    async def authenticate(_request: Request) -> str:
        return "acme"

    async def find_subject(_tenant: str, _user_id: str) -> UUID | None:
        raise AssertionError("a body that cannot be read asks for nobody")

    app = FastAPI()
    install_problem_handlers(app)
    app.include_router(
        query_router(
            recall=cast("Recall", None),
            memories=cast("Memories", None),
            authenticate=authenticate,
            find_subject=find_subject,
        )
    )
    return app


def _post(content: bytes | AsyncIterator[bytes], headers: Mapping[str, str]) -> httpx.Response:
    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(_app(), raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.post("/v1/recall", content=content, headers=headers)

    return asyncio.run(ask())


@pytest.mark.parametrize(
    "headers",
    [{"content-type": "text/plain"}, {}, {**JSON, "content-encoding": "gzip"}],
    ids=["text", "untold", "compressed"],
)
def test_a_question_of_another_content_type_is_415(headers: dict[str, str]) -> None:
    response = _post(b'{"user_id": "u", "query": "q"}', headers)
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")


def test_a_question_that_announces_too_much_is_refused_unread() -> None:
    read = False

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read = True
        yield b"{}"

    response = _post(body(), {**JSON, "content-length": str(REQUEST_BYTES_MAX + 1)})
    assert response.status_code == 413
    assert "send a shorter question" in response.json()["detail"]
    assert not read


def test_a_question_that_breaks_off_is_no_failure_of_the_server() -> None:
    assert asyncio.run(post_broken(_app(), "/v1/recall", JSON)) == 400


def test_a_field_that_there_is_not_is_told_with_those_that_there_are() -> None:
    response = _post(b'{"user": "u", "query": "q", "top_k": 3}', JSON)
    assert response.status_code == 422
    first, second = response.json()["errors"]
    assert (first["field"], second["field"]) == ("user", "top_k")
    assert "known are user_id, query, limit, " in first["remedy"]
