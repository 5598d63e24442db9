"""One turn that takes for ever, gaps in the log around it, and outcomes that come twice."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest
from confluent_kafka import Producer
from psycopg import sql

from projections.read_model import schema_name
from schemas import ids
from schemas.events import MemoryAdded, MemorySuperseded
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogRecord, SealedRecord, open_record, seal_record
from schemas.records import Outcome
from schemas.topics import memories_topic
from tests.support.chat_client import ChatClient
from tests.support.compaction import compact_at_once, wait_until_gone
from tests.support.conversations import Conversations
from tests.support.pipeline import Pipeline, running_pipeline
from tests.support.pipeline_checks import (
    assert_audit_passes,
    assert_nothing_lost_or_doubled,
    calls_by_turn,
)
from tests.support.pipeline_site import GENERATION
from tests.support.user_erasure import TOPICS, erase, keys_of
from tests.support.waiting import wait_until

logger = logging.getLogger(__name__)

SEED = 20_260_303
BEHIND = 2_400
"""Turns behind the blocked one; with two partitions, more than a thousand in its own."""


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    with running_pipeline(workers=1, partitions=2, window_max=5_000) as running:
        yield running


@pytest.fixture(autouse=True)
def unblocked(pipeline: Pipeline) -> Iterator[None]:
    """Whatever a test leaves blocked is blocked no longer."""
    yield
    pipeline.journal.ask()


class TestABlockedTurn:
    def test_is_processed_after_a_kill_though_thousands_behind_it_are_done(
        self, pipeline: Pipeline
    ) -> None:
        client = pipeline.client()
        said = Conversations(seed=SEED, users=60, prefix="behind")
        patient = said.turn(user="patient", text="Of this I thought for long: PATIENCE itself.")
        _block(pipeline, client, patient, word="PATIENCE")
        began = time.monotonic()
        client.post_lists(said.turns(BEHIND), length=200)
        _wait_for_all_but_one(pipeline)
        logger.info("%d turns behind were done in %.1f s", BEHIND, time.monotonic() - began)

        _restart_the_worker(pipeline)
        blocked = client.accepted["patient", patient["turn_id"]].turn_id
        wait_until(
            lambda: calls_by_turn(pipeline)[blocked] == 2,
            what="the turn to be asked about again",
            timeout_s=60.0,
        )
        pipeline.journal.ask()
        pipeline.wait_settled()
        assert_nothing_lost_or_doubled(pipeline, client, note=f"seed {SEED}")
        assert sum(calls_by_turn(pipeline).values()) == len(client.accepted) + 1

    @pytest.mark.lasting_broker(reason="the log is compacted")
    def test_is_processed_after_a_kill_though_the_log_around_it_has_gaps(
        self, pipeline: Pipeline
    ) -> None:
        stays, leaves = pipeline.client(), pipeline.client()
        said = Conversations(seed=SEED + 1, users=20, prefix="stays")
        leavers = Conversations(seed=SEED + 2, users=8, prefix="leaves")
        stays.post_lists(said.turns(100))
        leaves.post_lists(leavers.turns(100))
        patient = said.turn(user="patient", text="Once more I thought: ENDURANCE it was.")
        _block(pipeline, stays, patient, word="ENDURANCE")
        leaves.post_lists(leavers.turns(100))
        stays.post_lists(said.turns(100))
        _wait_for_all_but_one(pipeline)

        compact_at_once(pipeline.bootstrap, TOPICS)
        gone = erase(pipeline, leavers.users)
        assert len(gone) == 3 * len(leaves.accepted), "a turn, a proposal and an outcome each"
        wait_until_gone(pipeline, gone)
        _wait_for_all_but_one(pipeline)

        _restart_the_worker(pipeline)
        pipeline.journal.ask()
        pipeline.wait_settled()
        assert_nothing_lost_or_doubled(pipeline, stays, note=f"seed {SEED + 1}", among_others=True)


class TestAnOutcomeThatComesTwice:
    @pytest.mark.lasting_broker(reason="the log is compacted")
    def test_changes_nothing_now_nor_in_a_rebuild_after_compaction(
        self, pipeline: Pipeline
    ) -> None:
        note = f"seed {SEED + 3}"
        client, leaves = pipeline.client(), pipeline.client()
        said = Conversations(seed=SEED + 3, users=10, prefix="twice")
        leavers = Conversations(seed=SEED + 4, users=4, prefix="gone")
        client.post_lists(said.turns(100))
        leaves.post_lists(leavers.turns(100))
        client.post_lists(said.turns(100))
        pipeline.wait_settled()
        before = _read_model(pipeline)

        again = _sent_again(pipeline, said.users, client)
        assert len(again) >= 2 * 50
        _append(pipeline, again)
        # Of what closes no version, so that nothing of before may change.
        client.post_lists([said.turn(user="twice-0", text=f"Then {n} more.") for n in range(20)])
        pipeline.wait_settled()
        live = _read_model(pipeline)
        assert before.items() <= live.items(), f"{note}: a row changed"
        added = {row: told for row, told in live.items() if row not in before}
        kinds = Counter(kind for kind, _ in added)
        assert kinds == {"memory": 20, "turn": 20}, f"{note}: {sorted(added.items())}"
        assert_nothing_lost_or_doubled(pipeline, client, note=note, among_others=True)
        assert pipeline.audit()["totals"]["doubled_outcomes"] == len(again)

        compact_at_once(pipeline.bootstrap, TOPICS)
        wait_until_gone(pipeline, erase(pipeline, leavers.users))
        pipeline.wait_settled()
        live = _read_model(pipeline)
        _rebuild(pipeline)
        rebuilt = _read_model(pipeline)
        assert rebuilt == live, f"{note}: {_differences(live, rebuilt)}"
        assert_audit_passes(pipeline, note=note)


def _block(pipeline: Pipeline, client: ChatClient, turn: dict[str, Any], *, word: str) -> None:
    """Post a turn that holds the word, and return once the extractor is busy with it."""
    pipeline.wait_settled()
    before = pipeline.journal.count()
    pipeline.journal.ask(blocked=(word,))
    client.post_lists([turn])
    wait_until(lambda: pipeline.journal.count() > before, what="the blocked turn to be asked about")


def _wait_for_all_but_one(pipeline: Pipeline) -> None:
    wait_until(
        lambda: pipeline.left_to_do() == 1,
        what="everything but one turn to be done",
        timeout_s=90.0,
        poll_s=0.4,
    )


def _restart_the_worker(pipeline: Pipeline) -> None:
    (worker,) = pipeline.workers
    worker.kill()
    killed_at = time.monotonic()
    worker.start()
    pipeline.wait_ready()
    logger.info("worker killed: ready after %.1f s", time.monotonic() - killed_at)


def _sent_again(
    pipeline: Pipeline, users: Sequence[str], client: ChatClient
) -> list[tuple[int, SealedRecord]]:
    """Return appends of the users' outcomes as they stand, and as they might have been decided."""
    keys = {one.subject: one for one in keys_of(pipeline, users).values()}
    early = {
        ids.outcome_id(GENERATION, turn.turn_id) for turn in list(client.accepted.values())[:60]
    }
    appends = []
    for record in pipeline.records(memories_topic(GENERATION)):
        if record.value is None or not record.headers:
            continue
        header = record.header()
        if header.subject in keys and header.record_id in early:
            partition = record.position.partition
            appends.append((partition, _as_it_stands(record)))
            appends.append((partition, _decided_otherwise(record, keys[header.subject])))
    return appends


