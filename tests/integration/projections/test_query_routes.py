"""Recall and listing over HTTP: scope, refusals and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from typing import Any
from uuid import UUID, uuid4

import httpx
from fastapi import FastAPI
from starlette.requests import Request

from projections.flag_routes import flag_router
from projections.flags import PostgresFlags
from projections.memories import Memories
from projections.routes import REQUEST_BYTES_MAX, query_router
from schemas.errors import InvalidApiKey, KeyringUnavailable, UnknownTenant
from schemas.http import MEDIA_TYPE, install_problem_handlers
from schemas.injection import BLOCK_START
from tests.support.log_writer import NOON
from tests.support.stored import Stored, stored, subject_in

TENANT = "acme"


class _Gateway:
    """The routes over a real read model, with a directory of two tenants' users."""

    def __init__(self, tables: Stored, client: httpx.AsyncClient) -> None:
        self.tables = tables
        self.client = client
        self.subjects: dict[tuple[str, str], UUID] = {}

    async def find_subject(self, tenant: str, user_id: str) -> UUID | None:
        if tenant == "no-such-tenant":
            raise UnknownTenant("no tenant of that name")
        if tenant == "keyring-down":
            raise KeyringUnavailable("the keyring does not answer")
        return self.subjects.get((tenant, user_id))

    async def user_ids(self, subjects: Collection[UUID]) -> dict[UUID, str]:
        """Return the users of subjects; an erased one is not among those that are known."""
        known = {subject: user for (_, user), subject in self.subjects.items()}
        return {subject: known[subject] for subject in subjects if subject in known}

    async def flags(self, tenant: str = TENANT, /, **query: Any) -> httpx.Response:
        headers = {"authorization": f"Bearer {tenant}"}
        return await self.client.get("/v1/flags", params=query, headers=headers)

    async def authenticate(self, request: Request) -> str:
        token = request.headers.get("authorization", "")
        if not token.startswith("Bearer "):
            raise InvalidApiKey("send Authorization: Bearer <key>")
        return token.removeprefix("Bearer ")

    async def recall(self, tenant: str = TENANT, /, **body: Any) -> httpx.Response:
        asked = {"user_id": "ann", "query": "where do I live?", **body}
        headers = {"authorization": f"Bearer {tenant}"}
        return await self.client.post("/v1/recall", json=asked, headers=headers)

    async def memories(self, tenant: str = TENANT, /, **query: Any) -> httpx.Response:
        asked = {"user_id": "ann", **query}
        headers = {"authorization": f"Bearer {tenant}"}
        return await self.client.get("/v1/memories", params=asked, headers=headers)


def _play(database_url: str, act: Callable[[_Gateway], Awaitable[None]]) -> None:
    async def play() -> None:
        app = FastAPI()
        install_problem_handlers(app)
        transport = httpx.ASGITransport(app, raise_app_exceptions=False)
        async with (
            stored(database_url, wait_s=0.05) as tables,
            httpx.AsyncClient(transport=transport, base_url="http://gateway") as client,
        ):
            gateway = _Gateway(tables, client)
            router = query_router(
                recall=tables.recall,
                memories=Memories(tables.read_model),
                authenticate=gateway.authenticate,
                find_subject=gateway.find_subject,
            )
            app.include_router(router)
            app.include_router(
                flag_router(
                    flags=PostgresFlags(tables.read_model),
                    authenticate=gateway.authenticate,
                    find_subject=gateway.find_subject,
                    user_ids=gateway.user_ids,
                )
            )
            await act(gateway)

    asyncio.run(play())


def _fields(response: httpx.Response) -> list[str]:
    assert response.headers["content-type"] == MEDIA_TYPE
    return [error["field"] for error in response.json()["errors"]]


