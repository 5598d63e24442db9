"""``GET /v1/profile``: whose it is, in which form, and nothing of who has paused memory."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Request

from projections.profile import Profile, Profiles, ProfileSection
from projections.profile_routes import profile_router
from projections.recalled import TokenUse
from schemas.http import install_problem_handlers
from schemas.injection import InjectionForm

SUBJECT = UUID(int=7)


class _Profiles:
    """Tells in the block whose it is and in which form."""

    async def profile(self, subject: UUID | None, form: InjectionForm) -> Profile:
        block = "" if subject is None else f"{subject} as {form.value}"
        return Profile(
            memories=(),
            left_out=dict.fromkeys(ProfileSection, 0),
            digest=hashlib.sha256(block.encode()).hexdigest(),
            tokens=TokenUse(used=0, budget=1_499, counter="estimate", exact=False),
            generation="g1",
            block=block,
        )


def _asked(parameters: Mapping[str, Any], *, paused: bool = False) -> httpx.Response:
    async def authenticate(_request: Request) -> str:
        return "acme"

    async def find_subject(tenant: str, user_id: str) -> UUID | None:
        assert tenant == "acme"
        return SUBJECT if user_id == "ann" else None

    async def is_paused(_tenant: str, _user_id: str) -> bool:
        return paused

    async def ask() -> httpx.Response:
        app = FastAPI()
        install_problem_handlers(app)
        app.include_router(
            profile_router(
                profiles=cast("Profiles", _Profiles()),
                authenticate=authenticate,
                find_subject=find_subject,
                is_paused=is_paused,
            )
        )
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await client.get("/v1/profile", params=parameters)

    return asyncio.run(ask())


def test_a_profile_is_answered_in_the_form_that_is_asked_for() -> None:
    text, xml = _asked({"user_id": "ann"}), _asked({"user_id": "ann", "format": "xml"})

    assert text.json()["profile"] == f"{SUBJECT} as text"
    assert xml.json()["profile"] == f"{SUBJECT} as xml"
    assert text.content == _asked({"user_id": "ann"}).content
    assert text.json()["left_out"] == {"safety": 0, "rules": 0, "pins": 0, "core": 0}


def test_a_stranger_and_a_user_who_paused_have_an_empty_one() -> None:
    stranger, paused = _asked({"user_id": "ben"}), _asked({"user_id": "ann"}, paused=True)

    assert (stranger.json()["profile"], stranger.json()["reason"]) == ("", None)
    assert (paused.json()["profile"], paused.json()["reason"]) == ("", "paused")


@pytest.mark.parametrize(
    ("parameters", "field"),
    [
        ({"user_id": "ann", "format": "anthropic"}, "format"),
        ({"user_id": "ann", "colour": "red"}, "colour"),
        ({"user_id": " "}, "user_id"),
        ({}, "user_id"),
    ],
    ids=["form", "unknown", "blank", "nobody"],
)
def test_what_cannot_be_asked_is_refused_by_name(parameters: dict[str, str], field: str) -> None:
    response = _asked(parameters)

    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]
