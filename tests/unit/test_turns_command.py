"""``memledger turns`` and ``memledger turn`` show what became of what was said, and why."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main
from deploy.cli import turns as verb
from projections.positions import TurnPosition
from projections.turns import (
    RefusedOperation,
    TurnAccount,
    TurnFlag,
    TurnPage,
    TurnSummary,
    unknown_turn,
)
from schemas.events import RejectionReason
from schemas.flags import FlagState
from schemas.records import Closing, DeferralCause
from tests.support.log_writer import NOON

TURN, END, FLAG, RECALL = UUID(int=7), UUID(int=8), UUID(int=9), UUID(int=10)
SUMMARY = TurnSummary(
    turn_id=TURN,
    position="3:17",
    closing=Closing.REJECTED,
    waits_for=None,
    reasons=(RejectionReason.PASSWORD, RejectionReason.SECRET),
    memories=0,
)
ACCOUNT = TurnAccount(
    turn_id=TURN,
    position="3:17",
    closing=Closing.REJECTED,
    waits_for=None,
    settled_by=END,
    settled=(),
    recall_id=RECALL,
    memories=(),
    rejected=(
        RefusedOperation(
            place=1,
            reasons=(RejectionReason.SECRET,),
            turn_id=None,
            record_id=END,
            rejected_at=NOON,
        ),
    ),
    flags=(
        TurnFlag(
            flag_id=FLAG, state=FlagState.OPEN, reasons=(RejectionReason.OPERATOR_OBLIGATION,)
        ),
    ),
    noted=("Not noted: something that looks like a secret key",),
    generation="g1",
)


class Turns:
    """Answers as it is told, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.held = TurnPage(turns=(SUMMARY,), more=True)
        self.shown = ACCOUNT

    async def page(self, _subject: UUID | None, **asked: Any) -> TurnPage:
        self.asked.append(asked)
        return self.held

    async def account(self, _subject: UUID | None, turn_id: UUID) -> TurnAccount:
        if turn_id != TURN:
            raise unknown_turn()
        return self.shown


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> Turns:
    held = Turns()

    async def asked(
        tenant: str, user: str, ask: Callable[[Turns, UUID], Awaitable[object]]
    ) -> object:
        assert (tenant, user) == ("local", "ann")
        return await ask(held, UUID(int=1))

    monkeypatch.setattr(verb, "_asked", asked)
    return held


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": None}).invoke(main, [*arguments, "--user", "ann"])


def test_the_list_tells_by_which_rules_something_was_refused(turns: Turns) -> None:
    ran = run("turns", "--closing", "rejected", "--limit", "1", "--before", "3:20")
    assert ran.exit_code == 0
    for told in (str(TURN), "3:17", "rejected", "password, secret", "--before 3:17"):
        assert told in ran.stdout
    assert turns.asked == [
        {
            "closing": Closing.REJECTED,
            "still_open": False,
            "before": TurnPosition(partition=3, offset=20),
            "limit": 1,
        }
    ]
    document = json.loads(run("turns", "--closing", "open", "--json").stdout)
    assert (document["more"], document["turns"][0]["reasons"]) == (True, ["password", "secret"])
    assert (turns.asked[1]["closing"], turns.asked[1]["still_open"]) == (None, True)


def test_an_empty_list_says_of_what_there_is_none(turns: Turns) -> None:
    turns.held = TurnPage(turns=(), more=False)
    assert "no turns of this user are flagged" in run("turns", "--closing", "flagged").stdout
    assert "in front of 3:4" in run("turns", "--before", "3:4").stdout
    assert run("turns").stdout == "no turns of this user: ids are matched exactly\n"


def test_a_turn_tells_how_it_closed_and_what_was_refused_why(turns: Turns) -> None:
    shown = run("turn", str(TURN)).stdout
    for told in (
        f"{TURN} at 3:17: rejected",
        f"settled by the end of its session, {END}",
        f"answered with the recall {RECALL}",
        f"refused: secret (operation 1 of {END}, nobody can tell of which turn)",
        f"left to a person (open): operator_obligation, flag {FLAG}",
    ):
        assert told in shown
    document = json.loads(run("turn", str(TURN), "--json").stdout)
    assert document["rejected"][0]["reasons"] == ["secret"]
    assert document["rejected"][0]["rejected_at"] == "2026-03-01T12:00:00Z"
    assert turns.asked == []


def test_what_a_turn_waits_for_is_told(turns: Turns) -> None:
    turns.shown = replace(
        ACCOUNT, closing=Closing.DEFERRED, waits_for=DeferralCause.BUDGET, settled_by=None
    )
    assert "deferred: waits for its budget" in run("turn", str(TURN)).stdout
    turns.shown = replace(ACCOUNT, closing=None)
    assert f"{TURN} at 3:17: open" in run("turn", str(TURN)).stdout


@pytest.mark.parametrize("turn_id", [str(UUID(int=1)), "no-id"])
def test_an_unknown_turn_is_unusable_input(turns: Turns, turn_id: str) -> None:
    ran = run("turn", turn_id)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "nothing of this user has this id" in ran.stderr
    assert turns.asked == []


def test_what_is_no_position_is_refused_by_name() -> None:
    ran = run("turns", "--before", "17")
    assert ran.exit_code == 2
    assert "--before: is not a position" in ran.stderr


def test_a_user_id_that_cannot_be_one_is_refused_whatever_runs() -> None:
    ran = CliRunner(env={"COLUMNS": None}).invoke(main, ["turn", str(TURN), "--user", ""])
    assert ran.exit_code == 2
    assert "--user" in ran.stderr
