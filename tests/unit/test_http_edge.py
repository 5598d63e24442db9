"""What every answer of the gateway keeps to: an id, a problem detail, one meaning, no strangers."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from deploy.processes.api_page import page_of
from deploy.processes.edge import RequestEdge
from schemas.http import MEDIA_TYPE, install_problem_handlers
from schemas.request_context import RequestIdFilter, answering, request_id_of
from tests.unit.test_documented_api import HEADERS, gateway

SECRET = "the words of a user"
TURN = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}


def _play(app: FastAPI, act: Callable[[httpx.AsyncClient], Awaitable[None]]) -> None:
    async def play() -> None:
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            await act(client)

    asyncio.run(play())


def _failing() -> FastAPI:
    """The edge in front of a route that fails by a bug."""
    app = FastAPI()
    install_problem_handlers(app)
    app.add_middleware(RequestEdge)

    @app.get("/v1/bug")
    async def bug() -> None:
        logging.getLogger("memledger.test").warning("about to fail")
        raise RuntimeError(SECRET)

    return app


@pytest.mark.parametrize(
    ("method", "address", "status", "code"),
    [
        ("GET", "/v1/nothing", 404, "not_found"),
        ("GET", "/", 404, "not_found"),
        ("GET", "/docs/", 404, "not_found"),
        ("GET", "/redoc", 404, "not_found"),
        ("DELETE", "/v1/turns", 405, "method_not_allowed"),
        ("HEAD", "/v1/recall", 405, "method_not_allowed"),
        ("TRACE", "/healthz", 405, "method_not_allowed"),
        ("GET", "/v1/memories", 401, "invalid_api_key"),
        ("POST", "/v1/turns", 401, "invalid_api_key"),
        ("GET", "/v1/flags?state=waiting", 422, "invalid_input"),
        ("GET", "/v1/memories?user_id=u&limit=many", 422, "invalid_input"),
        ("GET", "/v1/turns/none?user_id=u", 404, "unknown_turn"),
    ],
)
def test_every_refusal_is_a_problem_detail_with_the_requests_id(
    method: str, address: str, status: int, code: str
) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        headers = {"X-Request-Id": "mine-1"} | ({} if status == 401 else HEADERS)
        answer = await client.request(method, address, headers=headers)
        assert answer.status_code == status
        assert answer.headers["x-request-id"] == "mine-1"
        assert answer.headers["content-type"] == MEDIA_TYPE
        if method == "HEAD":
            return
        body = answer.json()
        assert body.keys() >= {"type", "title", "status", "detail", "code", "request_id"}
        assert (body["status"], body["code"], body["request_id"]) == (status, code, "mine-1")
        if status == 405:
            assert answer.headers["allow"]
        if status == 401:
            assert answer.headers["www-authenticate"] == "Bearer"

    _play(gateway(), act)


def test_a_bug_is_a_problem_that_tells_nothing_and_is_logged_under_its_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.handler.addFilter(RequestIdFilter())

    async def act(client: httpx.AsyncClient) -> None:
        answer = await client.get("/v1/bug", headers={"X-Request-Id": "abc"})
        assert (answer.status_code, answer.headers["content-type"]) == (500, MEDIA_TYPE)
        assert answer.headers["x-request-id"] == "abc"
        assert (answer.json()["code"], answer.json()["request_id"]) == ("internal_error", "abc")
        assert SECRET not in answer.text

    _play(_failing(), act)
    told = {(record.name, getattr(record, "request", None)) for record in caplog.records}
    assert {("memledger.test", " [abc]"), ("deploy.processes.edge", " [abc]")} <= told


def test_a_log_outside_of_a_request_names_none() -> None:
    record = logging.makeLogRecord({"msg": "hello"})
    assert RequestIdFilter().filter(record)
    assert record.__dict__["request"] == ""
    with answering("abc"):
        RequestIdFilter().filter(record)
    assert record.__dict__["request"] == " [abc]"


@given(st.text() | st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,140}", fullmatch=True))
def test_an_id_is_taken_over_only_where_it_can_break_no_line_of_a_log(sent: str) -> None:
    kept = request_id_of(sent)
    assert re.fullmatch(r"[A-Za-z0-9._:-]{1,128}", kept)
    if kept != sent:
        assert re.fullmatch(r"[0-9a-f]{32}", kept)
        assert not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}", sent)


def test_requests_have_different_ids_and_two_ids_are_none() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        answers = [await client.get("/healthz") for _ in range(3)]
        assert len({answer.headers["x-request-id"] for answer in answers}) == 3
        twice = await client.get(
            "/healthz", headers=[("X-Request-Id", "a1"), ("X-Request-Id", "b2")]
        )
        assert twice.headers["x-request-id"] not in {"a1", "b2", "a1, b2"}

    _play(gateway(), act)


@pytest.mark.parametrize(
    "headers",
    [
        [("Authorization", "Bearer a-key"), ("Authorization", "Bearer a-key")],
        [("Authorization", "Bearer a-key"), ("Authorization", "Bearer other")],
        [
            ("Authorization", "Bearer a-key"),
            ("Content-Length", "2"),
            ("Transfer-Encoding", "chunked"),
        ],
    ],
    ids=["one key twice", "two keys", "two lengths"],
)
def test_a_request_with_two_meanings_is_refused_before_it_is_looked_at(
    headers: list[tuple[str, str]],
) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        sent = [*headers, ("Content-Type", "application/json")]
        answer = await client.post("/v1/turns", content=json.dumps(TURN), headers=sent)
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_request")
        assert answer.headers["connection"] == "close"
        assert "a-key" not in answer.text

    _play(gateway(), act)


@pytest.mark.parametrize(
    ("address", "field"),
    [
        ("/v1/flags?state=waiting", "state"),
        ("/v1/flags?limit=0", "limit"),
        ("/v1/flags?limit=1e3", "limit"),
        ("/v1/memories?user_id=u&history=maybe", "history"),
        ("/v1/memories?limit=5", "user_id"),
        ("/v1/memories?user_id=u&colour=red", "colour"),
        ("/v1/turns/x", "user_id"),
        ("/v1/pause", "user_id"),
    ],
)
def test_what_is_wrong_with_a_query_is_told_in_our_words(address: str, field: str) -> None:
    async def act(client: httpx.AsyncClient) -> None:
        answer = await client.get(address, headers=HEADERS)
        assert answer.status_code == 422
        (error,) = answer.json()["errors"]
        assert error["field"] == field
        # The validator's own sentences begin with these words.
        assert not re.match(r"Input|Value|Field|Extra|String", error["problem"])
        assert error["remedy"] != "see the API reference at /docs"

    _play(gateway(), act)


def test_the_states_that_a_flag_may_have_are_named() -> None:
    async def act(client: httpx.AsyncClient) -> None:
        answer = await client.get("/v1/flags?state=waiting", headers=HEADERS)
        (error,) = answer.json()["errors"]
        assert error["remedy"] == "send 'open', 'approved' or 'refused'"

    _play(gateway(), act)


class TestTheReference:
    def test_loads_nothing_from_anywhere(self) -> None:
        async def act(client: httpx.AsyncClient) -> None:
            page = await client.get("/docs")
            assert (page.status_code, page.headers["content-type"]) == (
                200,
                "text/html; charset=utf-8",
            )
            policy = page.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'")
            assert "script-src" not in policy
            assert not re.search(r"(?i)<script|<link|<img|<iframe|@import|url\(", page.text)
            assert not re.search(r"(?i)(?:https?:)?//[a-z0-9.-]+\.[a-z]", page.text)

        _play(gateway(), act)

    def test_tells_of_every_operation_with_its_fields(self) -> None:
        async def act(client: httpx.AsyncClient) -> None:
            page, document = (
                (await client.get("/docs")).text,
                (await client.get("/openapi.json")).json(),
            )
            for path, methods in document["paths"].items():
                for method, operation in methods.items():
                    assert f"<h2><code>{method.upper()} {path}</code></h2>" in page
                    for parameter in operation.get("parameters", []):
                        assert f"<code>{parameter['name']}</code>" in page
            for field in ("user_text", "query", "min_similarity", "lifetime_s", "paused"):
                assert f"<code>{field}</code>" in page

        _play(gateway(), act)

    def test_escapes_what_the_document_says(self) -> None:
        operation: dict[str, Any] = {
            "summary": "<b>&",
            "parameters": [{"name": "<i>", "in": "query"}],
        }
        page = page_of(
            {"info": {"title": "<t>", "version": "1"}, "paths": {"/<p>": {"get": operation}}}
        )
        for raw in ("<b>", "<i>", "<t>", "/<p>"):
            assert raw not in page

    def test_no_file_of_the_gateway_names_a_host_of_others(self) -> None:
        root = Path(__file__).resolve().parents[2] / "deploy" / "processes"
        for path in root.rglob("*"):
            if path.is_file() and path.suffix in {".py", ".html", ".css", ".js"}:
                found = re.findall(r"https?://([a-z0-9.-]+\.[a-z]{2,})", path.read_text("utf-8"))
                assert found == [], path.name
