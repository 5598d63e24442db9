"""What the operator's systems tell, and what a person decides about a flag."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from schemas.commands import Curation, Decision, FlagDecision, SystemFact
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoryAdded,
    MemoryConfirmed,
    ProposalRejected,
    RejectionReason,
)
from schemas.log.sealed import LogRecord
from schemas.memory import Confidence, MemoryKind, Provenance, Source
from schemas.proposals import Action, Operation
from schemas.records import Closing
from schemas.slots import Slot
from tests.support.desk import SubjectDesk
from tests.support.turns import NOON
from tests.support.virtual_time import run_virtual

LATE = Provenance(system="orders", type="order_late", reference="A-17")


def system_fact(content: str) -> SystemFact:
    return SystemFact(
        kind=MemoryKind.EPISODIC,
        slot=Slot.EVENT,
        about="user",
        content=content,
        importance=3,
        provenance=LATE,
    )


def flag_decision(*, approved: bool) -> FlagDecision:
    return FlagDecision(
        flag_id=uuid4(),
        approved=approved,
        reason="agreed by the manager",
        operation=Operation(
            action=Action.ADD,
            kind=MemoryKind.SEMANTIC,
            slot=Slot.NOTE,
            about="user",
            content="Gets 10% off",
            importance=3,
            confidence=Confidence.STATED,
            quote="I get 10% off",
        ),
        source_turn_id=uuid4(),
        conversation_id="conversation",
        said_at=NOON,
        utc_offset_minutes=0,
    )


def curated(desk: SubjectDesk, decision: Decision, source: Source) -> LogRecord:
    record_id: UUID = uuid4()
    return desk.command(
        record_id,
        Curation(
            turn_id=record_id,
            source=source,
            actor="ann",
            decision=decision,
            occurred_at=NOON,
            received_at=NOON,
        ),
    )


def test_a_fact_of_a_system_is_stored_with_where_it_comes_from_and_nobody_is_asked() -> None:
    async def run() -> None:
        desk = SubjectDesk()
        record = curated(desk, system_fact("Order A-17 was two days late."), Source.SYSTEM)
        await desk.handle(record)
        outcome = await desk.outcome(record)
        assert (outcome.closing, outcome.closes) == (Closing.STORED, "curation")
        (added,) = outcome.events
        assert isinstance(added, MemoryAdded)
        assert added.memory.source is Source.SYSTEM
        assert added.memory.provenance == LATE
        assert added.memory.turn_id == record.header().record_id
        assert added.memory.embedding is not None
        assert desk.proposals == 0

    run_virtual(run())


def test_the_same_fact_told_twice_is_one_memory() -> None:
    async def run() -> None:
        desk = SubjectDesk()
        first = curated(desk, system_fact("Order A-17 was two days late."), Source.SYSTEM)
        again = curated(desk, system_fact("Order A-17 was two days late"), Source.SYSTEM)
        await desk.handle(first, again)
        (confirmed,) = (await desk.outcome(again)).events
        assert isinstance(confirmed, MemoryConfirmed)

    run_virtual(run())


def test_a_fact_of_a_system_passes_every_rule_of_the_gate_but_that_of_evidence() -> None:
    async def run() -> None:
        desk = SubjectDesk()
        record = curated(desk, system_fact("   "), Source.SYSTEM)
        await desk.handle(record)
        outcome = await desk.outcome(record)
        assert outcome.closing is Closing.REJECTED
        (rejected,) = outcome.events
        assert isinstance(rejected, ProposalRejected)
        assert RejectionReason.CONTENT_EMPTY in rejected.reasons
        assert RejectionReason.EVIDENCE_NOT_IN_USER_TEXT not in rejected.reasons

    run_virtual(run())


@pytest.mark.parametrize("approved", [True, False])
def test_a_persons_decision_and_what_it_does_are_events_of_one_outcome(*, approved: bool) -> None:
    async def run() -> None:
        desk = SubjectDesk()
        decision = flag_decision(approved=approved)
        record = curated(desk, decision, Source.CURATION)
        await desk.handle(record)
        outcome = await desk.outcome(record)
        event = outcome.events[0]
        assert isinstance(event, FlagApproved if approved else FlagRefused)
        assert (event.flag_id, event.actor, event.reason) == (
            decision.flag_id,
            "ann",
            "agreed by the manager",
        )
        added = [event.memory for event in outcome.events if isinstance(event, MemoryAdded)]
        assert [memory.source for memory in added] == ([Source.CURATION] if approved else [])
        assert [memory.turn_id for memory in added] == (
            [decision.source_turn_id] if approved else []
        )

    run_virtual(run())


def test_a_curation_that_is_read_again_changes_nothing() -> None:
    async def run() -> None:
        desk = SubjectDesk()
        record = curated(desk, system_fact("Order A-17 was two days late."), Source.SYSTEM)
        await desk.handle(record, record)
        assert len(desk.site.ledger.outcomes(0)) == 1
        assert len(desk.site.ledger.state(desk.keys.subject).memories) == 1

    run_virtual(run())
