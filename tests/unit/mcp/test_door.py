"""The tools over HTTP: whose memories they are about follows from the token, in every mode."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx
import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from deploy.processes.mcp_door import InProcessCalls, add_mcp_door, running_doors
from deploy.processes.user_tokens import UserTokenHolders
from schemas.errors import RateLimited
from schemas.http import MEDIA_TYPE
from schemas.user_tokens import Audience, UserTokens
from tests.unit.mcp.gateway_fake import FakeGateway

Mode = Literal["auto", "legacy"]
BASE = "http://gateway.example"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


class _Keys:
    def newest(self) -> tuple[int, bytes]:
        return 1, b"k" * 32

    def numbered(self, number: int) -> bytes | None:
        return b"k" * 32 if number == 1 else None


@dataclass
class _ApiKeys:
    valid: dict[str, str] = field(default_factory=lambda: {"aaaa": "acme", "bbbb": "acme-corp"})

    async def tenant_of_api_key(self, key_id: str) -> str | None:
        return self.valid.get(key_id)


@dataclass
class _Site:
    """A gateway with its door."""

    gateway: FakeGateway
    app: FastAPI
    calls: InProcessCalls
    api_keys: _ApiKeys = field(default_factory=_ApiKeys)
    tokens: UserTokens = field(default_factory=lambda: UserTokens(_Keys()))
    admitted: list[str] = field(default_factory=list)
    too_many: bool = False

    def token(
        self, user: str, tenant: str = "acme", audience: Audience = Audience.MCP, **more: Any
    ) -> str:
        key = "aaaa" if tenant == "acme" else "bbbb"
        minted, _ = self.tokens.mint(
            tenant=tenant, user_id=user, audience=audience, api_key_id=key, **more
        )
        return minted

    def admit(self, tenant: str) -> None:
        if self.too_many:
            raise RateLimited("too many", retry_after_s=9)
        self.admitted.append(tenant)

    @asynccontextmanager
    async def client(self, token: str, mode: Mode = "auto") -> AsyncIterator[Client]:
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(self.app),
            headers={"authorization": f"Bearer {token}"},
        ) as http:
            transport = streamable_http_client(f"{BASE}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield client

    async def post(self, token: str | None, body: object = INITIALIZE) -> httpx.Response:
        headers = {"accept": "application/json, text/event-stream"}
        if token is not None:
            headers["authorization"] = f"Bearer {token}"
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(self.app), base_url=BASE
        ) as client:
            return await client.post("/mcp", json=body, headers=headers)


def _play(act: Callable[[_Site], Awaitable[None]]) -> None:
    async def play() -> None:
        calls = InProcessCalls()
        gateway = FakeGateway(calls.tenant)
        site = _Site(gateway, gateway.app(), calls)
        add_mcp_door(site.app, UserTokenHolders(site.tokens, site.api_keys), calls, site.admit)
        async with running_doors(site.app):
            await act(site)
        assert calls._tenants == {}  # whatever was lent was given back

    asyncio.run(play())


async def _listed(client: Client) -> list[str]:
    result = await client.call_tool("list_memories", {})
    assert not result.is_error
    assert result.structured_content is not None
    return [note["content"] for note in result.structured_content["notes"]]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_each_token_sees_its_own_user_alone(mode: Mode) -> None:
    async def act(site: _Site) -> None:
        users = [
            ("acme", "ann"),
            ("acme", "bob"),
            ("acme-corp", "ann"),
            ("acme", "%"),
            ("acme", ""),
        ]
        for tenant, user in users[:4]:
            site.gateway.note(tenant, user, f"secret of {user} at {tenant}")
        for tenant, user in users[:4]:
            async with site.client(site.token(user, tenant), mode) as client:
                assert await _listed(client) == [f"secret of {user} at {tenant}"]
                smuggled = {"user_id": "bob", "tenant": "acme-corp"}
                assert (await client.call_tool("list_memories", smuggled)).is_error
                await client.call_tool("remember", {"content": f"more of {user} at {tenant}"})
        for tenant, user in users[:4]:
            held = [it["content"] for it in site.gateway.held[tenant, user]]
            assert held == [f"secret of {user} at {tenant}", f"more of {user} at {tenant}"]

    _play(act)


def test_requests_at_the_same_time_do_not_mix_their_users() -> None:
    async def act(site: _Site) -> None:
        for number in range(8):
            site.gateway.note("acme", f"user-{number}", f"secret {number}")

        async def look(number: int) -> None:
            mode: Mode = "auto" if number % 2 else "legacy"
            async with site.client(site.token(f"user-{number}"), mode) as client:
                for _ in range(3):
                    assert await _listed(client) == [f"secret {number}"]

        await asyncio.gather(*(look(number) for number in range(8)))

    _play(act)


@pytest.mark.parametrize(
    "wrong", ["none", "api key", "page", "changed", "other user", "expired", "revoked", "lent"]
)
def test_without_a_good_token_nothing_is_answered(wrong: str) -> None:
    async def act(site: _Site) -> None:
        token: str | None = site.token("ann")
        assert token is not None
        claims, _, signature = token.partition(".")
        if wrong == "none":
            token = None
        elif wrong == "api key":
            token = "mlk_0123456789abcdef_" + "0" * 64
        elif wrong == "page":
            token = site.token("ann", audience=Audience.PAGE)
        elif wrong == "changed":
            token = f"{claims}.{'A' * len(signature)}"
        elif wrong == "other user":
            token = f"{site.token('bob').partition('.')[0]}.{signature}"
        elif wrong == "expired":
            past = UserTokens(_Keys(), clock=lambda: 1_000_000.0)
            token, _ = past.mint(
                tenant="acme", user_id="ann", audience=Audience.MCP, api_key_id="aaaa"
            )
        elif wrong == "revoked":
            del site.api_keys.valid["aaaa"]
        else:
            with site.calls.lend("acme") as lent:
                answer = await site.post(lent)
                assert answer.status_code == 401
            return
        answer = await site.post(token)
        assert answer.status_code == 401
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert answer.headers["www-authenticate"] == "Bearer"
        assert site.gateway.asked == []
        assert token is None or token not in answer.text

    _play(act)


def test_requests_count_against_the_tenants_rate() -> None:
    async def act(site: _Site) -> None:
        assert (await site.post(site.token("ann"))).status_code == 200
        assert site.admitted == ["acme"]
        site.too_many = True
        answer = await site.post(site.token("ann"))
        assert (answer.status_code, answer.json()["code"]) == (429, "rate_limited")
        assert answer.headers["retry-after"] == "9"

    _play(act)


def test_a_body_that_is_too_large_is_refused_unread() -> None:
    async def act(site: _Site) -> None:
        answer = await site.post(site.token("ann"), {**INITIALIZE, "pad": "a" * 300_000})
        assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert site.gateway.asked == []

    _play(act)


def test_what_is_lent_for_one_call_is_worth_nothing_after_it() -> None:
    calls = InProcessCalls()
    with calls.lend("acme") as one, calls.lend("acme-corp") as other:
        assert (calls.tenant(one), calls.tenant(other)) == ("acme", "acme-corp")
        assert len({one, other}) == 2
        assert calls.tenant(one[:-1]) is None
    assert calls.tenant(one) is calls.tenant(other) is None