def _as_it_stands(record: LogRecord) -> SealedRecord:
    assert record.value is not None
    return SealedRecord(
        key=ids.append_key(record.header().record_id), value=record.value, headers=record.headers
    )


def _decided_otherwise(record: LogRecord, keys: SubjectKeys) -> SealedRecord:
    outcome = open_record(Outcome, record, keys)
    (event,) = outcome.events
    assert isinstance(event, MemoryAdded | MemorySuperseded)
    memory = event.memory.model_copy(update={"content": "Something else altogether"})
    other = outcome.model_copy(update={"events": (event.model_copy(update={"memory": memory}),)})
    header = record.header()
    return seal_record(other, keys=keys, record_id=header.record_id, address=header.address)


def _append(pipeline: Pipeline, records: Sequence[tuple[int, SealedRecord]]) -> None:
    producer = Producer({"bootstrap.servers": pipeline.bootstrap, "log_level": 3})
    for partition, record in records:
        producer.produce(
            memories_topic(GENERATION),
            record.value,
            record.key,
            partition=partition,
            headers=list(record.headers),
        )
    assert producer.flush(30) == 0


def _rebuild(pipeline: Pipeline) -> None:
    """Throw the read model away and let the projector make it anew from the log."""
    for process in pipeline.processes.values():
        process.stop()
    superuser = pipeline.postgres.superuser_url("memledger")
    with psycopg.connect(superuser, autocommit=True) as connection:
        schema = sql.Identifier(schema_name(GENERATION))
        connection.execute(sql.SQL("DROP SCHEMA {} CASCADE").format(schema))
    began = time.monotonic()
    for process in pipeline.processes.values():
        process.start()
    pipeline.wait_ready()
    pipeline.wait_settled()
    logger.info("rebuilt in %.1f s, starting included", time.monotonic() - began)


def _read_model(pipeline: Pipeline) -> dict[tuple[str, str], str]:
    """Return every memory and every closed turn, whole, by what it is."""
    memories = pipeline.rows("SELECT memory_id::text, memories::text FROM memories")
    turns = pipeline.rows("SELECT turn_id::text, turns::text FROM turns")
    return {
        **{("memory", one): row for one, row in memories},
        **{("turn", one): row for one, row in turns},
    }


def _differences(
    live: dict[tuple[str, str], str], rebuilt: dict[tuple[str, str], str]
) -> list[tuple[str | None, str | None]]:
    return [
        (live.get(key), rebuilt.get(key))
        for key in sorted(live.keys() | rebuilt.keys())
        if live.get(key) != rebuilt.get(key)
    ][:3]
