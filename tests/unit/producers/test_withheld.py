"""What is incognito, or said by who has paused, goes no further than the door, and is told."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from producers.append import TurnAppender
from producers.commands import CommandAppender
from producers.facts_input import read_fact
from producers.importers.destinations import DryRun, Ledger
from producers.importers.run import import_file
from producers.routes import ingest_router
from producers.subject_records import Appended, SubjectRecords, Withheld
from producers.turns_input import TurnInput
from schemas.errors import UserPaused
from schemas.http import install_problem_handlers
from schemas.http_body import JsonBodies
from schemas.records import Origin
from schemas.withholding import WithheldReason
from tests.support.edges import GOOD_BODIES
from tests.unit.producers.fakes import NOW, InMemoryAppender, InMemoryKeyring, InMemoryLog

TENANT = "acme"
TURN: dict[str, Any] = {"user_id": "ann", "conversation_id": "c", "user_text": "hello"}


class Door:
    """POST /v1/turns over an in-memory keyring and log."""

    def __init__(self, *paused: str) -> None:
        self.keyring = InMemoryKeyring()
        self.keyring.paused = {(TENANT, user) for user in paused}
        self.log = InMemoryLog()
        self.appender = TurnAppender(self.keyring, self.log, 4, clock=lambda: NOW)
        self.app = FastAPI()
        install_problem_handlers(self.app)
        bodies = JsonBodies(bytes_max=10**6, held_bytes_max=10**6, remedy="send less")

        async def authenticate(_token: str) -> str:
            return TENANT

        self.app.include_router(
            ingest_router(self.appender, authenticate, bodies=bodies, clock=lambda: NOW)
        )

    def post(self, body: object) -> httpx.Response:
        async def ask() -> httpx.Response:
            transport = httpx.ASGITransport(self.app)
            headers = {"authorization": "Bearer k"}
            async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
                return await client.post("/v1/turns", json=body, headers=headers)

        return asyncio.run(ask())

    def said(self, user: str) -> list[str]:
        """Return what the log holds of a user."""
        keys = self.keyring.living.get((TENANT, user))
        return [] if keys is None else [turn.user_text for turn in self.log.turns_of(keys)]


def test_an_incognito_turn_is_answered_as_such_and_nothing_is_kept_of_it() -> None:
    door = Door()
    answer = door.post({**TURN, "incognito": True, "turn_id": "t1"})
    assert answer.status_code == 200
    assert answer.json() == {
        "turn_id": None,
        "client_turn_id": "t1",
        "position": None,
        "withheld": "incognito",
    }
    assert door.log.records == []
    assert door.keyring.living == {}  # nor is the user known from then on
    assert door.post({**TURN, "incognito": False}).status_code == 202


def test_a_paused_users_turn_is_answered_as_such_and_others_go_on() -> None:
    door = Door("ann")
    assert door.post(TURN).json()["withheld"] == "paused"
    assert door.post({**TURN, "user_id": "bob"}).status_code == 202
    assert (door.said("ann"), door.said("bob")) == ([], ["hello"])
    door.keyring.paused.clear()
    assert door.post({**TURN, "user_text": "back"}).status_code == 202
    assert door.said("ann") == ["back"]


def test_a_mixed_list_tells_each_turn_its_own() -> None:
    door = Door("ann")
    answer = door.post(
        {
            "turns": [
                {**TURN, "user_id": "bob", "turn_id": "1"},
                {**TURN, "turn_id": "2"},
                {**TURN, "user_id": "bob", "turn_id": "3", "incognito": True},
                {**TURN, "user_id": "bob", "user_text": " "},
                {**TURN, "user_id": "bob", "turn_id": "4", "user_text": "and more"},
            ]
        }
    )
    assert answer.status_code == 202
    results = answer.json()["results"]
    assert [result["status"] for result in results] == [
        "accepted",
        "withheld",
        "withheld",
        "refused",
        "accepted",
    ]
    assert results[1] == {"status": "withheld", "reason": "paused", "client_turn_id": "2"}
    assert results[2] == {"status": "withheld", "reason": "incognito", "client_turn_id": "3"}
    assert door.said("bob") == ["hello", "and more"]
    assert door.said("ann") == []


@pytest.mark.parametrize(
    ("turns", "status"),
    [
        ([{**TURN}, {**TURN, "incognito": True}], 200),
        ([{**TURN, "user_text": ""}, {**TURN, "incognito": True}], 200),
        ([{**TURN, "user_text": ""}, {**TURN, "user_text": ""}], 422),
    ],
    ids=["withheld alone", "withheld and refused", "refused alone"],
)
def test_a_list_of_which_nothing_was_accepted_is_no_202(
    turns: list[dict[str, Any]], status: int
) -> None:
    answer = Door("ann").post({"turns": turns})
    assert (answer.status_code, len(answer.json()["results"])) == (status, 2)


@pytest.mark.parametrize("said", ["true", 1, 0, None, "yes"], ids=repr)
def test_whether_a_turn_is_incognito_is_never_guessed(said: object) -> None:
    """What is not clear is refused: a chat that meant it must not be appended."""
    door = Door()
    answer = door.post({**TURN, "incognito": said})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {
            "field": "incognito",
            "problem": "is not of the type it should be",
            "remedy": "send true or false",
        }
    ]
    assert door.log.records == []


def test_an_incognito_turn_takes_no_others_place() -> None:
    """The same turn_id sent openly counts, before or after it."""
    door = Door()
    secret = {**TURN, "turn_id": "t", "user_text": "between us", "incognito": True}
    shown = {**TURN, "turn_id": "t", "user_text": "for all"}
    answer = door.post({"turns": [secret, shown, secret]})
    assert [it["status"] for it in answer.json()["results"]] == ["withheld", "accepted", "withheld"]
    assert door.said("ann") == ["for all"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["ann", "bob", "cid"]), st.booleans(), st.sampled_from("123")),
        max_size=12,
    ),
    st.sets(st.sampled_from(["ann", "bob"])),
)
def test_exactly_what_is_open_and_not_paused_reaches_the_log(
    said: list[tuple[str, bool, str]], paused: set[str]
) -> None:
    door = Door(*paused)
    turns = [
        TurnInput(
            user_id=user, conversation_id="c", user_text=turn_id, turn_id=turn_id, incognito=secret
        )
        for user, secret, turn_id in said
    ]
    results = asyncio.run(door.appender.append(TENANT, turns, Origin.HTTP))
    for turn, result in zip(turns, results, strict=True):
        if turn.incognito:
            assert result == Withheld(reason=WithheldReason.INCOGNITO)
        elif turn.user_id in paused:
            assert result == Withheld(reason=WithheldReason.PAUSED)
        else:
            assert isinstance(result, Appended)
    for user in ("ann", "bob", "cid"):
        open_turns = [turn for turn in turns if turn.user_id == user and not turn.incognito]
        expected = dict.fromkeys(turn.user_text for turn in open_turns)
        assert door.said(user) == ([] if user in paused else list(expected))


def test_what_is_withheld_is_counted_and_neither_accepted_nor_refused() -> None:
    def count(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(f"memledger_turns_{name}_total", labels) or 0

    def all_counts() -> tuple[float, ...]:
        return (
            count("accepted", origin="http"),
            count("withheld", origin="http", reason="paused"),
            count("withheld", origin="http", reason="incognito"),
        )

    before = all_counts()
    Door("ann").post({"turns": [TURN, {**TURN, "incognito": True}, {**TURN, "user_id": "bob"}]})
    assert tuple(now - then for now, then in zip(all_counts(), before, strict=True)) == (1, 1, 1)


def test_a_systems_fact_about_who_has_paused_is_refused_and_an_end_is_not() -> None:
    keyring, log = InMemoryKeyring(), InMemoryLog()
    commands = CommandAppender(SubjectRecords(keyring, log, 4), clock=lambda: NOW)
    fact = read_fact({**GOOD_BODIES["fact"], "user_id": "ann"}, now=NOW)
    asyncio.run(commands.remember(TENANT, fact))
    keyring.paused.add((TENANT, "ann"))
    with pytest.raises(UserPaused, match="paused memory"):
        asyncio.run(commands.remember(TENANT, fact))
    assert len(log.records) == 1


def test_an_import_leaves_paused_users_alone_and_says_so(tmp_path: Path) -> None:
    door = Door("ann")
    file = tmp_path / "turns.jsonl"
    lines = [{**TURN, "user_id": user} for user in ("ann", "bob", "ann", "cid")]
    file.write_text(
        "\n".join(json.dumps({**line, "turn_id": str(n)}) for n, line in enumerate(lines))
    )
    asyncio.run(door.keyring.subjects_for(TENANT, ["ann"], create=True))
    nothing_known = InMemoryAppender()
    for destination in (DryRun(door.keyring, nothing_known), Ledger(door.appender, nothing_known)):
        report = asyncio.run(
            import_file(
                destination,
                tenant=TENANT,
                user=None,
                path=file,
                format_name="jsonlines",
                clock=lambda: NOW,
            )
        )
        totals = report.totals
        assert (totals.accepted, totals.withheld, totals.refused) == (2, 2, 0)
        assert [row.withheld for row in report.conversations.first] == [2, 0, 0]
    assert (door.said("ann"), door.said("bob")) == ([], ["hello"])