def test_a_recall_serves_memories_with_the_block_for_a_prompt(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        subject = gateway.subjects[TENANT, "ann"] = subject_in(2)
        version = await gateway.tables.add(subject, content="Lives in Zürich.", quote="I live in Z")
        await gateway.tables.turn(subject, 4, closing="stored")
        response = await gateway.recall(at_least="2:4", explain=True)
        assert response.status_code == 200
        body = response.json()
        (memory,) = body["memories"]
        assert memory["memory_id"] == str(version.memory_id)
        assert (memory["content"], memory["quote"]) == ("Lives in Zürich.", "I live in Z")
        assert memory["valid_from"] == "2026-03-01T12:00:00Z"
        assert body["injection"].startswith(BLOCK_START)
        assert "2026-03-01: Lives in Zürich." in body["injection"]
        assert (body["reason"], body["position"], body["generation"]) == (None, "2:4", "g1")
        assert body["policy"] == "gated"
        assert str(UUID(body["recall_id"])) == body["recall_id"]
        assert body["explanation"]["embedder"] == "angle"

    _play(postgres_url, act)


def test_the_two_reasons_for_nothing_are_told_apart(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        unknown = (await gateway.recall()).json()
        gateway.subjects[TENANT, "ann"] = uuid4()
        known = (await gateway.recall()).json()
        assert unknown["reason"] == known["reason"] == "none_stored"
        # A user of whom nothing is stored and one who never was differ in nothing.
        assert unknown | {"recall_id": ""} == known | {"recall_id": ""}
        assert unknown["injection"] == ""

        await gateway.tables.add(gateway.subjects[TENANT, "ann"], cosine=0.1)
        assert (await gateway.recall()).json()["reason"] == "none_above_threshold"

    _play(postgres_url, act)


def test_a_tenant_is_named_by_the_key_alone(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        named = await gateway.recall("acme", tenant="acme-corp")
        assert (named.status_code, _fields(named)) == (422, ["tenant"])

    _play(postgres_url, act)


def test_an_unknown_scope_is_an_error_and_never_empty(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        body = {"user_id": "ann", "query": "q"}
        assert (await gateway.client.post("/v1/recall", json=body)).status_code == 401
        unauthenticated = await gateway.client.get("/v1/memories", params={"user_id": "ann"})
        assert unauthenticated.status_code == 401
        for tenant, status in (("no-such-tenant", 403), ("keyring-down", 503)):
            assert (await gateway.recall(tenant)).status_code == status
            assert (await gateway.memories(tenant)).status_code == status

    _play(postgres_url, act)


def test_what_cannot_be_asked_is_refused_by_name(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        refused: list[tuple[dict[str, Any], str]] = [
            ({"top_k": 3}, "top_k"),
            ({"limit": 0}, "limit"),
            ({"limit": 101}, "limit"),
            ({"limit": "3"}, "limit"),
            ({"min_similarity": 1.5}, "min_similarity"),
            ({"query": " "}, "query"),
            ({"query": "a\0"}, "query"),
            ({"query": None}, "query"),
            ({"user_id": ""}, "user_id"),
            ({"user_id": 7}, "user_id"),
            ({"user_id": "a\u0007"}, "user_id"),
            ({"as_of": "2026"}, "as_of"),
            ({"as_of": 1767225600}, "as_of"),
            ({"known_at": "soon"}, "known_at"),
            ({"at_least": "here"}, "at_least"),
            ({"explain": "yes"}, "explain"),
        ]
        gateway.subjects[TENANT, "ann"] = subject_in(0)
        for body, field in refused:
            response = await gateway.recall(**body)
            assert (response.status_code, _fields(response)) == (422, [field]), body
        listed: list[tuple[dict[str, Any], str]] = [
            ({"colour": "red"}, "colour"),
            ({"limit": 0}, "limit"),
            ({"history": "perhaps"}, "history"),
            ({"as_of": "2026"}, "as_of"),
            ({"history": "true", "as_of": "2026-03-01T00:00:00Z"}, "as_of"),
            ({"cursor": "x"}, "cursor"),
            ({"user_id": " "}, "user_id"),
        ]
        for query, field in listed:
            response = await gateway.memories(**query)
            assert (response.status_code, _fields(response)) == (422, [field]), query

    _play(postgres_url, act)


def test_a_body_that_is_no_question_is_refused(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        headers = {"authorization": f"Bearer {TENANT}", "content-type": "application/json"}
        for content, status, field in (
            (b"", 422, "body"),
            (b"{", 422, "body"),
            (b"[]", 422, "body"),
            (b"\xff\xfe", 422, "body"),
            (b'{"user_id": "\\ud800", "query": "q"}', 422, "user_id"),
            (b"[" * 50_000, 422, "body"),
            (b'{"query": "q"}', 422, "user_id"),
            (b" " * (REQUEST_BYTES_MAX + 1), 413, "body"),
        ):
            response = await gateway.client.post("/v1/recall", content=content, headers=headers)
            assert (response.status_code, _fields(response)) == (status, [field]), content[:40]
        marked = b"\xef\xbb\xbf" + json.dumps({"user_id": "ann", "query": "q"}).encode()
        response = await gateway.client.post("/v1/recall", content=marked, headers=headers)
        assert response.status_code == 200

    _play(postgres_url, act)


def test_a_position_that_is_not_reached_in_time_is_a_gateway_timeout(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        gateway.subjects[TENANT, "ann"] = subject_in(2)
        response = await gateway.recall(at_least="2:0")
        assert response.status_code == 504
        assert response.json()["code"] == "not_caught_up"
        assert response.headers["retry-after"] == "1"

    _play(postgres_url, act)


def test_memories_are_listed_page_by_page(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        subject = gateway.subjects[TENANT, "ann"] = uuid4()
        for _ in range(3):
            await gateway.tables.add(subject)
        wrong = await gateway.tables.add(subject)
        await gateway.tables.retract(subject, wrong, recorded_at=NOON)
        seen: list[str] = []
        cursor: dict[str, str] = {}
        while True:
            page = (await gateway.memories(history="true", limit=2, **cursor)).json()
            seen += [memory["memory_id"] for memory in page["memories"]]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert len(seen) == len(set(seen)) == 4
        live = (await gateway.memories()).json()["memories"]
        assert {memory["state"] for memory in live} == {"live"}
        past = await gateway.memories(as_of="2026-03-01T13:00:00+01:00")
        assert len(past.json()["memories"]) == 3

    _play(postgres_url, act)


def test_staff_sees_the_flags_of_its_own_users_page_by_page(postgres_url: str) -> None:
    async def act(gateway: _Gateway) -> None:
        tables = gateway.tables
        ann = gateway.subjects[TENANT, "ann"] = uuid4()
        ben = gateway.subjects[TENANT, "ben"] = uuid4()
        stranger = gateway.subjects["other", "ann"] = uuid4()
        waiting = [await tables.flag(ann, TENANT, minutes=minutes) for minutes in (1, 3, 5)]
        of_ben = await tables.flag(ben, TENANT, minutes=2)
        decided = [await tables.flag(ann, TENANT, minutes=m, decided=True) for m in (7, 9)]
        await tables.flag(stranger, "other")
        erased = await tables.flag(uuid4(), TENANT, minutes=4)

        async def listed(**query: Any) -> list[dict[str, Any]]:
            flags: list[dict[str, Any]] = []
            cursor: dict[str, str] = {}
            while True:
                page = (await gateway.flags(limit=2, **query, **cursor)).json()
                flags += page["flags"]
                if page["next_cursor"] is None:
                    return flags
                cursor = {"cursor": page["next_cursor"]}

        queue = await listed()
        assert [flag["flag_id"] for flag in queue] == [
            str(flag) for flag in (waiting[0], of_ben, waiting[1], waiting[2])
        ]
        assert [flag["user_id"] for flag in queue] == ["ann", "ben", "ann", "ann"]
        assert str(erased) not in {flag["flag_id"] for flag in queue}
        assert (queue[0]["state"], queue[0]["verdict"]) == ("open", None)
        assert queue[0]["operation"]["content"] == "Gets 50% off"
        assert queue[0]["reasons"] == ["contradiction"]

        shown = await listed(state="approved")
        assert [flag["flag_id"] for flag in shown] == [str(flag) for flag in reversed(decided)]
        assert shown[0]["verdict"]["actor"] == "ann"
        assert await listed(state="refused") == []
        assert [flag["flag_id"] for flag in await listed(user_id="ben")] == [str(of_ben)]
        assert await listed(user_id="nobody") == []
        assert len((await gateway.flags("other")).json()["flags"]) == 1

        first = (await gateway.flags(limit=2)).json()["next_cursor"]
        assert _fields(await gateway.flags(limit=2, cursor=first, user_id="ben")) == ["cursor"]
        assert _fields(await gateway.flags(state="decided")) == ["state"]
        assert _fields(await gateway.flags(limit=0)) == ["limit"]
        assert _fields(await gateway.flags(user="ann")) == ["user"]
        assert (await gateway.flags("no-such-tenant", user_id="ann")).status_code == 403

    _play(postgres_url, act)
