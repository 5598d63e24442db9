"""User tokens over HTTP: who is given one, for whom, and when it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from deploy.processes.user_tokens import UserTokenHolders, user_token_router
from schemas.errors import InvalidApiKey, InvalidUserToken
from schemas.http import MEDIA_TYPE, install_problem_handlers
from schemas.user_tokens import Audience, UserTokens

TENANTS = {"key-a": ("acme", "aaaa"), "key-b": ("acme-corp", "bbbb")}


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
class _Door:
    client: httpx.AsyncClient
    api_keys: _ApiKeys
    holders: UserTokenHolders

    async def ask(self, key: str | None = "key-a", /, **body: Any) -> httpx.Response:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        return await self.client.post("/v1/user-tokens", json=body, headers=headers)


def _play(act: Callable[[_Door], Awaitable[None]]) -> None:
    async def holder_of(token: str) -> tuple[str, str]:
        if token not in TENANTS:
            raise InvalidApiKey("no such key")
        return TENANTS[token]

    async def play() -> None:
        tokens, api_keys = UserTokens(_Keys()), _ApiKeys()
        app = FastAPI()
        install_problem_handlers(app)
        app.include_router(user_token_router(tokens, holder_of))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            await act(_Door(client, api_keys, UserTokenHolders(tokens, api_keys)))

    asyncio.run(play())


def test_a_token_names_the_tenant_of_the_key_and_the_user_in_normal_form() -> None:
    async def act(door: _Door) -> None:
        for key, (tenant, key_id) in TENANTS.items():
            answer = await door.ask(key, user_id="jose\u0301", audience="mcp", lifetime_s=60)
            assert answer.status_code == 201
            body = answer.json()
            said = await door.holders.holder(body["token"], Audience.MCP)
            assert (said.tenant, said.user_id, said.api_key_id) == (tenant, "jos\u00e9", key_id)
            assert body["user_id"] == "jos\u00e9"
            assert (body["audience"], body["expires_at"][-1]) == ("mcp", "Z")

    _play(act)


def test_without_a_key_nobody_is_given_one() -> None:
    async def act(door: _Door) -> None:
        for key in (None, "wrong"):
            answer = await door.ask(key, user_id="ann", audience="mcp")
            assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")
        token = (await door.ask(user_id="ann", audience="page")).json()["token"]
        # A token is no key: it makes no further tokens.
        assert (await door.ask(token, user_id="ann", audience="page")).status_code == 401

    _play(act)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"audience": "api"}, "audience"),
        ({"audience": None}, "audience"),
        ({"lifetime_s": 86_401}, "lifetime_s"),
        ({"lifetime_s": 0}, "lifetime_s"),
        ({"lifetime_s": True}, "lifetime_s"),
        ({"user_id": ""}, "user_id"),
        ({"user_id": "a\x00b"}, "user_id"),
        ({"tenant": "acme-corp"}, "tenant"),
    ],
    ids=lambda value: str(value).replace("\x00", "NUL"),
)
def test_what_cannot_be_asked_for_is_refused_by_its_name(
    change: dict[str, Any], named: str
) -> None:
    async def act(door: _Door) -> None:
        answer = await door.ask(**({"user_id": "ann", "audience": "mcp"} | change))
        assert answer.status_code == 422
        assert answer.headers["content-type"] == MEDIA_TYPE
        assert [error["field"] for error in answer.json()["errors"]] == [named]

    _play(act)


def test_a_token_ends_with_the_key_that_it_was_asked_for_with() -> None:
    async def act(door: _Door) -> None:
        token = (await door.ask(user_id="ann", audience="mcp")).json()["token"]
        other = (await door.ask("key-b", user_id="ann", audience="mcp")).json()["token"]
        del door.api_keys.valid["aaaa"]
        with pytest.raises(InvalidUserToken, match="was revoked"):
            await door.holders.holder(token, Audience.MCP)
        assert (await door.holders.holder(other, Audience.MCP)).tenant == "acme-corp"
        # An id that is another tenant's now does not open the first one's door.
        door.api_keys.valid["aaaa"] = "acme-corp"
        with pytest.raises(InvalidUserToken):
            await door.holders.holder(token, Audience.MCP)

    _play(act)
