"""Workers that cannot begin: they end with an error, and never hang."""

from __future__ import annotations

import asyncio
import gc

import pytest

from processors.group import LogTruncated
from schemas.errors import ReadModelUnavailable
from schemas.ports import PartitionProgress
from tests.conftest import TestStores
from tests.support.extractors import NotingExtractor
from tests.support.memory_ledger import MemoryLedger
from tests.support.memory_worker import MemorySite
from tests.support.one_process import OneProcess, opened_pipeline
from tests.support.waiting import eventually

END_S = 40.0


class BrokenLedger(MemoryLedger):
    """A ledger whose progress is what the test says."""

    def __init__(self, answer: PartitionProgress | Exception) -> None:
        site = MemorySite()
        super().__init__(site.log, site.keyring, generation="g1", partitions=1)
        self.answer = answer
        self.asked = 0

    async def progress(self, partition: int) -> PartitionProgress:
        del partition
        self.asked += 1
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def ended(pipeline: OneProcess, ledger: BrokenLedger) -> None:
    """Run a worker until it ends by itself."""
    worker = pipeline.worker(NotingExtractor(), ledger)
    await asyncio.wait_for(worker.run(asyncio.Event()), END_S)


def test_a_bug_while_an_assignment_begins_ends_the_worker_with_its_error(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline:
            with pytest.raises(RuntimeError, match="a bug"):
                await ended(pipeline, BrokenLedger(RuntimeError("a bug")))

    asyncio.run(run())


def test_a_log_that_lost_what_was_worked_on_ends_the_worker_with_an_error(
    stores: TestStores,
) -> None:
    async def run() -> None:
        beyond = PartitionProgress(
            open_offsets=frozenset(), turns_next=1000, memories_next=0, proposals_floor=0
        )
        async with opened_pipeline(stores) as pipeline:
            with pytest.raises(LogTruncated, match="restore the log"):
                await ended(pipeline, BrokenLedger(beyond))

    asyncio.run(run())


def test_a_worker_that_waits_for_the_read_model_leaves_when_it_is_told_to(
    stores: TestStores,
) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline:
            ledger = BrokenLedger(ReadModelUnavailable("down"))
            worker = pipeline.worker(NotingExtractor(), ledger)
            stop = asyncio.Event()
            running = asyncio.create_task(worker.run(stop))

            async def asking() -> bool:
                return ledger.asked > 0

            await eventually(asking, what="the worker to ask for its progress")
            assert worker.not_ready == "no partition is assigned"
            stop.set()
            await asyncio.wait_for(running, END_S)

    asyncio.run(run())


# Faust leaves the loop of a thread that could not start; the process is about to end anyway.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_broker_that_is_not_there_ends_the_worker_with_an_error(stores: TestStores) -> None:
    async def run() -> None:
        async with opened_pipeline(stores) as pipeline:
            ledger = BrokenLedger(ReadModelUnavailable("down"))
            worker = pipeline.worker(NotingExtractor(), ledger, bootstrap="127.0.0.1:1")
            with pytest.raises(Exception, match=r"127\.0\.0\.1"):
                await asyncio.wait_for(worker.run(asyncio.Event()), END_S)

    asyncio.run(run())
    gc.collect()
