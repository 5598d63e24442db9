"""The routes for what is no turn answer every body that may come."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI
from prometheus_client import REGISTRY

from producers.command_routes import REQUEST_BYTES_MAX, Caller, command_router
from producers.commands import CommandAppender
from producers.curation_routes import curation_router
from producers.curations import CurationAppender
from producers.subject_records import SubjectRecords
from schemas.commands import CuratedMemory, Curation, FlagDecision, SessionEnd
from schemas.errors import (
    InvalidApiKey,
    KeyringUnavailable,
    LogBusy,
    LogUnavailable,
    ReadModelUnavailable,
)
from schemas.flags import FlagState
from schemas.http import install_problem_handlers
from schemas.ids import flag_decision_id
from tests.support.flags import MemoryFlags, new_flag
from tests.unit.producers.fakes import NOW, InMemoryKeyring, InMemoryLog
from tests.unit.producers.test_commands_input import DECISION, END, FACT

JSON = {"content-type": "application/json", "authorization": "Bearer key-of-acme"}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/memories": FACT,
    f"/v1/flags/{UUID(int=7)}": DECISION,
    "/v1/conversations/end": END,
}


class Api:
    """The routes over an in-memory keyring, log and queue of flags, asked without a network."""

    def __init__(self) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog()
        self.flags = MemoryFlags()
        self.app = FastAPI()
        install_problem_handlers(self.app)
        records = SubjectRecords(self.keyring, self.log, 4)
        appender = CommandAppender(records, clock=lambda: NOW)
        self.held: dict[tuple[str, str, UUID], CuratedMemory] = {}
        curations = CurationAppender(records, self.find_memory, clock=lambda: NOW)
        self.app.include_router(command_router(appender, self.flags, _authenticate))
        self.app.include_router(
            curation_router(curations, appender, _authenticate, clock=lambda: NOW)
        )

    async def find_memory(self, tenant: str, user_id: str, memory_id: UUID) -> CuratedMemory | None:
        return self.held.get((tenant, user_id, memory_id))

    def ask(
        self, method: str, path: str, content: bytes = b"", headers: Mapping[str, str] = JSON
    ) -> httpx.Response:
        async def ask() -> httpx.Response:
            # An exception that no handler turns into an answer fails the test.
            transport = httpx.ASGITransport(self.app, raise_app_exceptions=True)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.request(method, path, content=content, headers=headers)

        return asyncio.run(ask())

    def post(self, path: str, content: bytes, headers: Mapping[str, str] = JSON) -> httpx.Response:
        return self.ask("POST", path, content, headers)

    def send(self, path: str, body: object, *, key: str = "key-of-acme") -> httpx.Response:
        headers = {**JSON, "authorization": f"Bearer {key}"}
        return self.post(path, json.dumps(body).encode(), headers)


async def _authenticate(token: str) -> Caller:
    if not token.startswith("key-of-"):
        raise InvalidApiKey("the API key is unknown")
    return Caller(tenant=token.removeprefix("key-of-"), name=f"api-key {token}")


def assert_refused(response: httpx.Response, status: int, code: str) -> None:
    assert (response.status_code, response.json()["code"]) == (status, code), response.text
    assert response.json()["detail"]


def test_a_fact_is_accepted_with_the_id_and_the_place_of_its_record() -> None:
    api = Api()
    response = api.send("/v1/memories", {**FACT, "id": "m1"})
    assert response.status_code == 202
    keys = api.keyring.keys_of("acme", "ann")
    ((read, curation),) = api.log.opened(Curation, keys)
    assert response.json() == {
        "turn_id": str(curation.turn_id),
        "position": f"{read.position.partition}:{read.position.offset}",
    }


def test_a_fact_sent_again_under_its_id_is_answered_with_the_same_id() -> None:
    api = Api()
    first, again, other = (
        api.send("/v1/memories", {**FACT, "id": name}).json() for name in ("m1", "m1", "m2")
    )
    assert first["turn_id"] == again["turn_id"] != other["turn_id"]


def test_the_tenant_is_the_keys_alone() -> None:
    api = Api()
    api.send("/v1/memories", FACT, key="key-of-other")
    assert set(api.keyring.living) == {("other", "ann")}


@pytest.mark.parametrize(("decision", "approved"), [("approve", True), ("refuse", False)])
def test_a_decision_is_accepted_and_names_who_decided(decision: str, *, approved: bool) -> None:
    api = Api()
    keys = api.keyring.keys_of("acme", "ann")
    flag = api.flags.put("acme", new_flag(keys.subject))
    response = api.send(f"/v1/flags/{flag.flag_id}", {**DECISION, "decision": decision})
    assert response.status_code == 202
    assert response.json()["turn_id"] == str(flag_decision_id(flag.flag_id))
    ((_, curation),) = api.log.opened(Curation, keys)
    assert isinstance(curation.decision, FlagDecision)
    assert curation.decision.approved is approved
    assert curation.actor == "api-key key-of-acme"


def test_the_same_decision_again_is_accepted_and_another_is_a_conflict() -> None:
    api = Api()
    keys = api.keyring.keys_of("acme", "ann")
    flag = api.flags.put("acme", new_flag(keys.subject, state=FlagState.REFUSED))
    path = f"/v1/flags/{flag.flag_id}"
    again = api.send(path, {**DECISION, "decision": "refuse"})
    assert again.status_code == 202
    assert_refused(api.send(path, DECISION), 409, "flag_decided")
    assert len(api.log.records) == 1


def test_a_flag_of_another_tenant_is_answered_like_one_that_there_is_not() -> None:
    api = Api()
    flag = api.flags.put("other", new_flag(api.keyring.keys_of("other", "ann").subject))
    foreign = api.send(f"/v1/flags/{flag.flag_id}", DECISION)
    answers = [api.send(f"/v1/flags/{name}", DECISION) for name in (uuid4(), "x", "%00")]
    for answer in (foreign, *answers):
        assert_refused(answer, 404, "unknown_flag")
        assert answer.content == foreign.content
    assert api.log.records == []


def test_an_end_is_accepted() -> None:
    api = Api()
    keys = api.keyring.keys_of("acme", "ann")
    response = api.send("/v1/conversations/end", END)
    assert response.status_code == 202
    ((_, end),) = api.log.opened(SessionEnd, keys)
    assert response.json()["turn_id"] == str(end.turn_id)
    assert end.conversation_id == "c"


def test_the_end_of_a_user_nobody_heard_of_is_accepted_and_appends_nothing() -> None:
    api = Api()
    response = api.send("/v1/conversations/end", END)
    assert (response.status_code, response.json()) == (202, {"turn_id": None, "position": None})
    assert api.log.records == []
    assert api.keyring.living == {}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize(
    ("content", "status", "code"),
    [
        (b"", 422, "invalid_input"),
        (b"{", 422, "invalid_input"),
        (b"null", 422, "invalid_input"),
        (b"[]", 422, "invalid_input"),
        (b"NaN", 422, "invalid_input"),
        (b'{"user_id": "\xff"}', 422, "invalid_input"),
        (b"[" * 24_000, 422, "invalid_input"),
        (b'{"tenant": "acme"}', 422, "invalid_input"),
        (b'{"\\ud800": 1}', 422, "invalid_input"),
        (b'{"x": 1, "x": 2}', 422, "invalid_input"),
        (b"a" * (REQUEST_BYTES_MAX + 1), 413, "too_large"),
        (b"[" + b"1," * 60_000 + b"1]", 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused(
    path: str, content: bytes, status: int, code: str
) -> None:
    api = Api()
    response = api.post(path, content)
    assert_refused(response, status, code)
    (error,) = response.json()["errors"]
    assert error["problem"]
    assert error["remedy"]
    assert api.log.records == []


@pytest.mark.parametrize("path", BODIES)
def test_without_a_valid_key_nothing_is_read(path: str) -> None:
    api = Api()
    for authorization in ("Bearer wrong", "key-of-acme", ""):
        headers = {"content-type": "application/json", "authorization": authorization}
        assert_refused(api.post(path, b"not even json", headers), 401, "invalid_api_key")


@pytest.mark.parametrize("path", BODIES)
def test_another_content_type_is_refused(path: str) -> None:
    api = Api()
    response = api.post(path, json.dumps(BODIES[path]).encode(), {**JSON, "content-type": "text/x"})
    assert_refused(response, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (LogBusy("full"), 429, "log_busy"),
        (LogUnavailable("broker.internal: no answer"), 503, "log_unavailable"),
    ],
)
def test_what_the_log_does_not_take_is_told_with_when_to_come_again(
    error: LogUnavailable, status: int, code: str
) -> None:
    api = Api()
    keys = api.keyring.keys_of("acme", "ann")
    flag = api.flags.put("acme", new_flag(keys.subject))
    api.log.fail = lambda _number: error
    paths = {**BODIES, f"/v1/flags/{flag.flag_id}": DECISION}
    for path, body in paths.items():
        if path in BODIES and body is DECISION:
            continue
        response = api.send(path, body)
        assert_refused(response, status, code)
        assert int(response.headers["retry-after"]) > 0
        assert "broker.internal" not in response.text


def test_a_keyring_or_read_model_that_is_down_is_never_an_unknown_flag() -> None:
    api = Api()
    flag = api.flags.put("acme", new_flag(api.keyring.keys_of("acme", "ann").subject))

    def fail() -> None:
        raise KeyringUnavailable("no answer")

    api.keyring.before_erasure_query = fail
    path = f"/v1/flags/{flag.flag_id}"
    assert_refused(api.send(path, DECISION), 503, "keyring_unavailable")
    api.flags.failure = ReadModelUnavailable("no answer")
    assert_refused(api.send(path, DECISION), 503, "read_model_unavailable")


def test_refusals_are_counted_by_what_was_asked_for() -> None:
    def counted(error: str) -> float:
        labels = {"command": "flag-decision", "error": error}
        return REGISTRY.get_sample_value("memledger_commands_refused_total", labels) or 0.0

    before = counted("UnknownFlag"), counted("InvalidInput")
    api = Api()
    api.send(f"/v1/flags/{uuid4()}", DECISION)
    api.send(f"/v1/flags/{uuid4()}", {})
    assert (counted("UnknownFlag"), counted("InvalidInput")) == (before[0] + 1, before[1] + 1)


def test_the_description_of_the_api_shows_each_body_whole() -> None:
    paths = Api().app.openapi()["paths"]
    for path, body in (
        ("/v1/memories", FACT),
        ("/v1/flags/{flag_id}", DECISION),
        ("/v1/conversations/end", END),
    ):
        schema = paths[path]["post"]["requestBody"]["content"]["application/json"]["schema"]
        assert set(schema["required"]) == set(body) - {"provenance"}
        assert "$ref" not in json.dumps(schema)
    fact = paths["/v1/memories"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    assert "residence" in fact["properties"]["slot"]["enum"]
    assert fact["properties"]["source"]["enum"] == ["system", "person"]
    (provenance,) = (it for it in fact["properties"]["provenance"]["anyOf"] if "properties" in it)
    assert set(provenance["properties"]) == {"system", "type", "reference"}
