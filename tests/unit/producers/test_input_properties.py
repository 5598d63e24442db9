"""Whatever is sent: nothing fails, neighbours are kept, users told apart and words kept."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from typing import Any

import httpx
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from producers.append import TurnAppender
from producers.routes import ingest_router
from schemas.http import install_problem_handlers
from schemas.http_body import JsonBodies
from tests.unit.producers.fakes import NOW, InMemoryKeyring, InMemoryLog

TENANT = "acme"
PARTITIONS = 4
NAMES = ("user_id", "conversation_id", "user_text", "assistant_text", "turn_id", "occurred_at")
GOOD = {"user_id": "neighbour", "conversation_id": "c", "user_text": "hello"}

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters())
    | st.sampled_from(["2026-01-01T00:00:00Z", "u", " ", "\ud800", "\u0000", "e\u0301"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*NAMES, "turns", ""]) | st.text(st.characters()), inner)
    ),
    max_leaves=15,
)
turns = st.fixed_dictionaries(
    dict.fromkeys(NAMES[:3], st.text(st.characters(), min_size=1)),
    optional=dict.fromkeys((*NAMES[3:], "recall_id"), anything),
)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)
# What composes: letters, marks of several classes, Hangul; and what normal form C leaves alone.
spelled = st.text(
    st.sampled_from("aeéZ\u0301\u0323\u0308\u0345ᄀ가ᅡᆨ\ufb01\u212b/% .\u200d😀"), min_size=1
)


class _Gateway:
    """The way in over an in-memory keyring and log."""

    def __init__(self) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog()
        self._app = FastAPI()
        install_problem_handlers(self._app)
        self._app.include_router(
            ingest_router(
                TurnAppender(self.keyring, self.log, PARTITIONS, clock=lambda: NOW),
                _authenticate,
                bodies=JsonBodies(bytes_max=2**20, held_bytes_max=2**20, remedy="send less"),
                clock=lambda: NOW,
            )
        )

    def send(self, body: object) -> httpx.Response:
        async def ask() -> httpx.Response:
            # An exception that no handler turns into an answer fails the test.
            transport = httpx.ASGITransport(self._app, raise_app_exceptions=True)
            headers = {"content-type": "application/json", "authorization": "Bearer key"}
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.post(
                    "/v1/turns", content=json.dumps(body).encode(), headers=headers
                )

        return asyncio.run(ask())


async def _authenticate(_token: str) -> str:
    return TENANT


@given(anything | turns)
def test_any_json_is_accepted_or_refused_with_a_field_and_a_remedy(body: Any) -> None:
    response = _Gateway().send(body)
    assert response.status_code in {202, 413, 422}
    if response.status_code == 202:
        return
    problem = response.json()
    assert problem["detail"]
    errors = problem.get("errors") or [result["error"] for result in problem["results"]]
    assert all(error["field"] and error["problem"] and error["remedy"] for error in errors)


@given(anything | turns)
def test_good_turns_are_kept_whatever_stands_between_them(item: Any) -> None:
    gateway = _Gateway()
    response = gateway.send({"turns": [GOOD, item, GOOD]})
    assert response.status_code == 202
    before, result, behind = response.json()["results"]
    assert before["status"] == behind["status"] == "accepted"
    kept = gateway.log.turns_of(gateway.keyring.keys_of(TENANT, "neighbour"))
    assert [turn.user_text for turn in kept][:: len(kept) - 1] == ["hello", "hello"]
    assert len(gateway.log.records) == 2 + (result["status"] == "accepted")


@given(st.lists(spelled | words, min_size=2, max_size=6))
def test_users_are_one_where_their_normal_forms_are_and_else_never(users: list[str]) -> None:
    gateway = _Gateway()
    spellings = [
        unicodedata.normalize(form, user) for user in users for form in ("NFC", "NFD", "NFC")
    ]
    turns = [{**GOOD, "user_id": user, "user_text": str(n)} for n, user in enumerate(spellings)]
    response = gateway.send({"turns": turns})
    results = response.json()["results"]
    accepted = [
        user
        for user, result in zip(spellings, results, strict=True)
        if result["status"] == "accepted"
    ]
    subjects = {keys.subject for keys in gateway.keyring.living.values()}
    assert len(subjects) == len({unicodedata.normalize("NFC", user) for user in accepted})
    for user in accepted:
        said = gateway.log.turns_of(
            gateway.keyring.keys_of(TENANT, unicodedata.normalize("NFC", user))
        )
        same = [
            number
            for number, (other, result) in enumerate(zip(spellings, results, strict=True))
            if result["status"] == "accepted"
            and unicodedata.normalize("NFC", other) == unicodedata.normalize("NFC", user)
        ]
        assert [int(turn.user_text) for turn in said] == same


@given(words | spelled, words | spelled | st.none())
def test_accepted_words_come_back_byte_for_byte_in_normal_form_c(
    said: str, answered: str | None
) -> None:
    gateway = _Gateway()
    response = gateway.send({**GOOD, "user_text": said, "assistant_text": answered})
    kept = gateway.log.turns_of(gateway.keyring.keys_of(TENANT, "neighbour"))
    if response.status_code != 202:
        assert kept == []
        return
    (turn,) = kept
    assert turn.user_text.encode() == unicodedata.normalize("NFC", said).encode()
    assert turn.assistant_text == (
        None if answered is None else unicodedata.normalize("NFC", answered)
    )
