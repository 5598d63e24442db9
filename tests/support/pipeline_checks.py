"""What must hold of a pipeline after any fault, read from its logs and its read model."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from schemas import ids
from schemas.errors import SealBroken
from schemas.log.sealed import LogRecord
from schemas.topics import TURNS, memories_topic, proposals_topic
from tests.support.chat_client import ChatClient
from tests.support.pipeline_site import GENERATION, PipelineSite

# Seconds: the broker stamps whole milliseconds, cut off.
_STAMP_S = 0.001


def assert_nothing_lost_or_doubled(
    pipeline: PipelineSite, *clients: ChatClient, note: str, among_others: bool = False
) -> None:
    """Check that each accepted turn has one outcome and one effect, in order, asked for once.

    Args:
        pipeline: it has settled.
        clients: who posted the turns, all of which bring forth one memory.
        note: what is named in a failure, such as a seed.
        among_others: whether the log holds turns of others too.
    """
    accepted = {turn.turn_id for client in clients for turn in client.accepted.values()}
    assert accepted, note
    turns = pipeline.records(TURNS)
    outcomes = pipeline.records(memories_topic(GENERATION))
    closed = {record_id for record_id, _ in _first_appends(outcomes)}
    lost = [turn_id for turn_id in accepted if ids.outcome_id(GENERATION, turn_id) not in closed]
    assert not lost, f"{note}: {len(lost)} of {len(accepted)} accepted turns have no outcome"
    if not among_others:
        logged = {record_id for record_id, _ in _first_appends(turns)}
        assert logged == accepted, f"{note}: {len(logged)} turns, {len(accepted)} accepted"
    assert_audit_passes(pipeline, note=note)
    assert_one_memory_each(pipeline, accepted, note=note)
    assert_order_kept(turns, outcomes, note=note)
    assert_not_asked_again(pipeline, note=note)


def assert_audit_passes(pipeline: PipelineSite, *, note: str) -> None:
    """Check that the audit finds nothing unaccounted for, in flight or different."""
    report = pipeline.audit()
    totals = report["totals"]
    found = {name: totals[name] for name in ("unaccounted", "in_flight", "missing_outcomes")}
    assert found == {"unaccounted": 0, "in_flight": 0, "missing_outcomes": 0}, f"{note}: {totals}"
    assert report["comparison"]["differences"] == [], f"{note}: {report['comparison']}"
    assert report["passed"], f"{note}: {totals}"


def assert_one_memory_each(pipeline: PipelineSite, accepted: Iterable[UUID], *, note: str) -> None:
    """Check that each accepted turn brought forth one memory."""
    rows = pipeline.rows("SELECT turn_id, count(*) FROM memories GROUP BY turn_id")
    counts = dict(rows)
    wrong = {turn_id: counts.get(turn_id, 0) for turn_id in accepted if counts.get(turn_id) != 1}
    assert not wrong, f"{note}: {len(wrong)} turns without one memory: {list(wrong.items())[:5]}"


def assert_order_kept(
    turns: Iterable[LogRecord], outcomes: Iterable[LogRecord], *, note: str
) -> None:
    """Check that each subject's outcomes were appended in the order of its turns."""
    expected = {
        subject: [ids.outcome_id(GENERATION, turn_id) for turn_id in turn_ids]
        for subject, turn_ids in _by_subject(turns).items()
    }
    for subject, found in _by_subject(outcomes).items():
        if subject in expected:
            wanted = [one for one in expected[subject] if one in set(found)]
            assert found == wanted, f"{note}: subject {subject} is out of order"


def assert_not_asked_again(pipeline: PipelineSite, *, note: str) -> None:
    """Check that no turn was given to the extractor once a proposal for it stood."""
    stood_at: dict[UUID, float] = {}
    for record_id, record in _first_appends(pipeline.records(proposals_topic(GENERATION))):
        stood_at[record_id] = record.timestamp_ms / 1000
    calls = pipeline.journal.calls()
    late = [
        call.began_at - stood_at[proposal_id]
        for call in calls
        if (proposal_id := ids.proposal_id(GENERATION, call.turn_id)) in stood_at
        and call.began_at > stood_at[proposal_id] + _STAMP_S
    ]
    assert not late, f"{note}: {len(late)} calls began after a proposal stood, {late[:5]} s late"


def calls_by_turn(pipeline: PipelineSite) -> Mapping[UUID, int]:
    """Return how often the extractor was asked about each turn."""
    counts: dict[UUID, int] = defaultdict(int)
    for call in pipeline.journal.calls():
        counts[call.turn_id] += 1
    return counts


def _by_subject(records: Iterable[LogRecord]) -> dict[UUID, list[UUID]]:
    found: dict[UUID, list[UUID]] = defaultdict(list)
    for record_id, record in _first_appends(records):
        found[record.header().subject].append(record_id)
    return found


def _first_appends(records: Iterable[LogRecord]) -> list[tuple[UUID, LogRecord]]:
    """Return the append of the lowest offset of each record id, in order of the log."""
    first: dict[UUID, LogRecord] = {}
    for record in records:
        if record.value is None:
            continue
        try:
            first.setdefault(record.header().record_id, record)
        except SealBroken:
            continue
    return list(first.items())
