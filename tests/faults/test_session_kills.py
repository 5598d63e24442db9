"""Workers and the projector killed while turns wait for their sessions, and while these end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from schemas.topics import TURNS
from tests.support.conversations import Conversations
from tests.support.pipeline import Pipeline, running_pipeline
from tests.support.pipeline_checks import assert_audit_passes, assert_one_memory_each

SEED = 20_261_130
TURNS_IN_ALL = 160


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    with running_pipeline(workers=2, extraction_mode="session", session_idle_s=1) as running:
        running.journal.ask(delay_s=0.02)
        yield running


def closings(pipeline: Pipeline) -> Counter[str]:
    """Return how records closed, those that are open apart."""
    rows = pipeline.rows("SELECT closing, count(*) FROM turns WHERE closing IS NOT NULL GROUP BY 1")
    return Counter(dict(rows))


def ends(pipeline: Pipeline) -> int:
    """Return how many sessions were ended, as the log has it."""
    names = Counter(record.header().schema_name for record in pipeline.records(TURNS))
    return names["session-end"]


@pytest.mark.lasting_broker(reason="long enough that the trial one's takeovers would be waited for")
def test_every_turn_is_settled_once_whoever_dies_meanwhile(pipeline: Pipeline) -> None:
    client = pipeline.client()
    conversations = Conversations(seed=SEED, users=20)
    client.post_lists(conversations.turns(TURNS_IN_ALL // 2))
    pipeline.wait_until(lambda: ends(pipeline) > 0, what="a session to end", timeout_s=60)
    for name in ("worker-1", "projector"):
        pipeline.processes[name].kill()
        pipeline.processes[name].start()
    client.post_lists(conversations.turns(TURNS_IN_ALL // 2))
    pipeline.processes["worker-2"].kill()
    pipeline.processes["worker-2"].start()

    def settled() -> bool:
        found = closings(pipeline)
        return found["stored"] >= TURNS_IN_ALL and found["deferred"] == 0

    pipeline.wait_until(settled, what="every turn to be settled", timeout_s=120)
    pipeline.wait_settled()
    accepted = {turn.turn_id for turn in client.accepted.values()}
    assert len(accepted) == TURNS_IN_ALL
    assert_one_memory_each(pipeline, accepted, note=f"seed {SEED}")
    assert_audit_passes(pipeline, note=f"seed {SEED}")
    assert set(closings(pipeline)) <= {"stored", "nothing_found"}
