"""What a user token shows: all of its user, and of nobody else anything, by any of its routes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

import httpx
import pytest
from fastapi import FastAPI, Request

from deploy.embedded import EmbeddedPostgres
from deploy.processes.own_user import own_user_router, page_holder
from deploy.processes.user_tokens import UserTokenHolders
from projections import reading
from projections.export import Export
from projections.export_routes import export_router
from projections.files.listings import FileListings
from projections.flags import PostgresFlags
from projections.memories import Memories
from projections.memory_search import MemorySearch
from projections.own_routes import own_router
from projections.summaries import PostgresSummaries
from projections.turns import PostgresTurns
from schemas.errors import InvalidApiKey, RateLimited
from schemas.http import bearer_token, install_problem_handlers
from schemas.keyring import Pause
from schemas.user_tokens import Audience, UserTokens
from tests import conftest
from tests.support.log_writer import NOON, at
from tests.support.stored import GENERATION, PARTITIONS, Stored, stored

fresh_database = contextmanager(conftest._fresh_database)

ANN, BOB, OTHER = ("acme", "ann"), ("acme", "bob"), ("acme-corp", "ann")
KEY_IDS: Final = {"acme": "aaaa", "acme-corp": "bbbb"}


class _Keys:
    def newest(self) -> tuple[int, bytes]:
        return 1, b"k" * 32

    def numbered(self, number: int) -> bytes | None:
        return b"k" * 32 if number == 1 else None


@dataclass
class Site:
    """The routes over a real read model.

    Attributes:
        tables: the read model, and hands to fill it.
        client: asks the routes.
        tokens: makes tokens.
        subjects: whose memories are whose.
        revoked: the ids of API keys that are not valid any more.
        paused: who has paused memory.
        admitted: the tenants of the requests that were counted; at ``full`` of them no more are.
    """

    tables: Stored
    client: httpx.AsyncClient
    tokens: UserTokens
    subjects: dict[tuple[str, str], UUID]
    revoked: set[str]
    paused: set[tuple[str, str]]
    admitted: list[str]
    full: int = 1_000

    async def find_subject(self, tenant: str, user_id: str) -> UUID | None:
        return self.subjects.get((tenant, user_id))

    async def tenant_of_api_key(self, key_id: str) -> str | None:
        known = {key: tenant for tenant, key in KEY_IDS.items()}
        return None if key_id in self.revoked else known.get(key_id)

    async def pause(self, tenant: str, user_id: str) -> Pause:
        paused = (tenant, user_id) in self.paused
        return Pause(paused=paused, since=NOON if paused else None)

    async def set_paused(self, tenant: str, user_id: str, *, paused: bool) -> Pause:
        (self.paused.add if paused else self.paused.discard)((tenant, user_id))
        return await self.pause(tenant, user_id)

    def admit(self, tenant: str) -> None:
        if len(self.admitted) >= self.full:
            raise RateLimited("that is too much")
        self.admitted.append(tenant)

    def token(self, user: tuple[str, str], audience: Audience = Audience.PAGE) -> str:
        tenant, user_id = user
        token, _ = self.tokens.mint(
            tenant=tenant, user_id=user_id, audience=audience, api_key_id=KEY_IDS[tenant]
        )
        return token

    async def ask(
        self, user: tuple[str, str] | str, path: str = "", method: str = "GET", **more: Any
    ) -> httpx.Response:
        token = user if isinstance(user, str) else self.token(user)
        headers = {"authorization": f"Bearer {token}"}
        return await self.client.request(method, f"/v1/me{path}", headers=headers, **more)


@asynccontextmanager
async def opened(database_url: str) -> AsyncIterator[Site]:
    app = FastAPI()
    install_problem_handlers(app)
    transport = httpx.ASGITransport(app, raise_app_exceptions=True)
    async with (
        stored(database_url) as tables,
        httpx.AsyncClient(transport=transport, base_url="http://gateway") as client,
    ):
        subjects = {user: uuid4() for user in (ANN, BOB, OTHER)}
        site = Site(tables, client, UserTokens(_Keys()), subjects, set(), set(), [])
        holder = page_holder(UserTokenHolders(site.tokens, site), site.admit)
        listing = Memories(tables.read_model, clock=lambda: NOON)
        export = Export(
            listing,
            FileListings(tables.read_model),
            PostgresSummaries(tables.read_model),
            PostgresFlags(tables.read_model),
        )

        async def authenticate(request: Request) -> str:
            token = bearer_token(request)
            if token not in KEY_IDS:
                raise InvalidApiKey("no such key")
            return token

        app.include_router(
            own_user_router(holder=holder, pause=site.pause, set_paused=site.set_paused)
        )
        app.include_router(
            own_router(
                memories=listing,
                search=MemorySearch(listing, generation=GENERATION),
                export=export,
                turns=PostgresTurns(tables.read_model, partitions=PARTITIONS),
                holder=holder,
                find_subject=site.find_subject,
            )
        )
        app.include_router(
            export_router(export=export, authenticate=authenticate, find_subject=site.find_subject)
        )
        yield site


@pytest.fixture(scope="module")
def database_url(postgres: EmbeddedPostgres) -> Iterator[str]:
    """One database: every test has subjects of its own."""
    with fresh_database(postgres) as url:
        yield url


def play(database_url: str, act: Callable[[Site], Awaitable[None]]) -> None:
    async def run() -> None:
        async with opened(database_url) as site:
            await act(site)

    asyncio.run(run())


async def fill(site: Site) -> dict[str, UUID]:
    """Store a fact of ann's that changed, one that was merged from two, and one of each other's."""
    tables, subject = site.tables, site.subjects[ANN]
    before = await tables.add(
        subject, content="Lives in Bangalore", quote="I live in Bangalore", recorded_at=at(-50)
    )
    await tables.close(subject, before, valid_to=at(-20), recorded_at=at(-20))
    now = await tables.add(
        subject,
        content="Lives in Pune",
        quote="I moved to Pune",
        lineage_id=before.memory_id,
        recorded_at=at(-20),
    )
    sources = [
        await tables.add(subject, content=f"Ran {km} km", quote=f"{km} km!", recorded_at=at(-km))
        for km in (5, 7)
    ]
    merged = await tables.add(
        subject,
        content="Runs",
        quote="",
        merged_from=tuple(source.memory_id for source in sources),
        recorded_at=at(-1),
    )
    for source in sources:
        await tables.merge(subject, source, into=merged, recorded_at=at(-1))
    for other in (BOB, OTHER):
        await tables.add(site.subjects[other], content=f"Of {other}", recorded_at=at(-9))
    await tables.turn(subject, 4, closing="stored")
    (turn,) = await reading.read_rows(
        tables.read_model,
        subject,
        "SELECT turn_id FROM turns WHERE subject = %(s)s",
        {"s": subject},
    )
    return {
        "home": now.memory_id,
        "before": before.memory_id,
        "merged": merged.memory_id,
        "turn": turn["turn_id"],
    }


def contents(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    return [memory["content"] for memory in answer.json()["memories"]]


def test_users_see_all_of_their_own(database_url: str) -> None:
    async def act(site: Site) -> None:
        ids = await fill(site)
        assert contents(await site.ask(ANN, "/memories")) == ["Runs", "Lives in Pune"]
        first = await site.ask(ANN, "/memories?limit=1")
        following = first.json()["next_cursor"]
        rest = await site.ask(ANN, f"/memories?limit=1&cursor={following}")
        assert contents(first) + contents(rest) == ["Runs", "Lives in Pune"]

        for version in ("home", "before"):
            history = await site.ask(ANN, f"/memories/{ids[version]}/history")
            assert contents(history) == ["Lives in Pune", "Lives in Bangalore"]
        quotes = [memory["quote"] for memory in history.json()["memories"]]
        assert quotes == ["I moved to Pune", "I live in Bangalore"]
        first = await site.ask(ANN, f"/memories/{ids['home']}/history?limit=1")
        following = first.json()["next_cursor"]
        rest = await site.ask(ANN, f"/memories/{ids['home']}/history?limit=1&cursor={following}")
        assert contents(first) + contents(rest) == ["Lives in Pune", "Lives in Bangalore"]
        assert rest.json()["next_cursor"] is None
        merged = await site.ask(ANN, f"/memories/{ids['merged']}/history")
        assert contents(merged) == ["Runs", "Ran 5 km", "Ran 7 km"]

        searched = await site.ask(ANN, "/search", "POST", json={"query": "PUNE moved"})
        assert contents(searched) == ["Lives in Pune"]
        turn = await site.ask(ANN, f"/turns/{ids['turn']}")
        assert turn.json()["closing"] == "stored"

        document = (await site.ask(ANN, "/export")).json()
        assert len(document["memories"]) == document["counts"]["memories"] == 5
        by_key = await site.client.get(
            "/v1/export", params={"user_id": "ann"}, headers={"authorization": "Bearer acme"}
        )
        assert by_key.json()["memories"] == document["memories"]
        assert "attachment" in by_key.headers["content-disposition"]

    play(database_url, act)


def test_whose_data_it_is_follows_from_the_token_alone(database_url: str) -> None:
    async def act(site: Site) -> None:
        ids = await fill(site)
        paths = ("", "/memories", f"/memories/{ids['home']}/history", "/export")
        for path in (*paths, f"/turns/{ids['turn']}"):
            refused = await site.ask(BOB, f"{path}?user_id=ann")
            assert (refused.status_code, refused.json()["code"]) == (422, "invalid_input"), path
        for body in ({"query": "pune", "user_id": "ann"}, {"query": "pune", "tenant": "acme"}):
            assert (await site.ask(BOB, "/search", "POST", json=body)).status_code == 422
        paused = {"paused": True, "user_id": "ann"}
        assert (await site.ask(BOB, "/pause", "PUT", json=paused)).status_code == 422
        assert site.paused == set()

    play(database_url, act)


def test_a_user_is_told_who_they_are_and_pauses_for_themselves(database_url: str) -> None:
    async def act(site: Site) -> None:
        me = (await site.ask(ANN)).json()
        assert (me["user_id"], me["paused"], me["paused_since"]) == ("ann", False, None)
        assert me["expires_at"].endswith("Z")
        answer = (await site.ask(ANN, "/pause", "PUT", json={"paused": True})).json()
        assert (answer["paused"], answer["paused_since"]) == (True, "2026-03-01T12:00:00Z")
        assert site.paused == {ANN}
        assert (await site.ask(BOB)).json()["paused"] is False
        await site.ask(ANN, "/pause", "PUT", json={"paused": False})
        assert site.paused == set()

    play(database_url, act)


def test_only_a_good_token_of_this_door_opens_it_and_each_request_counts(
    database_url: str,
) -> None:
    async def act(site: Site) -> None:
        ids = await fill(site)
        paths = ["", "/memories", "/export", f"/turns/{ids['turn']}"]
        paths.append(f"/memories/{ids['home']}/history")
        good = site.token(ANN)
        bad = [site.token(ANN, Audience.MCP), f"{good}x", "acme", "mlu_", good.replace(".", "..")]
        for path in paths:
            for token in bad:
                refused = await site.ask(token, path)
                assert (refused.status_code, refused.json()["code"]) == (401, "invalid_user_token")
                assert "Pune" not in refused.text
            bare = await site.client.get(f"/v1/me{path}")
            assert (bare.status_code, bare.json()["code"]) == (401, "invalid_user_token")
        assert site.admitted == []
        assert (await site.ask(good)).status_code == 200
        assert site.admitted == ["acme"]
        site.full = 1
        assert (await site.ask(good, "/memories")).status_code == 429
        site.revoked.add(KEY_IDS["acme"])
        assert (await site.ask(good)).status_code == 401
        # And the token is no API key.
        headers = {"authorization": f"Bearer {good}"}
        by_token = await site.client.get("/v1/export?user_id=ann", headers=headers)
        assert by_token.status_code == 401

    play(database_url, act)
