"""In an incognito chat, and for who has paused memory, nothing is asked of anything."""

from __future__ import annotations

import asyncio
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Request

from projections.memories import Memories
from projections.recall import Recall
from projections.routes import query_router
from schemas.errors import KeyringUnavailable
from schemas.http import install_problem_handlers


class _Door:
    """POST /v1/recall over parts that fail as soon as they are asked."""

    def __init__(self, *paused: str, failing: Exception | None = None) -> None:
        self.asked: list[tuple[str, str]] = []
        self.app = FastAPI()
        install_problem_handlers(self.app)

        async def authenticate(_request: Request) -> str:
            return "acme"

        async def find_subject(_tenant: str, _user_id: str) -> UUID | None:
            raise AssertionError("nobody is looked for")

        async def is_paused(tenant: str, user_id: str) -> bool:
            self.asked.append((tenant, user_id))
            if failing is not None:
                raise failing
            return user_id in paused

        self.app.include_router(
            query_router(
                recall=cast("Recall", None),
                memories=cast("Memories", None),
                authenticate=authenticate,
                find_subject=find_subject,
                is_paused=is_paused,
            )
        )

    def recall(self, **body: Any) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                asked = {"user_id": "ann", "query": "where do I live?", **body}
                return await client.post("/v1/recall", json=asked)

        return asyncio.run(ask())


@pytest.mark.parametrize(
    ("form", "empty"), [("text", ""), ("xml", ""), ("anthropic", None), ("openai", None)]
)
@pytest.mark.parametrize("reason", ["incognito", "paused"])
def test_nothing_is_served_and_why_is_told(reason: str, form: str, empty: str | None) -> None:
    door = _Door("ann")
    secret = {"incognito": True} if reason == "incognito" else {}
    answer = door.recall(format=form, explain=True, **secret)
    assert answer.status_code == 200
    body = answer.json()
    assert (body["reason"], body["memories"], body["injection"]) == (reason, [], empty)
    for kept in ("recall_id", "policy", "generation", "position", "explanation"):
        assert body[kept] is None
    assert door.asked == ([] if reason == "incognito" else [("acme", "ann")])


def test_a_user_in_another_spelling_is_the_same_who_paused() -> None:
    door = _Door("jos\u00e9")
    assert door.recall(user_id="jose\u0301").json()["reason"] == "paused"


def test_a_question_that_is_wrong_is_refused_in_incognito_too() -> None:
    for change in ({"user_id": ""}, {"incognito": "yes"}, {"incognito": None}, {"limit": 0}):
        assert _Door().recall(**({"incognito": True} | change)).status_code == 422


def test_a_keyring_that_cannot_be_asked_is_never_taken_for_a_user_who_goes_on() -> None:
    answer = _Door(failing=KeyringUnavailable("down")).recall()
    assert (answer.status_code, answer.json()["code"]) == (503, "keyring_unavailable")
