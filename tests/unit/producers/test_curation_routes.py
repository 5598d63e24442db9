"""What a person decides about memories is appended once, of the user's own memories alone."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

import httpx
import pytest

from producers.curations import unknown_memory
from projections.memories import unknown_memory as unknown_memory_of_listing
from schemas.commands import (
    CuratedMemory,
    Curation,
    PersonCorrects,
    PersonDeletes,
    PersonPins,
    PersonRemembers,
    SystemFact,
)
from schemas.errors import LogUnavailable
from schemas.memory import MemoryKind, Source
from schemas.slots import Slot
from tests.unit.producers.fakes import NOW
from tests.unit.producers.test_command_routes import JSON, Api, assert_refused
from tests.unit.producers.test_commands_input import FACT

MEMORY = CuratedMemory(
    memory_id=UUID(int=7),
    lineage_id=UUID(int=6),
    kind=MemoryKind.SEMANTIC,
    slot=Slot.RESIDENCE,
    about="user",
    content="Lives in Berlin",
    importance=3,
    valid_from=NOW,
    turn_id=UUID(int=5),
    quote="I live in Berlin",
)
PATH = f"/v1/memories/{MEMORY.memory_id}"
STATEMENT = {
    "user_id": "ann",
    "content": "Is vegetarian",
    "kind": "semantic",
    "slot": "diet",
    "source": "person",
}


def replace_id(memory: CuratedMemory, memory_id: UUID) -> CuratedMemory:
    """Return the same memory under another id."""
    return memory.model_copy(update={"memory_id": memory_id})


class Site(Api):
    """The routes with one memory of one user."""

    def __init__(self) -> None:
        super().__init__()
        self.keys = self.keyring.keys_of("acme", "ann")
        self.held["acme", "ann", MEMORY.memory_id] = MEMORY

    def patch(self, fields: dict[str, Any], *, path: str = PATH, **headers: str) -> httpx.Response:
        body = json.dumps({"user_id": "ann"} | fields).encode()
        return self.ask("PATCH", path, body, JSON | headers)

    def delete(self, path: str = PATH, user_id: str = "ann", **fields: str) -> httpx.Response:
        return self.ask("DELETE", f"{path}?{urlencode({'user_id': user_id} | fields)}")

    def decided(self) -> Curation:
        ((_, curation),) = self.log.opened(Curation, self.keys)
        return curation


class TestRemembering:
    def test_what_a_person_states_is_a_curation_with_the_key_as_its_actor(self) -> None:
        site = Site()
        response = site.send("/v1/memories", STATEMENT)
        assert response.status_code == 202
        curation = site.decided()
        assert response.json()["turn_id"] == str(curation.turn_id)
        assert (curation.source, curation.actor) == (Source.CURATION, "api-key key-of-acme")
        assert curation.decision == PersonRemembers(
            kind=MemoryKind.SEMANTIC,
            slot=Slot.DIET,
            about="user",
            content="Is vegetarian",
            importance=3,
        )

    def test_everything_that_may_be_told_is_kept(self) -> None:
        site = Site()
        told = {
            "about": "sister",
            "importance": 5,
            "pinned": True,
            "actor": "eve",
            "valid_from": "2026-02-01T00:00:00Z",
            "expires_at": "2027-02-01T00:00:00Z",
        }
        assert site.send("/v1/memories", STATEMENT | told).status_code == 202
        curation = site.decided()
        assert isinstance(curation.decision, PersonRemembers)
        assert (curation.actor, curation.decision.pinned) == ("eve", True)
        assert (curation.decision.about, curation.decision.importance) == ("sister", 5)
        assert curation.decision.valid_from is not None
        assert curation.decision.expires_at is not None

    def test_a_systems_fact_stays_a_systems_fact(self) -> None:
        site = Site()
        assert site.send("/v1/memories", FACT).status_code == 202
        curation = site.decided()
        assert isinstance(curation.decision, SystemFact)
        assert curation.source is Source.SYSTEM

    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"provenance": {"system": "s", "type": "t"}}, "provenance"),
            ({"content": " "}, "content"),
            ({"actor": " "}, "actor"),
            ({"actor": ""}, "actor"),
            ({"pinned": "yes"}, "pinned"),
            ({"source": "curation"}, "source"),
            ({"id": ""}, "id"),
        ],
    )
    def test_what_cannot_be_used_is_refused_by_its_field(
        self, changed: dict[str, object], field: str
    ) -> None:
        site = Site()
        response = site.send("/v1/memories", STATEMENT | changed)
        assert_refused(response, 422, "invalid_input")
        assert response.json()["errors"][0]["field"] == field
        assert site.log.records == []


class TestCorrecting:
    def test_a_correction_carries_what_it_is_about_and_what_is_to_change(self) -> None:
        site = Site()
        response = site.patch({"content": "Lives in Bern", "importance": 4, "reason": "a typo"})
        assert response.status_code == 202
        assert site.decided().decision == PersonCorrects(
            memory=MEMORY, content="Lives in Bern", importance=4, reason="a typo"
        )

    @pytest.mark.parametrize("pinned", [True, False])
    def test_a_pin_alone_is_a_pin(self, *, pinned: bool) -> None:
        site = Site()
        assert site.patch({"pinned": pinned}).status_code == 202
        assert site.decided().decision == PersonPins(memory=MEMORY, pinned=pinned)

    def test_a_correction_may_pin(self) -> None:
        site = Site()
        assert site.patch({"kind": "procedural", "pinned": True}).status_code == 202
        assert site.decided().decision == PersonCorrects(
            memory=MEMORY, kind=MemoryKind.PROCEDURAL, pinned=True
        )

    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({}, "body"),
            ({"reason": "why not"}, "body"),
            ({"content": "\u200b"}, "content"),
            ({"about": " "}, "about"),
            ({"slot": "home"}, "slot"),
            ({"importance": 6}, "importance"),
            ({"content": "x", "user_id": ""}, "user_id"),
            ({"content": "x", "valid_from": "2026-01-01T00:00:00Z"}, "valid_from"),
            ({"content": "x", "actor": ""}, "actor"),
        ],
    )
    def test_what_cannot_be_used_is_refused_by_its_field(
        self, fields: dict[str, object], field: str
    ) -> None:
        site = Site()
        response = site.patch(fields)
        assert_refused(response, 422, "invalid_input")
        assert response.json()["errors"][0]["field"] == field
        assert site.log.records == []

    def test_whose_memory_it_is_must_be_told(self) -> None:
        site = Site()
        response = site.ask("PATCH", PATH, b'{"content": "x"}')
        assert_refused(response, 422, "invalid_input")
        assert response.json()["errors"][0]["field"] == "user_id"
        ignored = site.patch({"content": "x"}, path=f"{PATH}?user_id=ann")
        assert_refused(ignored, 422, "invalid_input")


class TestDeleting:
    def test_a_deletion_carries_what_it_is_about(self) -> None:
        site = Site()
        response = site.delete(reason="private", actor="eve")
        assert response.status_code == 202
        curation = site.decided()
        assert curation.decision == PersonDeletes(memory=MEMORY, reason="private")
        assert curation.actor == "eve"

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("", "user_id"),
            ("user_id=", "user_id"),
            ("user_id=ann&user_id=ben", "user_id"),
            ("user_id=%ff", "user_id"),
            ("user_id=ann&tenant=other", "tenant"),
            ("user_id=ann&reason=", "reason"),
            ("user_id=ann&actor=", "actor"),
        ],
    )
    def test_an_address_that_cannot_be_used_is_refused_by_its_parameter(
        self, query: str, field: str
    ) -> None:
        site = Site()
        response = site.ask("DELETE", f"{PATH}?{query}")
        assert_refused(response, 422, "invalid_input")
        assert response.json()["errors"][0]["field"] == field
        assert site.log.records == []


class TestWhoseMemory:
    @pytest.mark.parametrize("method", ["PATCH", "DELETE"])
    def test_another_users_and_another_tenants_memory_are_answered_like_none(
        self, method: str
    ) -> None:
        site = Site()
        site.keyring.keys_of("acme", "ben")
        site.keyring.keys_of("other", "ann")

        def asked(path: str, user: str, key: str = "key-of-acme") -> httpx.Response:
            headers = {**JSON, "authorization": f"Bearer {key}"}
            if method == "DELETE":
                return site.ask(method, f"{path}?user_id={user}", headers=headers)
            body = json.dumps({"user_id": user, "content": "x"}).encode()
            return site.ask(method, path, body, headers)

        answers = [
            asked(PATH, "ben"),
            asked(PATH, "ann", "key-of-other"),
            asked(PATH, "nobody"),
            *(asked(f"/v1/memories/{name}", "ann") for name in (uuid4(), "x", "%00", "7" * 900)),
        ]
        for answer in answers:
            assert_refused(answer, 404, "unknown_memory")
            assert answer.content == answers[0].content
        assert site.log.records == []
        assert ("acme", "nobody") not in site.keyring.living

    def test_every_door_words_it_alike(self) -> None:
        assert str(unknown_memory()) == str(unknown_memory_of_listing())

    def test_a_user_erased_meanwhile_is_answered_like_none(self) -> None:
        site = Site()
        del site.keyring.living["acme", "ann"]
        assert_refused(site.delete(), 404, "unknown_memory")


class TestRetries:
    def test_a_decision_sent_again_under_its_id_has_the_same_id(self) -> None:
        site = Site()
        answers = [
            site.patch({"content": "Lives in Bern", "id": "d1"}),
            site.patch({"content": "Lives in Bern"}, **{"idempotency-key": "d1"}),
            site.patch({"content": "Lives in Bern", "id": "d1"}, **{"idempotency-key": "d1"}),
        ]
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["turn_id"] for answer in answers}) == 1
        deletions = [site.delete(id="d1") for _ in range(2)]
        assert len({answer.json()["turn_id"] for answer in deletions}) == 1
        statements = [site.send("/v1/memories", STATEMENT | {"id": "d1"}) for _ in range(2)]
        assert len({answer.json()["turn_id"] for answer in statements}) == 1

    def test_another_decision_under_the_same_id_is_one_of_its_own(self) -> None:
        """A deletion that counted as what was decided before under its id would be lost."""
        site = Site()
        other = replace_id(MEMORY, UUID(int=8))
        site.held["acme", "ann", other.memory_id] = other
        answers = [
            site.send("/v1/memories", STATEMENT | {"id": "d1"}),
            site.patch({"content": "Lives in Bern", "id": "d1"}),
            site.patch({"pinned": True, "id": "d1"}),
            site.delete(id="d1"),
            site.delete(f"/v1/memories/{other.memory_id}", id="d1"),
        ]
        assert {answer.status_code for answer in answers} == {202}
        assert len({answer.json()["turn_id"] for answer in answers}) == len(answers)

    def test_without_one_every_request_is_a_new_decision(self) -> None:
        site = Site()
        assert len({site.delete().json()["turn_id"] for _ in range(3)}) == 3

    def test_two_that_differ_are_refused(self) -> None:
        site = Site()
        response = site.patch({"content": "x", "id": "d1"}, **{"idempotency-key": "d2"})
        assert_refused(response, 422, "invalid_input")
        assert response.json()["errors"][0]["field"] == "id"

    def test_ids_of_systems_facts_are_others(self) -> None:
        site = Site()
        fact = site.send("/v1/memories", FACT | {"id": "d1"})
        assert fact.json()["turn_id"] != site.delete(id="d1").json()["turn_id"]


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
def test_a_user_who_has_paused_memory_may_decide_all_the_same(method: str) -> None:
    site = Site()
    site.keyring.paused.add(("acme", "ann"))
    answer = site.delete() if method == "DELETE" else site.patch({"pinned": True})
    assert answer.status_code == 202


def test_what_the_log_does_not_take_is_told() -> None:
    site = Site()
    site.log.fail = lambda _number: LogUnavailable("no answer")
    for answer in (
        site.delete(),
        site.patch({"pinned": True}),
        site.send("/v1/memories", STATEMENT),
    ):
        assert_refused(answer, 503, "log_unavailable")


def test_the_description_of_the_api_shows_what_may_be_sent() -> None:
    paths = Site().app.openapi()["paths"]["/v1/memories/{memory_id}"]
    schema = paths["patch"]["requestBody"]["content"]["application/json"]["schema"]
    assert schema["required"] == ["user_id"]
    names = {one["name"]: one["required"] for one in paths["delete"]["parameters"]}
    assert names["user_id"] is True
    assert {"reason", "actor", "id", "Idempotency-Key", "memory_id"} <= names.keys()
