"""``POST /v1/recall`` hands the notes over in the form that is asked for."""

from __future__ import annotations

import asyncio
from typing import Any, cast
from uuid import UUID

import httpx
import pytest
from fastapi import FastAPI, Request

from projections.injection import ANTHROPIC_BETA
from projections.memories import Memories
from projections.recall import Recall
from projections.routes import query_router
from schemas.http import install_problem_handlers
from schemas.injection import BLOCK_START
from tests.support.recalled import recalled, result_of

SUBJECT = UUID(int=7)


class _Recall:
    """Serves one memory, or none."""

    def __init__(self, *contents: str) -> None:
        self._contents = contents

    async def recall(self, _subject: UUID, _query: str, **_arguments: Any) -> Any:
        return result_of(*map(recalled, self._contents))


def _asked(recall: _Recall, **body: Any) -> httpx.Response:
    async def authenticate(_request: Request) -> str:
        return "acme"

    async def find_subject(_tenant: str, _user_id: str) -> UUID | None:
        return SUBJECT

    async def ask() -> httpx.Response:
        app = FastAPI()
        install_problem_handlers(app)
        app.include_router(
            query_router(
                recall=cast("Recall", recall),
                memories=cast("Memories", None),
                authenticate=authenticate,
                find_subject=find_subject,
            )
        )
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            asked = {"user_id": "u", "query": "q", **body}
            return await client.post("/v1/recall", json=asked)

    return asyncio.run(ask())


def test_text_is_what_is_handed_over_unless_another_form_is_asked_for() -> None:
    body = _asked(_Recall("Lives in Pune")).json()

    assert body["injection"].startswith(BLOCK_START)
    assert (body["format"], body["injection_headers"]) == ("text", {})
    xml = _asked(_Recall("Lives in Pune"), format="xml").json()["injection"]
    assert "<note since=" in xml


def test_a_message_comes_with_the_headers_that_it_needs() -> None:
    text = _asked(_Recall("Lives in Pune")).json()["injection"]
    anthropic = _asked(_Recall("Lives in Pune"), format="anthropic").json()
    openai = _asked(_Recall("Lives in Pune"), format="openai").json()

    assert anthropic["injection"] == {
        "role": "system",
        "content": text,
        "clear_at": "next_user_message",
    }
    assert anthropic["injection_headers"] == {"anthropic-beta": ANTHROPIC_BETA}
    assert openai["injection"] == {"role": "system", "content": text}
    assert openai["injection_headers"] == {}


@pytest.mark.parametrize(
    ("form", "empty"), [("text", ""), ("xml", ""), ("anthropic", None), ("openai", None)]
)
def test_without_memories_nothing_is_handed_over(form: str, empty: str | None) -> None:
    assert _asked(_Recall(), format=form).json()["injection"] == empty


@pytest.mark.parametrize("form", ["markdown", "", None, 1, ["xml"]], ids=str)
def test_another_form_is_refused_by_name(form: object) -> None:
    response = _asked(_Recall("Lives in Pune"), format=form)

    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["format"]
