"""Errors become problem details that name what is wrong and repeat nothing of the content."""

from __future__ import annotations

import asyncio
import json
from typing import Annotated

import httpx
import pytest
from fastapi import Body, FastAPI
from pydantic import BaseModel, ConfigDict

from schemas import errors
from schemas.http import MEDIA_TYPE, detail_of, install_problem_handlers, problem


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")
    user_id: str


def _answer(
    method: str, path: str, *, error: Exception | None = None, content: bytes | None = None
) -> httpx.Response:
    app = _app(error)

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            headers = {"content-type": "application/json"}
            return await client.request(method, path, content=content, headers=headers)

    return asyncio.run(ask())


def _app(error: Exception | None) -> FastAPI:
    app = FastAPI()
    install_problem_handlers(app)

    @app.get("/fails")
    async def fails() -> None:
        assert error is not None
        raise error

    @app.post("/question")
    async def question(body: Annotated[_Question, Body()]) -> str:
        return body.user_id

    return app


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.InvalidInput(field="f", problem="p", remedy="r"), 422, "invalid_input"),
        (errors.InputTooLarge(field="f", problem="p", remedy="r"), 413, "too_large"),
        (errors.InvalidApiKey("bad"), 401, "invalid_api_key"),
        (errors.UnknownTenant("none"), 403, "unknown_tenant"),
        (errors.SubjectErased("gone"), 410, "subject_erased"),
        (errors.LogBusy("full"), 429, "log_busy"),
        (errors.LogUnavailable("down"), 503, "log_unavailable"),
        (errors.KeyringUnavailable("down"), 503, "keyring_unavailable"),
        (errors.ReadModelUnavailable("down"), 503, "read_model_unavailable"),
        (errors.NotCaughtUp("late"), 504, "not_caught_up"),
        (errors.EmbeddingFailed("nan"), 503, "embedding_failed"),
        (errors.EmbedderMismatch("other"), 503, "embedder_mismatch"),
    ],
)
def test_every_error_has_its_status_and_code(
    error: errors.MemledgerError, status: int, code: str
) -> None:
    response = _answer("GET", "/fails", error=error)

    assert response.status_code == status
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["detail"] == (str(error) if status != 503 else detail_of(error))
    assert ("retry-after" in response.headers) == (status in {429, 503, 504})


@pytest.mark.parametrize(
    "kind",
    [
        errors.LogUnavailable,
        errors.KeyringUnavailable,
        errors.ReadModelUnavailable,
        errors.EmbeddingFailed,
    ],
)
def test_what_a_store_said_goes_to_the_log_alone(
    kind: type[errors.MemledgerError], caplog: pytest.LogCaptureFixture
) -> None:
    said = 'connection to server at "db.internal" (10.0.0.7), port 5432 failed: user "ledger"'

    response = _answer("GET", "/fails", error=kind(said))

    assert response.status_code == 503
    for secret in ("db.internal", "10.0.0.7", "5432", "ledger"):
        assert secret not in response.text
    assert response.json()["detail"].count(":") == 1
    assert said in caplog.text


def test_a_refused_field_is_named_with_its_remedy() -> None:
    error = errors.InvalidInput(field="limit", problem="is 0", remedy="send 1 to 100")

    body = _answer("GET", "/fails", error=error).json()

    assert body["errors"] == [{"field": "limit", "problem": "is 0", "remedy": "send 1 to 100"}]


@pytest.mark.parametrize(
    "error", [RuntimeError("secret at /etc"), errors.KeyMissing("subject 1"), OSError("secret")]
)
def test_an_unforeseen_error_tells_the_caller_nothing_of_the_inside(error: Exception) -> None:
    response = _answer("GET", "/fails", error=error)

    assert response.status_code == 500
    assert response.json()["code"] == "internal_error"
    assert str(error) not in response.text


@pytest.mark.parametrize(
    ("content", "field"),
    [
        (b'{"user_id": "u", "colour": "my words"}', "colour"),
        (b'{"user_id": 7}', "user_id"),
        (b"{}", "user_id"),
        (b'{"user_id": "my words', "body"),
        (b'{"user_id": "u", "\\ud800": 1}', "body"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_by_name(content: bytes, field: str) -> None:
    response = _answer("POST", "/question", content=content)

    assert response.status_code == 422
    assert response.headers["content-type"] == MEDIA_TYPE
    assert [error["field"] for error in json.loads(response.content)["errors"]] == [field]
    assert "my words" not in response.text


def test_an_unknown_path_is_a_problem_too() -> None:
    response = _answer("GET", "/nowhere")

    assert (response.status_code, response.json()["code"]) == (404, "not_found")
    assert response.headers["content-type"] == MEDIA_TYPE


def test_further_members_and_headers_are_carried() -> None:
    response = problem(418, "Teapot", "short and stout", headers={"X-Pot": "1"}, code="teapot")

    assert response.headers["x-pot"] == "1"
    assert json.loads(bytes(response.body)) == {
        "type": "about:blank",
        "title": "Teapot",
        "status": 418,
        "detail": "short and stout",
        "code": "teapot",
    }


@pytest.mark.parametrize(
    ("method", "path", "status", "remedy"),
    [
        ("GET", "/nowhere", 404, "the API reference is at /docs"),
        ("DELETE", "/question", 405, "the header Allow names"),
    ],
)
def test_what_the_router_refuses_tells_what_to_do(
    method: str, path: str, status: int, remedy: str
) -> None:
    response = _answer(method, path)
    assert response.status_code == status
    assert remedy in response.json()["detail"]
    assert ("allow" in response.headers) == (status == 405)


def test_an_answer_does_not_grow_with_what_is_wrong() -> None:
    fields = {f"field{number}": number for number in range(5_000)}
    response = _answer("POST", "/question", content=json.dumps(fields).encode())
    assert response.status_code == 422
    assert len(response.json()["errors"]) == 40
