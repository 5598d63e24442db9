"""A record comes back as it was encoded, also where a required field holds nothing."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from schemas.memory import Record
from schemas.records import DeadLetter, Origin, Turn
from schemas.registry import decode, encode, schema_of

_NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "record",
    [
        Turn(
            turn_id=uuid4(),
            conversation_id="c",
            user_text="hello",
            assistant_text=None,
            occurred_at=_NOW,
            utc_offset_minutes=0,
            received_at=_NOW,
            origin=Origin.HTTP,
        ),
        DeadLetter(
            topic="memledger.turns",
            partition=0,
            offset=7,
            generation="g1",
            stage="open",
            error="SealBroken",
            detail="a tombstone holds nothing to open",
            value=None,
            value_bytes=0,
            headers=(),
            occurred_at=_NOW,
        ),
    ],
    ids=lambda record: type(record).__name__,
)
def test_a_record_that_holds_nothing_in_a_required_field_is_read_again(record: Record) -> None:
    schema = schema_of(type(record))
    assert decode(type(record), schema.name, schema.version, encode(record)) == record
