"""Sorting what was polled, by headers alone."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest

from projections.batch import Advance, BatchReader, BuriedTurn, LogEnd, LogItem, SeenTurn
from schemas import ids
from schemas.log.sealed import HEADER_NAME, Headers, LogPosition, LogRecord
from schemas.partitioning import partition_for
from schemas.sealing import Header
from schemas.topics import TURNS, memories_topic

_SYSTEM = UUID(int=9)
_SUBJECT = UUID(int=1)
_MEMORIES = memories_topic("g1")
_READER = BatchReader(generation="g1", system_subject=_SYSTEM, partitions=1)


def _headers(record_id: UUID) -> Headers:
    header = Header(
        subject=_SUBJECT, record_id=record_id, address=0, schema_name="turn", schema_version=1
    )
    return [(HEADER_NAME, header.encode())]


def _record(
    offset: int,
    *,
    topic: str = TURNS,
    partition: int = 0,
    record_id: UUID | None = None,
    headers: Headers | None = None,
    key: bytes | None = None,
    value: bytes | None = b"sealed",
) -> LogRecord:
    return LogRecord(
        position=LogPosition(topic=topic, partition=partition, offset=offset),
        timestamp_ms=0,
        key=key,
        value=value,
        headers=_headers(record_id or uuid4()) if headers is None else headers,
    )


def test_each_partition_advances_past_its_last_record() -> None:
    items: list[LogItem] = [
        _record(3),
        _record(8),
        _record(0, partition=1),
        _record(4, topic=_MEMORIES),
        LogEnd(position=LogPosition(topic=_MEMORIES, partition=1, offset=6)),
    ]
    positions = {(TURNS, 0): 3, (TURNS, 1): 0, (_MEMORIES, 0): 2, (_MEMORIES, 1): 5}

    batch = _READER.read(items, positions)

    assert batch.advances == {
        (TURNS, 0): Advance(before=3, after=9),
        (TURNS, 1): Advance(before=0, after=1),
        (_MEMORIES, 0): Advance(before=2, after=5),
        (_MEMORIES, 1): Advance(before=5, after=6),
    }
    assert batch.partitions == [0, 1]


def test_what_lies_below_the_position_is_left_out() -> None:
    items: list[LogItem] = [
        _record(1),
        LogEnd(position=LogPosition(topic=TURNS, partition=0, offset=2)),
    ]

    batch = _READER.read(items, {(TURNS, 0): 2})

    assert (batch.turns, batch.advances) == ([], {})


def test_of_two_appends_of_a_turn_the_first_counts() -> None:
    turn_id = uuid4()

    batch = _READER.read(
        [_record(1, record_id=turn_id), _record(2, record_id=turn_id)], {(TURNS, 0): 0}
    )

    assert batch.turns == [SeenTurn(subject=_SUBJECT, turn_id=turn_id, partition=0, offset=1)]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("other", b"x")],
        [(HEADER_NAME, b"")],
        [(HEADER_NAME, b"\xff" * 60)],
        2 * _headers(UUID(int=5)),
    ],
)
def test_a_turn_without_a_readable_header_is_counted_as_the_systems(headers: Headers) -> None:
    batch = _READER.read([_record(7, partition=2, headers=headers)], {(TURNS, 2): 0})

    unreadable = ids.unreadable_turn_id(TURNS, 2, 7)
    assert batch.turns == [SeenTurn(subject=_SYSTEM, turn_id=unreadable, partition=2, offset=7)]


def test_an_empty_value_is_a_turn_and_no_tombstone() -> None:
    assert len(_READER.read([_record(0, value=b"")], {(TURNS, 0): 0}).turns) == 1


def test_a_tombstone_names_its_turn_by_its_key_and_its_subject_by_its_header() -> None:
    turn_id = uuid4()
    key = ids.append_key(turn_id)

    batch = _READER.read(
        [
            _record(0, key=key, value=None, record_id=turn_id),
            _record(1, key=key, value=None, headers=[]),
            _record(2, key=b"short", value=None),
        ],
        {(TURNS, 0): 0},
    )

    assert batch.turns == []
    assert batch.buried_turns == [
        BuriedTurn(subject=_SUBJECT, turn_id=turn_id),
        BuriedTurn(subject=None, turn_id=turn_id),
    ]
    assert batch.advances == {(TURNS, 0): Advance(before=0, after=3)}


def test_an_outcome_without_a_readable_header_is_poison() -> None:
    record = _record(0, topic=_MEMORIES, headers=[])

    batch = _READER.read([record], {(_MEMORIES, 0): 0})

    assert [(poison.record, poison.stage) for poison in batch.poison] == [(record, "open")]
    assert batch.outcomes == []


def test_an_outcome_that_was_refused_is_poison() -> None:
    record, refusal = _record(0, topic=_MEMORIES), ValueError("refused")

    batch = _READER.read([record], {(_MEMORIES, 0): 0}, {record.position: refusal})

    assert [(poison.error, poison.stage) for poison in batch.poison] == [(refusal, "project")]
    assert batch.outcomes == []


def test_the_subjects_are_those_of_every_record() -> None:
    batch = _READER.read(
        [_record(0), _record(1, headers=[]), _record(0, topic=_MEMORIES)],
        {(TURNS, 0): 0, (_MEMORIES, 0): 0},
    )

    assert batch.subjects == {_SUBJECT, _SYSTEM}
    assert batch.opened_subjects == {_SUBJECT}


def test_a_turn_in_another_partition_than_its_subjects_is_accounted_for_by_the_system() -> None:
    reader = BatchReader(generation="g1", system_subject=_SYSTEM, partitions=8)
    wrong = (partition_for(_SUBJECT, 8) + 1) % 8

    batch = reader.read([_record(5, partition=wrong)], {(TURNS, wrong): 0})

    assert [(turn.subject, turn.turn_id) for turn in batch.turns] == [
        (_SYSTEM, ids.unreadable_turn_id(TURNS, wrong, 5))
    ]
