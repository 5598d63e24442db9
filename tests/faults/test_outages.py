"""A store is down for a while: who posts is told to come back, and everything catches up."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest

from schemas.topics import proposals_topic
from tests.support.chat_client import ChatClient
from tests.support.conversations import Conversations
from tests.support.pipeline import Pipeline, running_pipeline
from tests.support.pipeline_checks import assert_nothing_lost_or_doubled, calls_by_turn
from tests.support.pipeline_site import GENERATION
from tests.support.waiting import wait_until

logger = logging.getLogger(__name__)

SEED = 20_260_305
DOWN_S = 20.0
TURNS = 400
AGAIN_S_MAX = 6.0
"""Clients try again at least every two seconds, however long the store was away."""


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    with running_pipeline(workers=1) as running:
        # So that some turns are in the extractor when the store goes away.
        running.journal.ask(delay_s=0.2)
        yield running


class TestAStoreThatIsDown:
    @pytest.mark.parametrize(
        ("seed", "kill"),
        [
            (SEED, Pipeline.kill_postgres),
            pytest.param(
                SEED + 1,
                Pipeline.kill_broker,
                marks=pytest.mark.lasting_broker(reason="the broker is killed and keeps its log"),
            ),
        ],
    )
    def test_is_told_to_who_posts_and_caught_up_with(
        self, pipeline: Pipeline, seed: int, kill: Callable[[Pipeline], None]
    ) -> None:
        client = pipeline.client()
        said = Conversations(seed=seed, users=30, prefix=kill.__name__)
        before = pipeline.journal.count()
        with ThreadPoolExecutor(1) as pool:
            posting = pool.submit(client.post_lists, said.turns(TURNS), length=40)
            wait_until(lambda: pipeline.journal.count() > before + 20, what="work to begin")
            kill(pipeline)
            down_at = time.monotonic()
            # Lists that were accepted before leave nothing to tell: more are posted now.
            late = pool.submit(_post_meanwhile, pipeline, said, client)
            wait_until(
                lambda: _down_long_enough(pipeline, client, down_at),
                what="the outage to be told",
                timeout_s=90.0,
                poll_s=0.2,
            )
            pipeline.start_stores()
            up_at = time.monotonic()
            posting.result()
            late.result()
        again_s = min(one.at_s for one in client.answers if one.status == 202 and one.at_s > up_at)
        logger.info("%s: accepted again after %.1f s", kill.__name__, again_s - up_at)
        pipeline.tend()
        pipeline.wait_settled()
        logger.info("%s: settled after %.1f s", kill.__name__, time.monotonic() - up_at)
        logger.info("processes that ended by themselves: %s", pipeline.ended_unasked)
        assert_nothing_lost_or_doubled(pipeline, client, note=f"seed {seed}", among_others=True)
        assert {answer.status for answer in client.answers} == {202, 503}
        refused = [answer for answer in client.answers if answer.status == 503]
        assert all(answer.retry_after for answer in refused), refused
        assert again_s - up_at < AGAIN_S_MAX, "whoever waits longer than need be has backed off"
        assert pipeline.ended_unasked == []


class TestAnAnswerThatStands:
    def test_is_not_asked_for_again_by_the_worker_that_comes_after(
        self, pipeline: Pipeline
    ) -> None:
        note = f"seed {SEED + 2}"
        client = pipeline.client()
        said = Conversations(seed=SEED + 2, users=30, prefix="answered")
        turns = [said.turn(user=user, text=f"WAITING is what {user} does.") for user in said.users]
        before = pipeline.journal.count()
        proposals = _proposals(pipeline)
        pipeline.journal.ask(blocked=("WAITING",))
        client.post_lists(turns)
        wait_until(
            lambda: pipeline.journal.count() == before + len(turns), what="every turn to be asked"
        )
        # An answer is appended without Postgres; what to make of it cannot be decided.
        pipeline.kill_postgres()
        pipeline.journal.ask()
        wait_until(
            lambda: _proposals(pipeline) == proposals + len(turns), what="every answer to stand"
        )
        (worker,) = pipeline.workers
        worker.kill()
        pipeline.start_stores()
        worker.start()
        pipeline.wait_settled()
        assert_nothing_lost_or_doubled(pipeline, client, note=note, among_others=True)
        asked = calls_by_turn(pipeline)
        assert {asked[turn.turn_id] for turn in client.accepted.values()} == {1}, note


class TestVectors:
    def test_are_made_by_a_running_worker_where_memories_lack_them(
        self, pipeline: Pipeline
    ) -> None:
        client = pipeline.client()
        said = Conversations(seed=SEED + 3, users=2, prefix="lacking")
        client.post_lists(said.turns(10))
        pipeline.wait_settled()
        (owed,) = pipeline.rows("SELECT subject, memory_id, embedding::text FROM memories LIMIT 1")
        subject, memory_id, vector = owed
        of_one = "WHERE subject = %s AND memory_id = %s"
        _write(
            pipeline,
            subject,
            f"UPDATE memories SET embedding = NULL, embedding_model = NULL {of_one}",  # noqa: S608 - a text of this test
            (subject, memory_id),
        )
        made = f"SELECT embedding::text FROM memories {of_one} AND embedding IS NOT NULL"  # noqa: S608 - as above
        wait_until(lambda: pipeline.rows(made, (subject, memory_id)), what="the vector to be made")
        assert pipeline.rows(made, (subject, memory_id)) == [(vector,)]
        # From here on the row is again what the log, which holds this vector, folds to.
        _write(
            pipeline,
            subject,
            f"UPDATE memories SET vector_made_at = NULL {of_one}",  # noqa: S608 - as above
            (subject, memory_id),
        )
        assert_nothing_lost_or_doubled(pipeline, client, note="vectors", among_others=True)

    def test_of_another_model_are_refused_at_the_start(self, pipeline: Pipeline) -> None:
        (worker,) = pipeline.workers
        worker.kill()
        ((canary,),) = pipeline.rows("SELECT canary::text FROM read_model")
        _write(
            pipeline,
            uuid4(),
            "UPDATE read_model SET canary = %s::public.halfvec",
            (_other(canary),),
        )
        worker.start()
        pipeline.wait_until(lambda: not worker.running, what="the worker to end", timeout_s=60.0)
        assert "another model answers for the embedder" in pipeline.logs()
        _write(pipeline, uuid4(), "UPDATE read_model SET canary = %s::public.halfvec", (canary,))
        worker.start()
        pipeline.wait_ready()


def _other(vector: str) -> str:
    """Return a vector, as Postgres writes it, turned into another direction."""
    components = vector.strip("[]").split(",")
    return f"[{','.join([*components[1:], components[0]])}]"


def _write(
    pipeline: Pipeline, subject: UUID, statement: str, parameters: tuple[object, ...]
) -> None:
    with pipeline.read_model() as connection:
        connection.execute(
            "SELECT set_config('memledger.subjects', %s, false)", (f"{{{subject}}}",)
        )
        assert connection.execute(statement, parameters).rowcount == 1


def _proposals(pipeline: Pipeline) -> int:
    return sum(pipeline.ends(proposals_topic(GENERATION)).values())


def _post_meanwhile(pipeline: Pipeline, said: Conversations, client: ChatClient) -> None:
    late = Conversations(seed=said.seed, users=10, prefix=f"late-{said.users[0]}")
    other = pipeline.client()
    other.answers = client.answers
    other.accepted = client.accepted
    other.post_lists(late.turns(TURNS // 4), length=20)


def _down_long_enough(pipeline: Pipeline, client: ChatClient, down_at: float) -> bool:
    pipeline.tend()
    told = any(answer.status == 503 for answer in list(client.answers))
    return told and time.monotonic() - down_at >= DOWN_S
