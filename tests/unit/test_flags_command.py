"""``memledger flags`` shows what waits for a person, and sees a decision through."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from click.testing import CliRunner, Result

from deploy.cli import flags as verb
from deploy.cli import main
from deploy.cli.deciding import Decided, Deciding
from producers.commands import CommandAppender
from producers.commands_input import DecisionInput, clean_decision
from producers.subject_records import Appended, SubjectRecords
from projections.turns import ClosedRecord
from schemas.errors import FlagDecided, ReadModelUnavailable, UnknownFlag
from schemas.events import RejectionReason
from schemas.flags import Flag, FlagState, Verdict
from schemas.ids import flag_decision_id
from schemas.records import Closing
from tests.support.flags import MemoryFlags, new_flag
from tests.unit.producers.fakes import InMemoryKeyring, InMemoryLog

APPROVE = clean_decision(approved=True, reason="agreed by phone", actor="ops")
REFUSE = clean_decision(approved=False, reason="never promised", actor="ops")


class Desk:
    """A flag of a tenant's user, over parts in memory; ``after`` happens before each look."""

    def __init__(self, state: FlagState = FlagState.OPEN) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog()
        self.flags = MemoryFlags()
        subject = self.keyring.keys_of("acme", "ann").subject
        self.flag = self.flags.put("acme", new_flag(subject, state=state))
        self.looks: list[Callable[[], ClosedRecord | None]] = []
        appender = CommandAppender(SubjectRecords(self.keyring, self.log, 4))
        self.deciding = Deciding(self.flags, appender, self)

    async def closed(self, subject: UUID, record_id: UUID) -> ClosedRecord | None:
        assert (subject, record_id) == (self.flag.subject, flag_decision_id(self.flag.flag_id))
        return self.looks.pop(0)() if self.looks else None

    def decide(
        self, decision: DecisionInput, *, flag_id: str = "", tenant: str = "acme"
    ) -> Decided:
        named = flag_id or str(self.flag.flag_id)
        return asyncio.run(
            self.deciding.decide(tenant, named, decision, timeout_s=5 if self.looks else 0)
        )

    def become(self, state: FlagState, closing: Closing) -> ClosedRecord:
        verdict = Verdict(
            actor="ops",
            reason="r",
            decided_at=datetime(2026, 3, 1, tzinfo=UTC),
            turn_id=flag_decision_id(self.flag.flag_id),
        )
        self.flags.put("acme", replace(self.flag, state=state, verdict=verdict))
        return ClosedRecord(closing=closing)


def test_a_decision_is_waited_for_until_it_has_been_carried_out() -> None:
    desk = Desk()

    def unreachable() -> ClosedRecord | None:
        raise ReadModelUnavailable("no answer")

    desk.looks = [
        lambda: None,
        unreachable,
        lambda: desk.become(FlagState.APPROVED, Closing.STORED),
    ]
    decided = desk.decide(APPROVE)
    assert decided.closed == ClosedRecord(closing=Closing.STORED)
    assert decided.flag.state is FlagState.APPROVED
    assert decided.appended is not None
    assert decided.appended.turn_id == flag_decision_id(desk.flag.flag_id)
    assert len(desk.log.records) == 1


def test_a_wait_that_ends_first_says_that_nothing_was_seen() -> None:
    decided = Desk().decide(APPROVE)
    assert decided.closed is None
    assert decided.appended is not None


def test_the_same_decision_again_appends_nothing_and_the_other_is_refused() -> None:
    desk = Desk(FlagState.REFUSED)
    assert desk.decide(REFUSE) == Decided(flag=desk.flag, appended=None, closed=None)
    with pytest.raises(FlagDecided):
        desk.decide(APPROVE)
    assert desk.log.records == []


def test_somebody_who_was_faster_is_told() -> None:
    desk = Desk()
    desk.looks = [lambda: desk.become(FlagState.REFUSED, Closing.REJECTED)]
    with pytest.raises(FlagDecided, match="somebody else's decision came first"):
        desk.decide(APPROVE)


@pytest.mark.parametrize(
    ("flag_id", "tenant"), [("x", "acme"), (str(UUID(int=9)), "acme"), ("", "b")]
)
def test_a_flag_that_there_is_not_is_unknown(flag_id: str, tenant: str) -> None:
    desk = Desk()
    with pytest.raises(UnknownFlag, match="memledger flags"):
        desk.decide(APPROVE, flag_id=flag_id, tenant=tenant)
    assert desk.log.records == []


# What is printed


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": None}).invoke(main, ["flags", *arguments])


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch) -> verb.Queue:
    open_flag, decided = new_flag(uuid4()), new_flag(uuid4(), state=FlagState.REFUSED)
    held = verb.Queue(flags=(open_flag, decided), users={open_flag.subject: "a\x1b[2Jnn"})

    async def listed(_tenant: str, user: str | None, states: list[FlagState]) -> verb.Queue:
        flags = [flag for flag in held.flags if flag.state in states and user is None]
        return verb.Queue(flags=flags, users=held.users)

    monkeypatch.setattr(verb, "_listed", listed)
    return held


