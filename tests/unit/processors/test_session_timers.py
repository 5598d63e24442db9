"""Ending sessions that have gone quiet."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from processors.closers.turns import ExtractionMode
from processors.due_ends import DueEndParts
from processors.own_records import OwnRecords
from processors.ports import Budget, PaidCall
from processors.session_timers import SessionTimers
from schemas.commands import SessionEnd, SessionEndCause
from schemas.log.sealed import LogRecord, open_record
from schemas.records import Closing
from schemas.topics import TURNS
from schemas.waiting import WaitingConversation
from tests.support.desk import SubjectDesk
from tests.support.memory_worker import MemorySite
from tests.support.turns import NOON, sealed_turn
from tests.support.virtual_time import run_virtual

IDLE = timedelta(minutes=30)


class Timed:
    """A worker whose sessions end by a timer."""

    def __init__(self, site: MemorySite | None = None) -> None:
        self.desk = SubjectDesk(mode=ExtractionMode.SESSION, site=site)
        self.ready = {0: True}
        self.now = NOON
        self.timers = self.another()

    def another(self, budget: Budget | None = None) -> SessionTimers:
        """Return the timers of one more worker."""
        desk = self.desk
        return SessionTimers(
            DueEndParts(
                records=OwnRecords(
                    keyring=desk.site.keyring,
                    producer=desk.worker.producer,
                    budget=budget or desk.budget,
                    clock=lambda: self.now,
                ),
                ready=lambda: self.ready,
                clock=lambda: self.now,
            ),
            waiting=desk.site.waiting,
            idle=IDLE,
        )

    @property
    def ends(self) -> list[LogRecord]:
        """The ends of sessions that were appended."""
        return [
            record
            for record in self.desk.site.log.records(TURNS, 0)
            if record.header().schema_name == "session-end"
        ]


def test_a_session_ends_once_it_was_idle_and_not_before() -> None:
    async def run() -> None:
        timed = Timed()
        turn = timed.desk.say("I live in Rome.")
        await timed.desk.handle(turn)
        timed.now = NOON + IDLE
        assert await timed.timers.look() == 0
        timed.now += timedelta(seconds=1)
        assert await timed.timers.look() == 1
        (end,) = timed.ends
        told = open_record(SessionEnd, end, timed.desk.keys)
        assert (told.conversation_id, told.cause) == ("conversation", SessionEndCause.IDLE)
        await timed.desk.handle(end)
        assert await timed.desk.closing(turn) is Closing.STORED
        assert await timed.timers.look() == 0

    run_virtual(run())


def test_a_later_turn_keeps_the_session_open() -> None:
    async def run() -> None:
        timed = Timed()
        await timed.desk.handle(timed.desk.say("I live in Rome."))
        await timed.desk.handle(timed.desk.say("I like tea.", minute=20))
        timed.now = NOON + timedelta(minutes=45)
        assert await timed.timers.look() == 0
        timed.now = NOON + timedelta(minutes=51)
        assert await timed.timers.look() == 1

    run_virtual(run())


def test_two_workers_append_the_same_record_and_the_session_is_settled_once() -> None:
    async def run() -> None:
        timed = Timed()
        turn = timed.desk.say("I live in Rome.")
        await timed.desk.handle(turn)
        timed.now = NOON + timedelta(hours=1)
        assert await timed.timers.look() == 1
        assert await timed.timers.look() == 0
        assert await timed.another().look() == 1
        first, second = timed.ends
        assert first.header().record_id == second.header().record_id
        await timed.desk.handle(first, second)
        assert await timed.desk.closing(turn) is Closing.STORED
        assert len(timed.desk.site.ledger.state(timed.desk.keys.subject).memories) == 1

    run_virtual(run())


def test_only_partitions_that_are_caught_up_with_are_looked_at() -> None:
    async def run() -> None:
        timed = Timed()
        await timed.desk.handle(timed.desk.say("I live in Rome."))
        timed.now = NOON + timedelta(hours=1)
        timed.ready = {0: False}
        assert await timed.timers.look() == 0
        timed.ready = {0: True}
        assert await timed.timers.look() == 1

    run_virtual(run())


def test_a_session_over_budget_ends_when_the_budget_is_renewed() -> None:
    async def run() -> None:
        timed = Timed()
        await timed.desk.handle(timed.desk.say("I live in Rome."))
        timed.now = NOON + timedelta(hours=1)
        timed.desk.budget.over = True
        assert await timed.timers.look() == 0
        timed.desk.budget.over = False
        assert await timed.timers.look() == 1

    run_virtual(run())


def test_an_end_that_settled_nothing_is_followed_by_another_an_hour_later() -> None:
    async def run() -> None:
        timed = Timed()
        turn = timed.desk.say("I live in Rome.")
        await timed.desk.handle(turn)
        timed.now = NOON + timedelta(hours=1)
        assert await timed.timers.look() == 1
        timed.desk.budget.over = True
        await timed.desk.handle(*timed.ends)
        assert await timed.desk.closing(turn) is Closing.DEFERRED
        timed.desk.budget.over = False
        timed.now += timedelta(hours=1)
        assert await timed.timers.look() == 1
        await timed.desk.handle(timed.ends[-1])
        assert await timed.desk.closing(turn) is Closing.STORED

    run_virtual(run())


def test_an_erased_subject_ends_no_session() -> None:
    async def run() -> None:
        timed = Timed()
        await timed.desk.handle(timed.desk.say("I live in Rome."))
        timed.desk.site.keyring.erase(timed.desk.keys.subject)
        timed.now = NOON + timedelta(hours=1)
        assert await timed.timers.look() == 0
        assert timed.ends == []

    run_virtual(run())


class OneTenantOver:
    """A budget that is exhausted for one tenant.

    Attributes:
        asked: of whom it was asked.
    """

    def __init__(self, tenant: str | None) -> None:
        self.asked: list[str | None] = []
        self._over = tenant

    def asking(self, tenant: str | None, model: str) -> AbstractContextManager[PaidCall]:
        """Count nothing."""
        raise AssertionError(f"nothing asks {model} for {tenant} here")

    async def exhausted(self, tenant: str | None) -> object | None:
        """Tell whether it is that tenant."""
        self.asked.append(tenant)
        return tenant if tenant == self._over else None


@pytest.mark.parametrize("held_back", [3, 23])
def test_what_is_held_back_hides_nothing_and_its_budget_is_asked_for_once_a_look(
    held_back: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> None:
        monkeypatch.setattr("processors.due_ends._PAGE", 2)
        monkeypatch.setattr("processors.due_ends.PAGES_MAX", 5)
        timed = Timed()
        for number in range(held_back):
            await timed.desk.handle(timed.desk.say("I like tea.", conversation=f"held {number}"))
        other = timed.desk.site.keyring.put(replace(timed.desk.site.subject(), tenant="with room"))
        behind = sealed_turn(other, "I live in Rome.", partitions=1, minute=1)
        await timed.desk.handle(timed.desk.site.append(behind))
        timed.now = NOON + timedelta(hours=1)
        budget = OneTenantOver(timed.desk.keys.tenant)
        timers = timed.another(budget)
        looks = 0
        while await timers.look() == 0:
            looks += 1
            assert looks <= held_back // 10
        assert looks == held_back // 10
        (end,) = timed.ends
        assert end.header().subject == other.subject
        assert budget.asked == [timed.desk.keys.tenant] * (looks + 1) + ["with room"]
        # It begins again with those that were held back.
        lookups = timed.desk.site.keyring.lookups
        assert await timers.look() == 0
        assert budget.asked[-1] == timed.desk.keys.tenant
        assert timed.desk.site.keyring.lookups - lookups <= 5

    run_virtual(run())


def test_what_is_under_way_is_appended_once_an_hour_however_much_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        monkeypatch.setattr("processors.due_ends._PAGE", 2)
        monkeypatch.setattr("processors.due_ends.PAGES_MAX", 3)
        timed = Timed()
        for number in range(13):
            await timed.desk.handle(timed.desk.say("I like tea.", conversation=f"name {number}"))
        timed.now = NOON + timedelta(hours=1)
        # None of the ends is worked on, so all of these stay among the quiet ones.
        assert [await timed.timers.look() for _ in range(6)] == [6, 6, 1, 0, 0, 0]
        timed.now += timedelta(hours=1)
        assert [await timed.timers.look() for _ in range(4)] == [6, 6, 1, 0]
        assert len({end.header().record_id for end in timed.ends}) == len(timed.ends) == 26

    run_virtual(run())


def test_a_partition_that_is_lost_during_a_look_is_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def run() -> None:
        monkeypatch.setattr("processors.due_ends._PAGE", 1)
        timed = Timed()
        for number in range(3):
            await timed.desk.handle(timed.desk.say("I like tea.", conversation=f"name {number}"))
        timed.now = NOON + timedelta(hours=1)
        quiet_since = timed.desk.site.waiting.quiet_since

        async def lost(**asked: Any) -> tuple[WaitingConversation, ...]:
            timed.ready = {}
            return await quiet_since(**asked)

        monkeypatch.setattr(timed.desk.site.waiting, "quiet_since", lost)
        assert await timed.timers.look() == 1

    run_virtual(run())
