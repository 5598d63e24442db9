"""Having summaries made again: once for each cause and hour, where a worker holds the partition."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest

from processors import due_ends
from processors.due_ends import DueEndParts
from processors.own_records import OwnRecords
from processors.summary_timers import SummaryTimers
from schemas.commands import SessionEnd, SessionEndCause
from schemas.log.sealed import open_record
from schemas.summaries import DueSummary
from schemas.topics import TURNS
from tests.support.desk import SubjectDesk
from tests.support.turns import NOON
from tests.support.virtual_time import run_virtual


class Timed:
    """A worker whose summaries are made again by a timer."""

    def __init__(self) -> None:
        self.desk = SubjectDesk(summarises=True)
        self.ready = {0: True}
        self.now = NOON
        self.timers = self.another()

    def another(self) -> SummaryTimers:
        """Return the timers of one more worker."""
        desk = self.desk
        return SummaryTimers(
            DueEndParts(
                records=OwnRecords(
                    keyring=desk.site.keyring,
                    producer=desk.worker.producer,
                    budget=desk.budget,
                    clock=lambda: self.now,
                ),
                ready=lambda: self.ready,
                clock=lambda: self.now,
            ),
            desk.site.summaries,
        )

    def due(self, *marks: int) -> None:
        """Let summaries be due, each of a conversation of its own."""
        self.desk.site.summaries.due_now = [
            DueSummary(
                subject=self.desk.keys.subject, conversation_id=f"c{mark}", mark=UUID(int=mark)
            )
            for mark in marks
        ]

    @property
    def ends(self) -> list[SessionEnd]:
        """What was appended."""
        return [
            open_record(SessionEnd, record, self.desk.keys)
            for record in self.desk.site.log.records(TURNS, 0)
        ]


def test_what_is_due_is_asked_for_once_in_an_hour_by_all_workers_under_one_id() -> None:
    async def run() -> None:
        timed = Timed()
        timed.due(1)
        assert await timed.timers.look() == 1
        assert await timed.timers.look() == 0
        assert await timed.another().look() == 1
        first, again = timed.ends
        assert (first.conversation_id, first.cause) == ("c1", SessionEndCause.SUMMARY)
        assert first.turn_id == again.turn_id
        timed.now += timedelta(hours=1)
        assert await timed.timers.look() == 1
        timed.due(2)
        assert await timed.timers.look() == 1
        assert len({end.turn_id for end in timed.ends}) == 3

    run_virtual(run())


def test_nothing_is_asked_for_without_the_partition_or_a_budget() -> None:
    async def run() -> None:
        timed = Timed()
        timed.due(1)
        timed.ready[0] = False
        assert await timed.timers.look() == 0
        timed.ready[0] = True
        timed.desk.budget.over = True
        assert await timed.timers.look() == 0
        timed.desk.budget.over = False
        assert await timed.timers.look() == 1

    run_virtual(run())


def test_each_look_passes_by_a_bounded_number_and_the_next_goes_on_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(due_ends, "_PAGE", 2)
    monkeypatch.setattr(due_ends, "PAGES_MAX", 2)

    async def run() -> None:
        timed = Timed()
        timed.due(*range(1, 8))
        assert [await timed.timers.look() for _ in range(3)] == [4, 3, 0]
        assert sorted(end.conversation_id for end in timed.ends) == [f"c{n}" for n in range(1, 8)]

    run_virtual(run())
