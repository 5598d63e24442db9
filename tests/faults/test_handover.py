"""Two workers share the partitions; one of them leaves, falls silent or dies."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Self

import pytest

from tests.support.chat_client import ChatClient
from tests.support.conversations import Conversations
from tests.support.journal import Call
from tests.support.pipeline import Pipeline, running_pipeline
from tests.support.pipeline_checks import assert_nothing_lost_or_doubled
from tests.support.service_process import ServiceProcess
from tests.support.waiting import wait_until

logger = logging.getLogger(__name__)

SEED = 20_260_302
TURNS = 480
USERS = 40
DELAY_S = 0.2
UNDER_WAY = 40

_rounds = count(1)


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    with running_pipeline(workers=2) as running:
        running.journal.ask(delay_s=DELAY_S)
        yield running


class TestTheOtherWorker:
    @pytest.mark.parametrize("leave", [ServiceProcess.stop, ServiceProcess.kill])
    def test_goes_on_with_the_partitions_of_one_that_ends(
        self, pipeline: Pipeline, leave: Callable[[ServiceProcess], None]
    ) -> None:
        leaving, _ = pipeline.workers
        with _Posted(pipeline) as posted:
            held = posted.wait_for_calls_of(leaving)
            leave(leaving)
            left_at = time.monotonic()
            posted.wait_for_others(held, apart_from=leaving)
            logger.info("%s: taken over after %.1f s", leave.__name__, time.monotonic() - left_at)
        pipeline.wait_settled()
        leaving.start()
        pipeline.wait_ready()
        assert_nothing_lost_or_doubled(pipeline, posted.client, note=posted.note, among_others=True)

    def test_goes_on_with_the_partitions_of_one_that_is_paused_and_comes_back(
        self, pipeline: Pipeline
    ) -> None:
        paused, _ = pipeline.workers
        with _Posted(pipeline) as posted:
            held = posted.wait_for_calls_of(paused)
            paused.pause()
            paused_at = time.monotonic()
            posted.wait_for_others(held, apart_from=paused)
            silent_s = time.monotonic() - paused_at
            # Back in the middle of the other's work, with answers that it still had in hand.
            paused.resume()
            assert silent_s > pipeline.settings.session_timeout_s / 2
            logger.info("pause: taken over after %.1f s", silent_s)
        pipeline.wait_settled()
        pipeline.wait_ready()
        assert paused.running, "a worker that was paused must find its way back"
        assert_nothing_lost_or_doubled(pipeline, posted.client, note=posted.note, among_others=True)


class _Posted:
    """Turns of new users, posted beside the block."""

    def __init__(self, pipeline: Pipeline) -> None:
        number = next(_rounds)
        self.note = f"seed {SEED + number}"
        self.client: ChatClient = pipeline.client()
        self._pipeline = pipeline
        self._turns = Conversations(
            seed=SEED + number, users=USERS, prefix=f"round-{number}"
        ).turns(TURNS)
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> Self:
        self._from = self._pipeline.journal.count()
        self._posting = self._pool.submit(self.client.post_lists, self._turns)
        return self

    def __exit__(self, *_: object) -> None:
        self._posting.result()
        self._pool.shutdown()

    def wait_for_calls_of(self, worker: ServiceProcess) -> frozenset[int]:
        """Return the partitions whose turns a worker is about, once it has its hands full."""

        def under_way() -> bool:
            return sum(call.pid == worker.pid for call in self._calls()) >= UNDER_WAY

        wait_until(under_way, what=f"{worker.name} to be in the middle of work", poll_s=0.1)
        held = self._partitions_of(lambda pid: pid == worker.pid, since=0.0)
        assert held, "no turn of its is known yet"
        assert len(self._calls()) < TURNS, "all is done already"
        return held

    def wait_for_others(self, held: frozenset[int], *, apart_from: ServiceProcess) -> None:
        """Return once another worker has asked about turns of every one of the partitions."""
        since = time.time()
        pid = apart_from.pid if apart_from.started else -1
        wait_until(
            lambda: held <= self._partitions_of(lambda one: one != pid, since=since),
            what=f"partitions {sorted(held)} to be taken over",
            poll_s=0.2,
            timeout_s=60.0,
        )

    def _partitions_of(self, by: Callable[[int], bool], *, since: float) -> frozenset[int]:
        places = {turn.turn_id: turn.partition for turn in list(self.client.accepted.values())}
        return frozenset(
            places[call.turn_id]
            for call in self._calls()
            if by(call.pid) and call.began_at >= since and call.turn_id in places
        )

    def _calls(self) -> list[Call]:
        return self._pipeline.journal.calls()[self._from :]
