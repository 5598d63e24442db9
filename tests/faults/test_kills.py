"""Killed without warning in the middle of work: each part alone, then everything at once."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.chat_client import ChatClient
from tests.support.conversations import Conversations
from tests.support.pipeline_checks import assert_nothing_lost_or_doubled
from tests.support.supervised import SupervisedPipeline, ended, supervised_pipeline
from tests.support.waiting import wait_until

logger = logging.getLogger(__name__)

SEED = 20_260_301
TURNS = 1_200
SINGLY = ("worker-1", "projector", "gateway", "broker", "postgres")
ROUND = TURNS // (len(SINGLY) + 1)
UNDER_WAY = 40
"""Calls of the extractor after which a round counts as under way."""


@pytest.fixture(scope="module")
def pipeline() -> Iterator[SupervisedPipeline]:
    with supervised_pipeline() as running:
        # Long enough that many turns are in the extractor at any moment.
        running.journal.ask(delay_s=0.1)
        yield running


class TestKilling:
    @pytest.mark.lasting_broker(reason="the broker is killed and keeps what it had")
    def test_loses_and_doubles_nothing(self, pipeline: SupervisedPipeline) -> None:
        client = pipeline.client()
        conversations = Conversations(seed=SEED, users=50)
        for part in SINGLY:
            with _posting(pipeline, client, conversations, count=ROUND):
                killed = pipeline.kill(part)
                killed_at = time.monotonic()
            pipeline.wait_back(part, instead_of=killed)
            back_s = time.monotonic() - killed_at
            pipeline.wait_settled()
            _tell(part, back_s, killed_at)
        with _posting(pipeline, client, conversations, count=TURNS - len(SINGLY) * ROUND):
            pids = [pipeline.kill(part) for part in pipeline.parts]
            killed_at = time.monotonic()
            wait_until(lambda: all(map(ended, pids)), what="everything's end")
            pipeline.up()
            back_s = time.monotonic() - killed_at
        pipeline.wait_settled()
        _tell("everything", back_s, killed_at)
        assert len(client.accepted) == TURNS
        assert_nothing_lost_or_doubled(pipeline, client, note=f"seed {SEED}")


class _posting:  # noqa: N801 - a context manager that reads as a verb
    """Posts turns beside the block, which begins once they are under way, and ends with them."""

    def __init__(
        self,
        pipeline: SupervisedPipeline,
        client: ChatClient,
        conversations: Conversations,
        *,
        count: int,
    ) -> None:
        self._pipeline = pipeline
        self._client = client
        self._turns = conversations.turns(count)
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> None:
        before = self._pipeline.journal.count()
        self._posted = self._pool.submit(self._client.post_lists, self._turns)
        wait_until(
            lambda: self._pipeline.journal.count() >= before + UNDER_WAY, what="work to begin"
        )
        assert self._pipeline.journal.count() < before + len(self._turns), "all is done already"

    def __exit__(self, *_: object) -> None:
        self._posted.result()
        self._pool.shutdown()


def _tell(part: str, back_s: float, killed_at: float) -> None:
    settled_s = time.monotonic() - killed_at
    logger.info("%s killed: back after %.1f s, settled after %.1f s", part, back_s, settled_s)
