"""Topics beside the ledger: sorted by headers, opened inside the fence, never closing a turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from secrets import token_bytes
from typing import cast
from unittest.mock import sentinel
from uuid import UUID, uuid4

import pytest

from projections.batch import Advance, Batch, BatchReader, Refusals
from projections.side_topics import OpenedBeside, SideApplier
from schemas.commands import ConsolidationStart
from schemas.database import Connection
from schemas.errors import RecordInvalid
from schemas.keyring import Erased, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, SealedRecord, seal_record
from schemas.partitioning import partition_for
from schemas.tree import SeedSet, address_for

_TOPIC = "memledger.beside"
_AT = datetime(2026, 5, 1, tzinfo=UTC)
_PARTITIONS = 4


def _new_keys() -> SubjectKeys:
    return SubjectKeys(
        subject=uuid4(),
        tenant="acme",
        id_secret=token_bytes(32),
        seeds=SeedSet.root(token_bytes(16)),
    )


@dataclass
class _Noted:
    """A side topic that notes what it is given; ``refused`` names what it does not believe."""

    topic: str = _TOPIC
    model: type[ConsolidationStart] = ConsolidationStart
    refused: frozenset[UUID] = frozenset()
    applied: list[tuple[UUID, UUID]] = field(default_factory=list)

    def check(self, opened: OpenedBeside[ConsolidationStart]) -> None:
        if opened.record_id in self.refused:
            raise RecordInvalid("not to be believed")

    async def apply(
        self, connection: Connection, opened: Sequence[OpenedBeside[ConsolidationStart]]
    ) -> None:
        assert connection is sentinel.connection
        self.applied += [(item.subject, item.record_id) for item in opened]


def _sealed(keys: SubjectKeys, record_id: UUID) -> SealedRecord:
    return seal_record(
        ConsolidationStart(turn_id=record_id, occurred_at=_AT),
        keys=keys,
        record_id=record_id,
        address=address_for(_AT, record_id),
    )


def _record(
    keys: SubjectKeys, record_id: UUID, *, partition: int | None = None, broken: bool = False
) -> LogRecord:
    sealed = _sealed(keys, record_id)
    return LogRecord(
        position=LogPosition(
            topic=_TOPIC,
            partition=_home(keys) if partition is None else partition,
            offset=3,
        ),
        timestamp_ms=0,
        key=sealed.key,
        value=sealed.value[:-1] + bytes([sealed.value[-1] ^ 1]) if broken else sealed.value,
        headers=sealed.headers,
    )


def _home(keys: SubjectKeys) -> int:
    return partition_for(keys.subject, _PARTITIONS)


def _batch(record: LogRecord, refusals: Refusals | None = None) -> Batch:
    reader = BatchReader(
        generation="g1",
        system_subject=UUID(int=9),
        partitions=_PARTITIONS,
        side_topics=[_TOPIC],
    )
    place = (record.position.topic, record.position.partition)
    return reader.read([record], {place: 0}, refusals or {})


def _apply(
    side: _Noted, batch: Batch, states: Mapping[UUID, SubjectKeys | Erased]
) -> list[Exception]:
    connection = cast("Connection", sentinel.connection)
    poison = asyncio.run(SideApplier([side]).apply(connection, batch, states))
    return [item.error for item in poison]


def test_a_record_is_applied_under_its_subject_and_id() -> None:
    keys, record_id, side = _new_keys(), uuid4(), _Noted()
    batch = _batch(_record(keys, record_id))

    assert _apply(side, batch, {keys.subject: keys}) == []
    assert side.applied == [(keys.subject, record_id)]
    assert batch.advances == {(_TOPIC, _home(keys)): Advance(before=0, after=4)}
    assert keys.subject in batch.subjects


def test_a_record_of_an_erased_subject_is_passed_over() -> None:
    keys, side = _new_keys(), _Noted()
    batch = _batch(_record(keys, uuid4()))

    assert (
        _apply(side, batch, {keys.subject: Erased(subject=keys.subject, seq=1, destroyed_at=_AT)})
        == []
    )
    assert side.applied == []


def test_a_broken_seal_and_a_record_that_is_not_believed_are_set_aside() -> None:
    keys, record_id = _new_keys(), uuid4()
    side = _Noted(refused=frozenset([record_id]))

    broken = _apply(side, _batch(_record(keys, uuid4(), broken=True)), {keys.subject: keys})
    refused = _apply(side, _batch(_record(keys, record_id)), {keys.subject: keys})

    assert [type(error).__name__ for error in broken + refused] == ["SealBroken", "RecordInvalid"]
    assert side.applied == []


def test_a_record_outside_its_subjects_partition_is_set_aside() -> None:
    keys = _new_keys()
    batch = _batch(_record(keys, uuid4(), partition=(_home(keys) + 1) % _PARTITIONS))

    assert (len(batch.beside_poison), batch.beside, batch.poison) == (1, {}, [])


def test_what_postgres_refused_is_set_aside_and_closes_no_turn() -> None:
    keys = _new_keys()
    record = _record(keys, uuid4())
    batch = _batch(record, {record.position: ValueError("refused")})

    assert ([item.stage for item in batch.beside_poison], batch.poison) == (["project"], [])


def test_another_topic_is_no_part_of_the_projection() -> None:
    keys = _new_keys()
    reader = BatchReader(generation="g1", system_subject=UUID(int=9), partitions=_PARTITIONS)

    with pytest.raises(AssertionError, match=r"memledger\.beside"):
        reader.read([_record(keys, uuid4())], {(_TOPIC, _home(keys)): 0})
