"""Recording what was served: never waited for, never failing a recall, counted where it fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.injection import block
from projections.recall_log import Asked, RecallLog
from projections.recall_log_metrics import RECORDED, UNRECORDED
from schemas.errors import KeyMissing, KeyringUnavailable, LogBusy, LogUnavailable
from schemas.injection import InjectionForm
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, SealedRecord, open_record
from schemas.partitioning import partition_for
from schemas.recalls import ServedRecall, block_digest
from schemas.topics import RECALLS
from tests.support.recalled import recalled, result_of
from tests.support.waiting import eventually
from tests.unit.producers.fakes import InMemoryKeyring

PARTITIONS = 4
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


class _Log:
    """Takes records, at once or when it is told to, or refuses them."""

    def __init__(self) -> None:
        self.records: list[tuple[str, int, SealedRecord]] = []
        self.refuse: Exception | None = None
        self.held: list[asyncio.Future[int]] = []
        self.holds = False
        self.on_submit: Callable[[], None] = lambda: None

    def submit(self, topic: str, partition: int, record: SealedRecord) -> asyncio.Future[int]:
        if self.refuse is not None:
            raise self.refuse
        self.on_submit()
        self.records.append((topic, partition, record))
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        if self.holds:
            self.held.append(future)
        else:
            future.set_result(len(self.records) - 1)
        return future


class _Site:
    """A recorder over fakes, with the keys of one user."""

    def __init__(self, **arguments: Any) -> None:
        self.log, self.keyring = _Log(), InMemoryKeyring()
        self.keys = self.keyring.keys_of("acme", "ann")
        self.keys_of: Callable[
            [Collection[UUID]], Awaitable[Mapping[UUID, SubjectKeys | Erased]]
        ] = self.keyring.keys
        self.recalls = RecallLog(
            self.log, self._keys, partitions=PARTITIONS, clock=lambda: NOW, **arguments
        )

    async def _keys(self, subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
        return await self.keys_of(subjects)

    def opened(self) -> list[ServedRecall]:
        return [
            open_record(
                ServedRecall,
                LogRecord(
                    position=LogPosition(topic=topic, partition=partition, offset=offset),
                    timestamp_ms=0,
                    key=record.key,
                    value=record.value,
                    headers=record.headers,
                ),
                self.keys,
            )
            for offset, (topic, partition, record) in enumerate(self.log.records)
        ]


def _recorded() -> float:
    return float(RECORDED._value.get())


def _unrecorded(cause: str) -> float:
    return float(UNRECORDED.labels(cause)._value.get())


def test_a_record_tells_what_was_served_and_no_word_of_it() -> None:
    async def act() -> None:
        site = _Site()
        over = datetime(2026, 2, 1, 9, tzinfo=UTC)
        served = [recalled("Lives in Pune"), recalled("Lived in Goa", score=None, valid_to=over)]
        result = result_of(*served, policy="gated")
        before = _recorded()

        site.recalls.note(
            site.keys.subject, result, Asked(form=InjectionForm.XML, as_of=NOW, known_at=None)
        )
        await site.recalls.close()

        (record,) = site.opened()
        assert [(topic, partition) for topic, partition, _ in site.log.records] == [
            (RECALLS, partition_for(site.keys.subject, PARTITIONS))
        ]
        assert (record.recall_id, record.served_at, record.policy) == (
            result.recall_id,
            NOW,
            "gated",
        )
        assert (record.form, record.as_of, record.known_at) == (InjectionForm.XML, NOW, None)
        assert [(memory.memory_id, memory.score, memory.until) for memory in record.memories] == [
            (served[0].memory_id, 0.7, None),
            (served[1].memory_id, None, "2026-02-01"),
        ]
        assert record.digest == block_digest(
            site.keys.id_secret, result.recall_id, block(served, InjectionForm.XML)
        )
        assert "Pune" not in record.model_dump_json()
        assert _recorded() == before + 1

    asyncio.run(act())


def test_nothing_is_waited_for() -> None:
    async def act() -> None:
        site = _Site()
        asked_for_keys = asyncio.Event()

        async def never(_subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
            asked_for_keys.set()
            await asyncio.Event().wait()
            return {}

        site.keys_of = never
        site.recalls.note(site.keys.subject, result_of(), Asked())  # it returns
        await asked_for_keys.wait()
        assert site.log.records == []

    asyncio.run(act())


@pytest.mark.parametrize(
    ("failure", "cause"),
    [
        (LogUnavailable("no acknowledgement"), "LogUnavailable"),
        (LogBusy("too much waits"), "LogBusy"),
        (RuntimeError("a fault of our own"), "RuntimeError"),
    ],
    ids=["away", "busy", "fault"],
)
def test_a_log_that_refuses_is_counted_and_told(
    failure: Exception, cause: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def act() -> None:
        site = _Site()
        site.log.refuse = failure
        before = _unrecorded(cause)

        site.recalls.note(site.keys.subject, result_of(), Asked())
        await site.recalls.close()

        assert _unrecorded(cause) == before + 1
        assert "answered and not recorded" in caplog.text

    with caplog.at_level(logging.WARNING):
        asyncio.run(act())


def test_a_keyring_that_is_away_is_counted_and_no_erasure() -> None:
    async def act() -> None:
        site = _Site()

        async def away(_subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
            raise KeyringUnavailable("it does not answer")

        site.keys_of = away
        before = _unrecorded("KeyringUnavailable")
        site.recalls.note(site.keys.subject, result_of(), Asked())
        await site.recalls.close()
        assert _unrecorded("KeyringUnavailable") == before + 1

    asyncio.run(act())


def test_beyond_the_most_that_wait_a_recall_is_not_recorded() -> None:
    async def act() -> None:
        site = _Site(pending_max=2)
        site.log.holds = True
        before = _unrecorded("busy")
        for _ in range(2):
            site.recalls.note(site.keys.subject, result_of(), Asked())

        async def both_wait() -> bool:
            return len(site.log.held) == 2

        await eventually(both_wait, what="two records to wait")
        site.recalls.note(site.keys.subject, result_of(), Asked())
        assert _unrecorded("busy") == before + 1

        for future in site.log.held:
            future.set_result(0)
        await site.recalls.close()
        site.log.holds = False
        site.recalls.note(site.keys.subject, result_of(), Asked())
        await site.recalls.close()
        assert len(site.opened()) == 3

    asyncio.run(act())


def test_of_an_erased_user_and_of_a_stranger_nothing_is_recorded() -> None:
    async def act() -> None:
        site = _Site()
        site.recalls.note(uuid4(), result_of(), Asked())
        site.recalls.note(None, result_of(), Asked())
        await site.recalls.close()
        assert site.log.records == []

    asyncio.run(act())


def test_recalls_that_come_together_are_recorded_in_one_round() -> None:
    async def act() -> None:
        site = _Site(gather_s=60)
        rounds: list[Collection[UUID]] = []

        async def counted(subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
            rounds.append(subjects)
            return await site.keyring.keys(subjects)

        site.keys_of = counted
        served = [result_of() for _ in range(3)]
        for result in served:
            site.recalls.note(site.keys.subject, result, Asked())
        site.recalls.note(uuid4(), result_of(), Asked())  # of somebody who is erased
        await site.recalls.close()
        assert [len(subjects) for subjects in rounds] == [2]
        assert [record.recall_id for record in site.opened()] == [
            result.recall_id for result in served
        ]

    asyncio.run(act())


def test_a_round_lets_others_go_first_and_reaches_the_producer_in_one_go() -> None:
    async def act() -> None:
        site = _Site(gather_s=60)
        turns, turn_of_each = 0, list[int]()
        site.log.on_submit = lambda: turn_of_each.append(turns)

        async def others() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        for _ in range(3):
            site.recalls.note(site.keys.subject, result_of(), Asked())
        running = asyncio.create_task(others())
        await asyncio.sleep(0)
        before = turns
        await site.recalls.close()
        running.cancel()
        assert len(turn_of_each) == 3
        assert len(set(turn_of_each)) == 1
        assert turn_of_each[0] - before > 3

    asyncio.run(act())


def test_one_that_cannot_be_recorded_takes_no_other_with_it() -> None:
    async def act() -> None:
        site = _Site()
        lacking, before = uuid4(), (_recorded(), _unrecorded("KeyMissing"))

        async def lacks_one(subjects: Collection[UUID]) -> Mapping[UUID, SubjectKeys | Erased]:
            if lacking in subjects:
                raise KeyMissing("neither keys nor a record of their end")
            return await site.keyring.keys(subjects)

        site.keys_of = lacks_one
        for subject in (site.keys.subject, lacking, site.keys.subject):
            site.recalls.note(subject, result_of(), Asked())
        await site.recalls.close()
        assert (_recorded(), _unrecorded("KeyMissing")) == (before[0] + 2, before[1] + 1)

    asyncio.run(act())


def test_a_round_does_not_wait_for_the_acknowledgement_of_the_one_before() -> None:
    async def act() -> None:
        site = _Site(gather_s=0)
        site.log.holds = True
        for submitted in (1, 2):
            site.recalls.note(site.keys.subject, result_of(), Asked())

            async def all_wait(number: int = submitted) -> bool:
                return len(site.log.held) == number

            await eventually(all_wait, what="a record to wait beside the others")
        for report in site.log.held:
            report.set_result(0)
        await site.recalls.close()

    asyncio.run(act())


def test_each_record_counts_once_whatever_became_of_it_when_the_process_ends() -> None:
    async def act() -> None:
        site = _Site(close_s=0.05)
        site.log.holds = True
        before = _recorded(), _unrecorded("LogUnavailable"), _unrecorded("busy")
        for _ in range(4):
            site.recalls.note(site.keys.subject, result_of(), Asked())

        async def all_wait() -> bool:
            return len(site.log.held) == 4

        await eventually(all_wait, what="four records to wait")
        acknowledged, failed, given_up, late = site.log.held
        acknowledged.set_result(0)
        failed.set_exception(LogUnavailable("no acknowledgement"))
        given_up.cancel()
        site.recalls.note(uuid4(), result_of(), Asked())  # of somebody who is erased
        await site.recalls.close()
        late.set_result(1)
        await asyncio.sleep(0)
        assert (_recorded(), _unrecorded("LogUnavailable"), _unrecorded("busy")) == (
            before[0] + 1,
            before[1] + 2,
            before[2] + 1,
        )

    asyncio.run(act())
