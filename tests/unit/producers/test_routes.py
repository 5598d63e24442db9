"""POST /v1/turns answers every body that may come: accepted, or refused with what to do."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from producers.metrics import TURNS_REFUSED
from producers.routes import ingest_router
from producers.turns_input import TURNS_MAX
from schemas.errors import (
    InputTooLarge,
    InvalidApiKey,
    InvalidInput,
    KeyMissing,
    KeyringUnavailable,
    LogBusy,
    LogUnavailable,
)
from schemas.http import install_problem_handlers
from schemas.http_body import JsonBodies
from schemas.records import Origin
from tests.support.broken_request import post_broken
from tests.unit.producers.fakes import NOW, InMemoryAppender

TURN = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}
JSON = {"content-type": "application/json", "authorization": "Bearer key-of-acme"}
BYTES_MAX = 4 * 1024 * 1024
HELD_BYTES_MAX = 2 * BYTES_MAX


class Api:
    """The route over an in-memory appender, asked without a network."""

    def __init__(self) -> None:
        self.appender = InMemoryAppender()
        self.app = FastAPI()
        install_problem_handlers(self.app)
        self.app.include_router(
            ingest_router(
                self.appender,
                _authenticate,
                bodies=JsonBodies(
                    bytes_max=BYTES_MAX, held_bytes_max=HELD_BYTES_MAX, remedy="send fewer turns"
                ),
                clock=lambda: NOW,
            )
        )

    def post(
        self, content: bytes | AsyncIterator[bytes], headers: Mapping[str, str] = JSON
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            # An exception that no handler turns into an answer fails the test.
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.post("/v1/turns", content=content, headers=headers)

        return asyncio.run(ask())

    def send(self, body: object) -> httpx.Response:
        return self.post(json.dumps(body).encode())


async def _authenticate(token: str) -> str:
    if token != "key-of-acme":
        raise InvalidApiKey("the API key is unknown")
    return "acme"


def test_one_turn_is_answered_with_its_id_and_position() -> None:
    api = Api()
    response = api.send({**TURN, "turn_id": "t", "assistant_text": "hi"})
    assert response.status_code == 202
    assert response.json()["position"] == "3:0"
    assert len(response.json()["turn_id"]) == 36
    ((tenant, turn, origin),) = api.appender.appended
    assert (tenant, turn.user_text, turn.assistant_text, origin) == (
        "acme",
        "hello",
        "hi",
        Origin.HTTP,
    )


def test_a_list_is_answered_with_one_result_for_each_in_order() -> None:
    api = Api()
    response = api.send({"turns": [{**TURN, "user_text": str(number)} for number in range(500)]})
    assert response.status_code == 202
    results = response.json()["results"]
    assert [result["position"] for result in results] == [f"3:{offset}" for offset in range(500)]
    assert {result["status"] for result in results} == {"accepted"}
    assert [turn.user_text for _, turn, _ in api.appender.appended] == [str(n) for n in range(500)]


@pytest.mark.parametrize(
    "bad",
    [
        {**TURN, "user_text": "\ud800"},
        {**TURN, "user_text": "\x00"},
        {**TURN, "user_text": "a" * 1_200_000},
        {**TURN, "unknown": 1},
        {"user_id": "u"},
        None,
        [],
        "text",
        1,
    ],
    ids=["surrogate", "nul", "large", "unknown", "missing", "null", "list", "text", "number"],
)
def test_a_bad_item_costs_itself_alone(bad: object) -> None:
    api = Api()
    response = api.send({"turns": [TURN, bad, {**TURN, "user_text": "last"}]})
    assert response.status_code == 202
    statuses = [result["status"] for result in response.json()["results"]]
    assert statuses == ["accepted", "refused", "accepted"]
    error = response.json()["results"][1]["error"]
    assert error["code"] in {"invalid_input", "too_large"}
    assert error["retry"] is False
    assert error["problem"]
    assert error["remedy"]
    assert [turn.user_text for _, turn, _ in api.appender.appended] == ["hello", "last"]


def test_a_list_of_nothing_acceptable_is_422_with_every_reason() -> None:
    api = Api()
    response = api.send({"turns": [{**TURN, "user_id": ""}, {**TURN, "user_text": " "}]})
    assert response.status_code == 422
    assert response.headers["content-type"] == "application/problem+json"
    assert [result["error"]["field"] for result in response.json()["results"]] == [
        "user_id",
        "user_text",
    ]
    assert api.appender.batches == []


def test_what_the_log_refuses_is_told_for_each_turn() -> None:
    api = Api()
    api.appender.refuse = lambda turn: LogBusy("full") if turn.user_id == "v" else None
    response = api.send({"turns": [TURN, {**TURN, "user_id": "v"}]})
    assert response.status_code == 202
    assert response.json()["results"][1]["error"] == {
        "code": "log_busy",
        "detail": "full",
        "retry": True,
    }


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (LogBusy("full"), 429, "log_busy"),
        (LogUnavailable("no answer"), 503, "log_unavailable"),
        (InputTooLarge(field="record", problem="p", remedy="r"), 413, "too_large"),
        (InvalidInput(field="turn_id", problem="p", remedy="r"), 422, "invalid_input"),
    ],
)
def test_one_turn_that_is_not_appended_is_answered_with_its_error(
    error: InvalidInput | LogUnavailable, status: int, code: str
) -> None:
    api = Api()
    api.appender.refuse = lambda _turn: error
    response = api.send(TURN)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert ("retry-after" in response.headers) == (status in {429, 503})


@pytest.mark.parametrize(
    ("error", "status"), [(LogBusy("full"), 429), (LogUnavailable("no answer"), 503)]
)
def test_a_list_of_which_nothing_was_appended_says_when_to_try_again(
    error: LogUnavailable, status: int
) -> None:
    api = Api()
    api.appender.refuse = lambda _turn: error
    response = api.send({"turns": [TURN, {"user_id": "u"}]})
    assert response.status_code == status
    assert int(response.headers["retry-after"]) > 0
    assert [result["error"]["retry"] for result in response.json()["results"]] == [True, False]


def test_what_the_broker_said_goes_to_the_log_alone(caplog: pytest.LogCaptureFixture) -> None:
    api = Api()
    said = "broker.internal:9092: connection refused"
    api.appender.refuse = lambda turn: LogUnavailable(said) if turn.user_id == "v" else None
    response = api.send({"turns": [TURN, {**TURN, "user_id": "v"}, {**TURN, "user_id": "v"}]})
    assert response.status_code == 202
    assert "broker.internal" not in response.text
    assert response.json()["results"][1]["error"]["retry"] is True
    assert caplog.text.count(said) == 1


def test_a_keyring_that_is_down_is_503_and_not_an_erasure() -> None:
    api = Api()
    api.appender.fail = KeyringUnavailable("no answer")
    response = api.send(TURN)
    assert (response.status_code, response.json()["code"]) == (503, "keyring_unavailable")
    assert int(response.headers["retry-after"]) > 0


def test_an_alarm_of_the_keyring_is_not_explained_to_callers() -> None:
    api = Api()
    api.appender.fail = KeyMissing("subject 1234")
    response = api.send(TURN)
    assert response.status_code == 500
    assert "1234" not in response.text


@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": "key-of-acme"}, {"x-api-key": "k"}],
)
def test_without_a_valid_key_nothing_is_read(headers: dict[str, str]) -> None:
    api = Api()
    response = api.post(b"not even json", {"content-type": "application/json", **headers})
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "headers",
    [
        {"content-type": "text/plain"},
        {"content-type": ""},
        {"content-type": "application/json", "content-encoding": "gzip"},
    ],
)
def test_another_content_type_is_415(headers: dict[str, str]) -> None:
    response = Api().post(json.dumps(TURN).encode(), {**JSON, **headers})
    assert response.status_code == 415
    assert response.json()["detail"]


def test_parameters_of_the_content_type_do_not_matter() -> None:
    headers = {**JSON, "content-type": "Application/JSON; charset=utf-8"}
    assert Api().post(json.dumps(TURN).encode(), headers).status_code == 202


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not JSON"),
        (b'{"user_id": "u",', "at line 1, column 17"),
        (b'{"a": 1} {"b": 2}', "Extra data at line 1, column 10"),
        (b'{"user_id": "\xff"}', "is not UTF-8 at byte 13"),
        (b'{"user_id": "\xed\xa0\x80"}', "is not UTF-8 at byte 13"),
        (b"[" * 40_000, "is nested too deeply"),
        (b'{"a":' * 20_000, "is nested too deeply"),
        (b'{"turns":' + b"[" * 40_000, "is nested too deeply"),
        (b'{"turns": [1, ' + b"[" * 40_000, "is nested too deeply"),
        (b"1" * 5_000, "is not a JSON object"),
        (b"[]", "is not a JSON object"),
        (b"null", "is not a JSON object"),
        (b'{"turns": []}', "is not a list with something in it"),
        (b'{"turns": {}}', "is not a list with something in it"),
        (b'{"turns": [1],}', "is not JSON"),
        (b'{"turns": [1]]', "is not JSON: Expecting ',' delimiter at line 1, column 14"),
        (b'{"turns": [1 2]}', "is not JSON: Expecting ',' delimiter at line 1, column 14"),
        (b'{"turns": [1]} 2', "is not JSON: Extra data at line 1, column 16"),
        (b'{"turns": [1], "turns": [1]}', "turns: is there more than once; send each field once"),
        (b'{"turns": [1], "user_id": "u"}', "is not a known field next to turns"),
        (b'{"turns": [1], "\\ud800": "u"}', "is not a known field next to turns"),
    ],
)
def test_a_body_that_cannot_be_read_is_422_with_the_place(content: bytes, problem: str) -> None:
    response = Api().post(content)
    assert response.status_code == 422
    assert problem in response.json()["detail"]
    assert response.json()["errors"][0]["remedy"]


def test_a_byte_order_mark_is_ignored() -> None:
    assert Api().post(b"\xef\xbb\xbf" + json.dumps(TURN).encode()).status_code == 202


def test_a_list_above_its_limit_is_413() -> None:
    api = Api()
    response = api.send({"turns": [TURN] * (TURNS_MAX + 1)})
    assert response.status_code == 413
    assert "holds more than 500 turns; send them in several" in response.json()["detail"]
    assert api.appender.appended == []


def test_a_turn_above_its_limit_is_413_and_one_below_is_accepted() -> None:
    api = Api()
    assert api.send({**TURN, "user_text": "a" * 1_200_000}).status_code == 413
    assert api.send({**TURN, "user_text": "a" * 350_000}).status_code == 202


def test_a_body_that_announces_too_much_is_refused_unread() -> None:
    read = False

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        read = True
        yield b"{}"

    response = Api().post(body(), {**JSON, "content-length": str(BYTES_MAX + 1)})
    assert response.status_code == 413
    assert not read


def test_a_body_of_too_many_values_is_refused_before_any_is_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def read_items(_body: bytearray) -> None:
        raise AssertionError("it is decoded")

    monkeypatch.setattr("producers.routes.read_items", read_items)
    for content in (b'{"turns": [' + b"[]," * 60_000, b"{" + b'"a":1,' * 30_000):
        response = Api().post(content)
        assert response.status_code == 413
        assert "holds more than 50000 values; send fewer turns" in response.json()["detail"]


def test_a_body_that_breaks_off_is_no_failure_of_the_server() -> None:
    assert asyncio.run(post_broken(Api().app, "/v1/turns", JSON)) == 400


def test_a_body_that_does_not_announce_its_size_is_read_to_the_limit_and_no_further() -> None:
    chunk = b" " * 65_536
    read = 0

    async def body() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += len(chunk)
            yield chunk

    assert Api().post(body()).status_code == 413
    assert read <= BYTES_MAX + 2 * len(chunk)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from([*TURN, "turns", "occurred_at", "x"]), inner)
        ),
        max_leaves=20,
    )
)
def test_no_json_is_answered_with_a_failure_of_the_server(body: Any) -> None:
    response = Api().send(body)
    assert response.status_code in {202, 413, 422}
    assert response.json()


def test_the_tenant_cannot_be_named_in_the_body() -> None:
    response = Api().send({**TURN, "tenant": "other"})
    assert response.status_code == 422
    assert "unknown field 'tenant'" in response.json()["detail"]


def test_the_body_is_documented() -> None:
    operation = Api().app.openapi()["paths"]["/v1/turns"]["post"]
    one, many = operation["requestBody"]["content"]["application/json"]["schema"]["anyOf"]
    assert one["required"] == ["user_id", "conversation_id", "user_text"]
    assert many["properties"]["turns"]["maxItems"] == TURNS_MAX


def test_every_refusal_at_the_door_is_counted_once() -> None:
    api = Api()
    bad = {**TURN, "user_text": " "}
    large = {**TURN, "user_text": "a" * 400_001}
    for body, counted in (
        (bad, {"InvalidInput": 1}),
        (large, {"InputTooLarge": 1}),
        ({"turns": [TURN, bad, large, bad]}, {"InvalidInput": 2, "InputTooLarge": 1}),
        ({"turns": [TURN] * (TURNS_MAX + 1)}, {"InputTooLarge": 1}),
        ({"turns": []}, {"InvalidInput": 1}),
        (None, {"InvalidInput": 1}),
        (TURN, {}),
    ):
        before = refused()
        api.send(body)
        assert refused() - before == Counter(counted), str(body)[:80]
    for content, headers, counted in (
        (b"{", JSON, {"InvalidInput": 1}),
        (b"{}", {**JSON, "content-type": "text/plain"}, {"HTTPException": 1}),
        (b"{}", {**JSON, "authorization": "Bearer wrong"}, {"InvalidApiKey": 1}),
    ):
        before = refused()
        api.post(content, headers)
        assert refused() - before == Counter(counted), content


def refused() -> Counter[str]:
    """Return how many turns were refused by class of error since the process began."""
    return Counter(
        {
            sample.labels["error"]: int(sample.value)
            for metric in TURNS_REFUSED.collect()
            for sample in metric.samples
            if sample.name.endswith("_total") and sample.labels["origin"] == "http"
        }
    )