def test_the_queue_is_a_table_that_a_person_can_read(queue: verb.Queue) -> None:
    shown = run().stdout
    flag = queue.flags[0]
    for told in (
        str(flag.flag_id),
        "add: Gets 50% off for ever",
        "\u201cyou promised me 50% off for ever\u201d",
        "operator_obligation",
        "2026-02-20 09:30",
    ):
        assert told in " ".join(shown.split()), shown
    assert "\x1b" not in shown
    assert str(queue.flags[1].flag_id) not in shown
    everything = run("--state", "all").stdout
    assert str(queue.flags[1].flag_id) in everything
    assert "(erased)" in everything


def test_the_queue_as_json_is_that_of_the_api(queue: verb.Queue) -> None:
    told = json.loads(run("--json").stdout)
    (flag,) = told["flags"]
    assert flag["flag_id"] == str(queue.flags[0].flag_id)
    assert flag["operation"]["content"] == "Gets 50% off for ever"
    assert (flag["state"], flag["verdict"]) == ("open", None)
    assert flag["said_at"] == "2026-02-20T09:30:00Z"
    assert "subject" not in flag


def test_an_empty_queue_says_so(queue: verb.Queue) -> None:
    assert "no flags are open" in run("--user", "nobody").stdout
    assert json.loads(run("--user", "nobody", "--json").stdout) == {"flags": []}
    assert len(queue.flags) == 2


def test_options_in_front_of_a_verb_are_not_silently_those_of_the_list() -> None:
    ran = run("--tenant", "acme", "approve", str(uuid4()), "--reason", "r")
    assert ran.exit_code == 2
    assert "--tenant: stands in front of approve; put it behind" in ran.stderr


def test_a_decision_needs_its_reason() -> None:
    for arguments in (("approve", "x"), ("refuse", "x", "--reason", " ")):
        ran = run(*arguments)
        assert ran.exit_code == 2
        assert "reason" in ran.stderr


def _decided(
    flag: Flag, closing: Closing | None, *rules: RejectionReason, appended: bool = True
) -> Decided:
    place = Appended(turn_id=uuid4(), partition=3, offset=17)
    closed = None if closing is None else ClosedRecord(closing=closing, reasons=rules)
    return Decided(flag=flag, appended=place if appended else None, closed=closed)


@pytest.mark.parametrize(
    ("decided", "verb_name", "status", "told"),
    [
        (_decided(new_flag(uuid4()), Closing.STORED), "approve", 0, "\u201d; carried out: a mem"),
        (_decided(new_flag(uuid4()), Closing.REJECTED), "refuse", 0, "\u201d; carried out: no m"),
        (
            _decided(new_flag(uuid4()), Closing.REJECTED, RejectionReason.UNKNOWN_REFERENCE),
            "approve",
            0,
            "refused by the rules that every memory must pass: unknown_reference",
        ),
        (_decided(new_flag(uuid4()), None), "approve", 1, "the decision stands in the log at 3:17"),
        (_decided(new_flag(uuid4()), Closing.DEAD_LETTERED), "approve", 1, "kept as a dead letter"),
        (
            _decided(new_flag(uuid4(), state=FlagState.APPROVED), None, appended=False),
            "approve",
            0,
            "\u201d, by ops: r",
        ),
    ],
)
def test_what_became_of_a_decision_is_told(
    monkeypatch: pytest.MonkeyPatch, decided: Decided, verb_name: str, status: int, told: str
) -> None:
    async def decide(*arguments: Any) -> Decided:
        assert arguments[2].reason == "r"
        assert arguments[2].approved == (verb_name == "approve")
        return decided

    monkeypatch.setattr(verb, "_decide", decide)
    ran = run(verb_name, str(decided.flag.flag_id), "--reason", "r")
    assert ran.exit_code == status
    said = " ".join((ran.stdout + ran.stderr).split())
    assert told in said
    if decided.closed is not None:
        assert decided.flag.operation.content in said
    as_json = run(verb_name, str(decided.flag.flag_id), "--reason", "r", "--json")
    document = json.loads(as_json.stdout)
    assert document["flag_id"] == str(decided.flag.flag_id)
    closed = decided.closed
    assert document["closing"] == (None if closed is None else closed.closing.value)
    assert document["reasons"] == ([] if closed is None else list(closed.reasons))
    assert document["position"] == (None if decided.appended is None else "3:17")


def test_an_unknown_flag_is_unusable_input(monkeypatch: pytest.MonkeyPatch) -> None:
    async def decide(*_arguments: Any) -> Decided:
        raise UnknownFlag("no user of the tenant has a flag of this id: take one from ...")

    monkeypatch.setattr(verb, "_decide", decide)
    ran = run("approve", "x", "--reason", "r")
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith("memledger: no user of the tenant has a flag")
