"""What is no turn stands in its subject's line under an id that makes a retry harmless."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from prometheus_client import REGISTRY

from producers.commands import CommandAppender
from producers.commands_input import (
    ConversationEndInput,
    DecisionInput,
    clean_decision,
)
from producers.facts_input import FactInput, clean_fact
from producers.subject_records import Appended, SubjectRecords
from schemas.commands import Curation, FlagDecision, SessionEnd, SessionEndCause, SystemFact
from schemas.errors import FlagDecided, InvalidInput, LogBusy, LogUnavailable, UnknownFlag
from schemas.flags import Flag, FlagState
from schemas.ids import flag_decision_id, turn_id
from schemas.keyring import SubjectKeys
from schemas.memory import MemoryKind, Source
from schemas.partitioning import partition_for
from schemas.slots import Slot
from schemas.tree import address_for
from tests.support.flags import new_flag
from tests.unit.producers.fakes import NOW, InMemoryKeyring, InMemoryLog

PARTITIONS = 4
TENANT = "acme"
APPROVE = clean_decision(approved=True, reason="agreed by phone", actor="ops")
REFUSE = clean_decision(approved=False, reason="nobody promised that", actor="ops")
Result = TypeVar("Result")


class Bench:
    """An appender over an in-memory keyring and log."""

    def __init__(self) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog()
        self.now = NOW
        records = SubjectRecords(self.keyring, self.log, PARTITIONS)
        self.appender = CommandAppender(records, clock=lambda: self.now)

    def remember(self, tenant: str = TENANT, **fields: Any) -> Appended:
        return _ran(self.appender.remember(tenant, fact(**fields)))

    def decide(self, flag: Flag, decision: DecisionInput, tenant: str = TENANT) -> Appended:
        return _ran(self.appender.decide(tenant, flag, decision))

    def end(self, user: str, conversation: str = "c") -> Appended | None:
        end = ConversationEndInput(user_id=user, conversation_id=conversation)
        return _ran(self.appender.end_conversation(TENANT, end))

    def keys(self, user: str, tenant: str = TENANT) -> SubjectKeys:
        return self.keyring.keys_of(tenant, user)

    def curations(self, user: str, tenant: str = TENANT) -> list[Curation]:
        return [record for _, record in self.log.opened(Curation, self.keys(user, tenant))]


def _ran(call: Awaitable[Result]) -> Result:
    async def run() -> Result:
        return await call

    return asyncio.run(run())


def fact(**fields: Any) -> FactInput:
    return clean_fact(
        **{
            "user_id": "u",
            "content": "Order 7 was late.",
            "kind": MemoryKind.EPISODIC,
            "slot": Slot.EVENT,
            "about": "user",
            "importance": 3,
            "system": "orders",
            "type_": "order_late",
            "reference": "7",
            "valid_from": None,
            "expires_at": None,
            "client_id": None,
            **fields,
        }
    )


def test_a_fact_stands_sealed_in_its_subjects_partition_at_the_address_of_its_day() -> None:
    bench = Bench()

    appended = bench.remember(valid_from=NOW - timedelta(days=3))

    keys = bench.keys("u")
    ((read, curation),) = bench.log.opened(Curation, keys)
    assert read.position.partition == appended.partition == partition_for(keys.subject, PARTITIONS)
    assert read.header().record_id == appended.turn_id == curation.turn_id
    assert read.header().address == address_for(NOW, appended.turn_id)
    assert (curation.source, curation.actor) == (Source.SYSTEM, "orders")
    assert (curation.occurred_at, curation.received_at) == (NOW, NOW)
    assert isinstance(curation.decision, SystemFact)
    assert curation.decision.content == "Order 7 was late."
    assert curation.decision.provenance.reference == "7"
    assert curation.decision.valid_from == NOW - timedelta(days=3)


def test_a_fact_sent_again_under_its_id_has_the_same_record_id_a_day_later_too() -> None:
    bench = Bench()
    first = bench.remember(client_id="m1")
    bench.now += timedelta(days=1)
    assert bench.remember(client_id="m1").turn_id == first.turn_id


def test_facts_of_other_users_systems_and_tenants_and_turns_have_ids_of_their_own() -> None:
    bench = Bench()
    ids = {
        bench.remember(client_id="1").turn_id,
        bench.remember(client_id="1", user_id="v").turn_id,
        bench.remember(client_id="1", system="refunds").turn_id,
        bench.remember(client_id="1", tenant="other").turn_id,
        bench.remember(client_id="1" * 2, system="orders").turn_id,
        turn_id(bench.keys("u").id_secret, "1"),
    }
    assert len(ids) == 6
    assert bench.keys("u").subject != bench.keys("u", "other").subject
    assert len(bench.curations("u", "other")) == 1


def test_without_an_id_each_fact_is_another() -> None:
    bench = Bench()
    assert bench.remember().turn_id != bench.remember().turn_id


def test_a_user_erased_before_the_answer_gets_the_fact_under_the_new_subject() -> None:
    bench = Bench()
    before = bench.keys("u")

    def erase_once() -> None:
        if not bench.keyring.erased:
            bench.keyring.erase(TENANT, "u")

    bench.keyring.before_erasure_query = erase_once

    appended = bench.remember(client_id="m1")

    assert bench.keys("u").subject != before.subject
    assert [curation.turn_id for curation in bench.curations("u")] == [appended.turn_id]


@pytest.mark.parametrize("error", [LogBusy("full"), LogUnavailable("no answer")])
def test_what_the_log_does_not_take_is_told(error: LogUnavailable) -> None:
    bench = Bench()
    bench.keys("u")
    bench.log.fail = lambda _number: error
    with pytest.raises(type(error)):
        bench.remember()
    with pytest.raises(type(error)):
        bench.end("u")
    with pytest.raises(type(error)):
        bench.decide(new_flag(bench.keys("u").subject), APPROVE)


def test_a_fact_that_was_forgotten_does_not_come_back_under_its_id() -> None:
    bench = Bench()
    appended = bench.remember(client_id="m1")
    keys = bench.keys("u")
    bench.keyring.living[TENANT, "u"] = SubjectKeys(
        subject=keys.subject,
        tenant=TENANT,
        id_secret=keys.id_secret,
        seeds=keys.seeds.puncture(address_for(NOW, appended.turn_id)),
    )
    with pytest.raises(InvalidInput, match=r"^id: names what was forgotten"):
        bench.remember(client_id="m1")


def test_a_decision_carries_what_it_is_about_under_an_id_that_follows_from_the_flag() -> None:
    bench = Bench()
    keys = bench.keys("u")
    flag = new_flag(keys.subject)

    appended = bench.decide(flag, APPROVE)

    ((read, curation),) = bench.log.opened(Curation, keys)
    assert read.header().record_id == appended.turn_id == flag_decision_id(flag.flag_id)
    assert appended.partition == partition_for(keys.subject, PARTITIONS)
    assert (curation.source, curation.actor) == (Source.CURATION, "ops")
    assert curation.decision == FlagDecision(
        flag_id=flag.flag_id,
        approved=True,
        reason="agreed by phone",
        operation=flag.operation,
        source_turn_id=flag.turn_id,
        conversation_id=flag.conversation_id,
        said_at=flag.said_at,
        utc_offset_minutes=flag.utc_offset_minutes,
    )


def test_two_people_who_decide_at_once_have_one_id_so_the_first_counts() -> None:
    bench = Bench()
    flag = new_flag(bench.keys("u").subject)
    assert bench.decide(flag, APPROVE).turn_id == bench.decide(flag, REFUSE).turn_id


@pytest.mark.parametrize(
    ("state", "again", "other"),
    [(FlagState.APPROVED, APPROVE, REFUSE), (FlagState.REFUSED, REFUSE, APPROVE)],
)
def test_a_decided_flag_takes_the_same_decision_again_and_no_other(
    state: FlagState, again: DecisionInput, other: DecisionInput
) -> None:
    bench = Bench()
    flag = new_flag(bench.keys("u").subject, state=state)
    assert bench.decide(flag, again).turn_id == flag_decision_id(flag.flag_id)
    with pytest.raises(
        FlagDecided, match=f"was {state.value} already at 2026-02-20T09:30:00Z, and"
    ):
        bench.decide(flag, other)
    assert len(bench.log.records) == 1


def test_a_flag_of_another_tenants_user_is_none() -> None:
    bench = Bench()
    flag = new_flag(bench.keys("u", "other").subject)
    with pytest.raises(UnknownFlag):
        bench.decide(flag, APPROVE)
    assert bench.log.records == []


def test_a_flag_whose_user_was_erased_is_none_before_and_while_it_is_decided() -> None:
    bench = Bench()
    keys = bench.keys("u")
    flag = new_flag(keys.subject)
    bench.keyring.before_erasure_query = lambda: bench.keyring.erase(TENANT, "u")
    with pytest.raises(UnknownFlag):
        bench.decide(flag, APPROVE)
    appended = len(bench.log.records)
    with pytest.raises(UnknownFlag):
        bench.decide(flag, APPROVE)
    assert len(bench.log.records) == appended == 1
    assert (TENANT, "u") not in bench.keyring.living


def test_an_end_names_the_conversation_and_each_call_is_an_end_of_its_own() -> None:
    bench = Bench()
    keys = bench.keys("u")
    first, again = bench.end("u", "c1"), bench.end("u", "c1")
    assert first is not None
    assert again is not None
    assert first.turn_id != again.turn_id
    ends = [end for _, end in bench.log.opened(SessionEnd, keys)]
    assert [end.turn_id for end in ends] == [first.turn_id, again.turn_id]
    assert {(end.conversation_id, end.cause) for end in ends} == {("c1", SessionEndCause.EXPLICIT)}
    assert first.partition == partition_for(keys.subject, PARTITIONS)


def test_a_user_nobody_heard_of_has_nothing_to_end_and_gets_no_subject() -> None:
    bench = Bench()
    bench.keys("u", "other")
    assert bench.end("u") is None
    assert bench.log.records == []
    assert (TENANT, "u") not in bench.keyring.living


def test_what_was_acknowledged_is_counted_by_what_it_is() -> None:
    def counted(command: str) -> float:
        name = "memledger_commands_accepted_total"
        return REGISTRY.get_sample_value(name, {"command": command}) or 0.0

    commands = ("system-fact", "flag-decision", "session-end")
    before = [counted(command) for command in commands]
    bench = Bench()
    bench.remember()
    bench.decide(new_flag(bench.keys("u").subject), REFUSE)
    bench.end("u")
    bench.end("nobody")
    assert [counted(command) for command in commands] == [count + 1 for count in before]


def test_records_of_one_subject_have_offsets_in_the_order_of_the_calls() -> None:
    bench = Bench()
    appended = [bench.remember(), bench.end("u"), bench.remember()]
    assert [one.position.split(":")[1] for one in appended if one is not None] == ["0", "1", "2"]
