"""What is kept of a record that is given up."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.errors import RecordInvalid
from schemas.log.dead_letters import DETAIL_CHARACTERS_MAX, dead_letter_of
from schemas.log.sealed import Headers, LogPosition, LogRecord
from schemas.records import DEAD_LETTER_VALUE_BYTES_MAX, DeadLetter
from schemas.registry import decode, encode
from schemas.topics import RECORD_BYTES_MAX

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def _record(value: bytes | None = b"value", headers: Headers | None = None) -> LogRecord:
    return LogRecord(
        position=LogPosition(topic="topic", partition=2, offset=7),
        timestamp_ms=0,
        key=None,
        value=value,
        headers=headers or [],
    )


def _letter(record: LogRecord, error: Exception | None = None) -> DeadLetter:
    return dead_letter_of(
        record,
        stage="open",
        error=error or RecordInvalid("outcome: events: missing"),
        generation="g1",
        now=NOW,
    )


def test_a_record_of_ordinary_size_is_kept_whole() -> None:
    letter = _letter(_record(headers=[("memledger", b"\x00\xff"), ("trace", b"1")]))

    assert (letter.topic, letter.partition, letter.offset) == ("topic", 2, 7)
    assert (letter.value, letter.value_bytes) == (b"value", 5)
    assert letter.headers == (("memledger", b"\x00\xff"), ("trace", b"1"))
    assert (letter.error, letter.detail) == ("RecordInvalid", "outcome: events: missing")
    assert (letter.generation, letter.stage, letter.occurred_at) == ("g1", "open", NOW)


def test_a_tombstone_has_no_value() -> None:
    letter = _letter(_record(value=None))

    assert (letter.value, letter.value_bytes) == (None, 0)


def test_a_header_that_is_too_long_loses_its_value_and_the_others_stay() -> None:
    letter = _letter(_record(headers=[("long", b"x" * 3_600_000), ("memledger", b"short")]))

    assert letter.headers == (("long", b""), ("memledger", b"short"))


@pytest.mark.parametrize(
    "headers",
    [
        [("long", b"x" * 3_600_000)],
        [("", b"")] * 1_000_000,
        [("\x01" * 3_000_000, b"")],
        [("n", b"x" * 1000)] * 3_600,
    ],
    ids=["one long value", "many empty ones", "a name to be escaped", "many"],
)
def test_whatever_was_read_the_letter_fits_into_a_record(headers: Headers) -> None:
    letter = _letter(_record(value=b"\xff" * RECORD_BYTES_MAX, headers=headers))

    assert letter.value_bytes == RECORD_BYTES_MAX
    assert letter.value == b"\xff" * DEAD_LETTER_VALUE_BYTES_MAX
    assert len(encode(letter)) < RECORD_BYTES_MAX / 2


@pytest.mark.parametrize("error", [ValueError("my salary is 1"), KeyError("my salary is 1")])
def test_the_message_of_a_strange_error_is_not_repeated(error: Exception) -> None:
    letter = _letter(_record(), error)

    assert letter.detail == letter.error == type(error).__name__
    assert b"salary" not in encode(letter)


def test_a_long_message_is_cut() -> None:
    assert _letter(_record(), RecordInvalid("x" * 9999)).detail == "x" * DETAIL_CHARACTERS_MAX


@given(message=st.text(st.characters(exclude_categories=[])))
def test_any_message_can_be_written(message: str) -> None:
    letter = _letter(_record(), RecordInvalid(message))

    assert decode(DeadLetter, "dead-letter", 1, encode(letter)) == letter
