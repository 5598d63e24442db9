"""What users decide about their own memories is appended as theirs, and about no others."""

from __future__ import annotations

import json
from typing import Any, Final

import httpx
import pytest
from fastapi import Request

from producers.curations import CurationAppender
from producers.own_routes import ACTOR, own_curation_router
from producers.subject_records import SubjectRecords
from schemas.commands import Curation, PersonCorrects, PersonDeletes, PersonPins
from schemas.errors import InvalidUserToken
from schemas.http import bearer_token
from schemas.memory import Source
from schemas.user_tokens import Audience, UserToken
from tests.support.log_writer import at
from tests.unit.producers.fakes import NOW
from tests.unit.producers.test_command_routes import JSON, Api, assert_refused
from tests.unit.producers.test_curation_routes import MEMORY

PATH: Final = f"/v1/me/memories/{MEMORY.memory_id}"


async def holder(request: Request) -> UserToken:
    """Tell whose token it is: it reads ``tenant/user``."""
    tenant, slash, user = bearer_token(request).partition("/")
    if not slash:
        raise InvalidUserToken("it is none")
    return UserToken(
        tenant=tenant,
        user_id=user,
        audience=Audience.PAGE,
        api_key_id=None,
        issued_at=at(0),
        expires_at=at(9),
    )


class Site(Api):
    """The routes, with one memory of one user."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = self.keyring.keys_of("acme", "ann")
        self.keyring.keys_of("acme", "bob")
        self.held["acme", "ann", MEMORY.memory_id] = MEMORY
        records = SubjectRecords(self.keyring, self.log, 4)
        curations = CurationAppender(records, self.find_memory, clock=lambda: NOW)
        self.app.include_router(own_curation_router(curations, holder))

    def own(
        self,
        method: str,
        path: str = PATH,
        body: dict[str, Any] | None = None,
        *,
        by: str = "acme/ann",
    ) -> httpx.Response:
        content = b"" if body is None else json.dumps(body).encode()
        return self.ask(method, path, content, {**JSON, "authorization": f"Bearer {by}"})

    def decided(self) -> Curation:
        ((_, curation),) = self.log.opened(Curation, self.keys)
        return curation


@pytest.mark.parametrize(
    ("method", "body", "decision"),
    [
        ("PATCH", {"content": "Lives in Jena"}, PersonCorrects),
        ("PATCH", {"pinned": True}, PersonPins),
        ("PATCH", {"content": "Lives in Jena", "pinned": False}, PersonCorrects),
        ("DELETE", None, PersonDeletes),
    ],
    ids=["correct", "pin", "both", "delete"],
)
def test_a_users_decision_is_a_curation_of_the_user(
    method: str, body: dict[str, Any] | None, decision: type
) -> None:
    site = Site()
    answer = site.own(method, body=body)
    assert answer.status_code == 202
    curation = site.decided()
    assert answer.json()["turn_id"] == str(curation.turn_id)
    assert answer.json()["position"]
    assert (curation.source, curation.actor) == (Source.CURATION, ACTOR)
    assert type(curation.decision) is decision
    assert isinstance(curation.decision, PersonCorrects | PersonPins | PersonDeletes)
    assert curation.decision.memory == MEMORY


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_memory_of_another_is_answered_like_none_at_all(method: str) -> None:
    body = {"content": "Lives in Jena"} if method == "PATCH" else None
    site = Site()
    answers = [
        site.own(method, body=body, by="acme/bob"),
        site.own(method, body=body, by="acme-corp/ann"),
        site.own(method, body=body, by="acme/nobody"),
        site.own(method, f"/v1/me/memories/{NOW:%Y}", body=body),
        site.own(method, "/v1/me/memories/00000000-0000-0000-0000-000000000001", body=body),
    ]
    for answer in answers:
        assert_refused(answer, 404, "unknown_memory")
    assert len({answer.text for answer in answers}) == 1
    assert not site.log.opened(Curation, site.keys)


@pytest.mark.parametrize("named", ["user_id", "tenant", "actor"])
def test_nothing_but_the_token_tells_whose_memory_it_is(named: str) -> None:
    site = Site()
    refusals = [
        site.own("PATCH", body={"content": "Lives in Jena", named: "ann"}, by="acme/bob"),
        site.own("PATCH", f"{PATH}?{named}=ann", {"content": "x"}, by="acme/bob"),
        site.own("DELETE", f"{PATH}?{named}=ann", by="acme/bob"),
    ]
    for refusal in refusals:
        assert_refused(refusal, 422, "invalid_input")
        assert refusal.json()["errors"][0]["field"] == named
    assert not site.log.opened(Curation, site.keys)


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_without_a_token_nothing_is_read_or_appended(method: str) -> None:
    site = Site()
    assert_refused(site.own(method, by="key-of-acme"), 401, "invalid_user_token")
    assert not site.log.opened(Curation, site.keys)


@pytest.mark.parametrize(
    "body",
    [{}, {"content": " "}, {"content": 1}, {"pinned": "yes"}, {"importance": 5}],
    ids=["empty", "blank", "number", "text", "more"],
)
def test_what_changes_nothing_or_is_no_correction_is_refused(body: dict[str, Any]) -> None:
    site = Site()
    assert_refused(site.own("PATCH", body=body), 422, "invalid_input")
    assert not site.log.opened(Curation, site.keys)
