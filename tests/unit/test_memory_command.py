"""``memledger memory`` takes a person's decisions by hand and says what came of them."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from deploy.cli import curating, main
from deploy.cli.appending import Append, Appenders, SeenThrough, actor_named
from producers.curations_input import CorrectionInput, DeletionInput
from producers.subject_records import Appended
from projections.turns import ClosedRecord
from schemas.errors import UnknownMemory
from schemas.events import RejectionReason
from schemas.memory import MemoryKind
from schemas.records import Closing
from schemas.slots import Slot

APPENDED = Appended(turn_id=UUID(int=7), partition=3, offset=17)
STORED = ClosedRecord(closing=Closing.STORED)
REFUSED = ClosedRecord(closing=Closing.REJECTED, reasons=(RejectionReason.UNKNOWN_MEMORY,))
WHOSE = ("m1", "--user", "ann", "--actor", "eve")


class Desk:
    """Takes decisions, and closes each as it is told to."""

    def __init__(self, closed: ClosedRecord | None) -> None:
        self.closed = closed
        self.decided: list[tuple[Any, ...]] = []
        self.unknown = False

    async def correct(self, *arguments: object) -> Appended:
        return self._take("correct", *arguments)

    async def delete(self, *arguments: object) -> Appended:
        return self._take("delete", *arguments)

    def _take(self, *arguments: object) -> Appended:
        if self.unknown:
            raise UnknownMemory("nothing is stored under this id")
        self.decided.append(arguments)
        return APPENDED

    async def see_through(
        self, _tenant: str, _user: str, append: Append, _timeout_s: float
    ) -> SeenThrough:
        appenders = Appenders(commands=None, curations=self)  # type: ignore[arg-type] # the two methods that are used
        return SeenThrough(appended=await append(appenders), closed=self.closed)


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Desk:
    made = Desk(getattr(request, "param", STORED))
    monkeypatch.setattr(curating, "see_through", made.see_through)
    return made


def run(*arguments: str, answer: str | None = None) -> Result:
    return CliRunner().invoke(main, ["memory", *arguments], input=answer)


def test_a_correction_says_what_is_to_change_and_nothing_else(desk: Desk) -> None:
    ran = run("correct", *WHOSE, "--content", "Is vegan", "--kind", "semantic", "--slot", "diet")
    assert (ran.exit_code, ran.stdout) == (0, "corrected\n"), ran.stderr
    assert desk.decided == [
        (
            "correct",
            "local",
            "m1",
            CorrectionInput(
                user_id="ann",
                content="Is vegan",
                kind=MemoryKind.SEMANTIC,
                slot=Slot.DIET,
                actor="eve",
            ),
        )
    ]


@pytest.mark.parametrize(
    ("verb", "pinned", "told"), [("pin", True, "pinned"), ("unpin", False, "no longer pinned")]
)
def test_a_pin_is_set_and_taken_off(desk: Desk, verb: str, told: str, *, pinned: bool) -> None:
    ran = run(verb, *WHOSE, "--tenant", "acme", "--reason", "safety", "--id", "d1")
    assert (ran.exit_code, ran.stdout) == (0, f"{told}\n"), ran.stderr
    ((_, tenant, memory_id, decision),) = desk.decided
    assert (tenant, memory_id) == ("acme", "m1")
    assert decision == CorrectionInput(
        user_id="ann", pinned=pinned, reason="safety", actor="eve", client_id="d1"
    )


def test_a_deletion_asks_first(desk: Desk) -> None:
    refused = run("delete", *WHOSE, answer="n\n")
    assert (refused.exit_code, desk.decided) == (1, [])
    assert "delete m1 of ann, with every version of it?" in refused.stderr
    agreed = run("delete", *WHOSE, answer="y\n")
    assert agreed.exit_code == 0, agreed.stderr
    assert agreed.stdout.endswith("deleted\n")
    assert run("delete", *WHOSE, "--yes").exit_code == 0
    told = DeletionInput(user_id="ann", actor="eve")
    assert desk.decided == [("delete", "local", "m1", told)] * 2


@pytest.mark.parametrize(
    ("desk", "status", "told"),
    [
        (STORED, 0, "deleted"),
        (ClosedRecord(closing=Closing.NOTHING_FOUND), 0, "it is so already"),
        (REFUSED, 1, "refused: unknown_memory"),
        (None, 1, "the decision stands in the log at 3:17"),
    ],
    indirect=["desk"],
)
def test_what_came_of_a_decision_is_told(desk: Desk, status: int, told: str) -> None:
    ran = run("delete", *WHOSE, "--yes")
    assert ran.exit_code == status
    assert told in ran.stdout + ran.stderr
    document = json.loads(run("delete", *WHOSE, "--yes", "--json").stdout)
    assert (document["turn_id"], document["position"]) == (str(APPENDED.turn_id), "3:17")
    assert document["reasons"] == (["unknown_memory"] if desk.closed is REFUSED else [])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("correct", *WHOSE), "changes nothing"),
        (("correct", *WHOSE, "--content", " "), "content"),
        (("correct", *WHOSE, "--slot", "home"), "--slot"),
        (("pin", "m1"), "--user"),
        (("pin", "m1", "--user", ""), "--user"),
        (("delete", *WHOSE, "--yes", "--reason", " "), "reason"),
    ],
)
def test_what_cannot_be_a_decision_is_refused_by_name(
    desk: Desk, arguments: tuple[str, ...], named: str
) -> None:
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert named in ran.stderr
    assert desk.decided == []


def test_a_memory_that_there_is_not_is_unusable_input(desk: Desk) -> None:
    desk.unknown = True
    ran = run("pin", *WHOSE)
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert "nothing is stored under this id" in ran.stderr


def test_who_decides_is_named_without_being_told() -> None:
    assert actor_named("eve") == "eve"
    assert actor_named(None)
