"""``memledger remember`` takes a fact by hand and says what came of it."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from click.testing import CliRunner, Result

from deploy.cli import main, remembering
from deploy.cli.appending import SeenThrough
from deploy.cli.carried_out import carried_out
from producers.curations_input import StatementInput
from producers.facts_input import FactInput
from producers.subject_records import Appended
from projections.turns import ClosedRecord
from schemas.errors import ReadModelUnavailable
from schemas.events import RejectionReason
from schemas.memory import MemoryKind, Provenance
from schemas.records import Closing
from schemas.slots import Slot

REFUSED = ClosedRecord(
    closing=Closing.REJECTED, reasons=(RejectionReason.PASSWORD, RejectionReason.SECRET)
)
FACT = ("Order 7 was late.", "--user", "ann", "--system", "orders", "--type", "order_late")


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["remember", *arguments])


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> list[Any]:
    """What the log would be given; the fact closes as the test says."""
    calls: list[Any] = []

    async def remember(*arguments: object) -> SeenThrough:
        calls.append(arguments)
        appended = Appended(turn_id=UUID(int=7), partition=3, offset=17)
        return SeenThrough(
            appended=appended,
            closed=getattr(request, "param", ClosedRecord(closing=Closing.STORED)),
        )

    monkeypatch.setattr(remembering, "_remember", remember)
    return calls


def test_a_fact_is_an_event_of_the_user_unless_it_is_told_otherwise(asked: list[Any]) -> None:
    assert run(*FACT).exit_code == 0
    assert run(*FACT, "--kind", "semantic", "--slot", "note", "--id", "m", "--tenant", "b").stdout
    (tenant, fact, _), (other, changed, _) = asked
    assert (tenant, other) == ("local", "b")
    assert fact == FactInput(
        user_id="ann",
        content="Order 7 was late.",
        kind=MemoryKind.EPISODIC,
        slot=Slot.EVENT,
        about="user",
        importance=3,
        provenance=Provenance(system="orders", type="order_late"),
    )
    assert (changed.kind, changed.slot, changed.client_id) == (MemoryKind.SEMANTIC, Slot.NOTE, "m")


def test_what_a_person_states_needs_no_system_and_is_a_fact_until_it_is_changed(
    asked: list[Any],
) -> None:
    ran = run("Is vegan", "--user", "ann", "--person", "--pinned", "--actor", "eve")
    assert ran.exit_code == 0, ran.stderr
    ((_, statement, _),) = asked
    assert statement == StatementInput(
        user_id="ann",
        content="Is vegan",
        kind=MemoryKind.SEMANTIC,
        slot=Slot.NOTE,
        about="user",
        importance=3,
        pinned=True,
        actor="eve",
    )


@pytest.mark.parametrize(
    ("asked", "status", "told"),
    [
        (ClosedRecord(closing=Closing.STORED), 0, "remembered"),
        (ClosedRecord(closing=Closing.NOTHING_FOUND), 0, "it is known already"),
        (REFUSED, 1, "refused by the rules that every memory must pass: password, secret"),
        (ClosedRecord(closing=Closing.FLAGGED), 1, "memledger flags"),
        (None, 1, "the fact stands in the log at 3:17"),
    ],
    indirect=["asked"],
)
def test_what_came_of_a_fact_is_told(asked: list[Any], status: int, told: str) -> None:
    ran = run(*FACT)
    assert ran.exit_code == status
    assert told in ran.stdout + ran.stderr
    document = json.loads(run(*FACT, "--json").stdout)
    assert (document["turn_id"], document["position"]) == (str(UUID(int=7)), "3:17")
    assert document["reasons"] == (["password", "secret"] if "secret" in told else [])
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ((" ", *FACT[1:]), "content"),
        ((*FACT, "--slot", "orders"), "--slot"),
        ((*FACT, "--importance", "6"), "--importance"),
        ((*FACT, "--reference", ""), "provenance.reference"),
        (("x", "--user", "", *FACT[3:]), "--user"),
        (FACT[:3], "--system"),
        (FACT[:5], "--type"),
        ((*FACT, "--person"), "--system"),
        ((*FACT, "--pinned"), "--pinned"),
        ((*FACT, "--actor", "eve"), "--actor"),
    ],
)
def test_what_cannot_be_a_fact_is_refused_by_name(
    asked: list[Any], arguments: tuple[str, ...], named: str
) -> None:
    ran = run(*arguments)
    assert ran.exit_code == 2
    assert named in ran.stderr
    assert asked == []


class Closed:
    """Tells of one record what it is told to, one answer a look."""

    def __init__(self, *answers: ClosedRecord | Exception | None) -> None:
        self.answers = list(answers)

    async def closed(self, _subject: UUID, _record_id: UUID) -> ClosedRecord | None:
        answer = self.answers.pop(0) if self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_a_record_is_waited_for_through_an_outage_and_no_longer_than_asked() -> None:
    def waited(records: Closed, timeout_s: float) -> ClosedRecord | None:
        return asyncio.run(
            carried_out(records, subject=uuid4(), record_id=uuid4(), timeout_s=timeout_s)
        )

    away = ReadModelUnavailable("no answer")
    assert waited(Closed(None, away, REFUSED), 10) == REFUSED
    assert waited(Closed(), 0) is None
