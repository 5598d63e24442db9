"""What is kept of a record that could not be processed, the same whoever gives it up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from schemas.errors import MemledgerError
from schemas.log.sealed import Headers, LogRecord
from schemas.records import DEAD_LETTER_VALUE_BYTES_MAX, DeadLetter, Stage

HEADERS_BYTES_MAX: Final = 512 * 1024
"""The most that headers take in a dead letter as written: half a record with the value."""

DETAIL_CHARACTERS_MAX: Final = 1_000

_CHARACTER_BYTES: Final = 6
"""The most that a character takes in JSON: a control character is written as ``\\u0000``."""

_HEADER_OVERHEAD_BYTES: Final = len('["",""],')


def dead_letter_of(
    record: LogRecord, *, stage: Stage, error: BaseException, generation: str, now: datetime
) -> DeadLetter:
    """Return the dead letter of a record; it fits into a record of the log, whatever was read.

    Args:
        record: the record that is given up.
        stage: what was being done with it.
        error: why that failed. Only a message of our own errors, which are written without
            content, is repeated: any other may quote a user's words, which must not outlive the
            user under the system's key.
        generation: the generation that could not process it.
        now: the time, aware.

    Returns:
        The letter. Of a value that is too long the beginning is kept; a header that is too long
        loses its value, and headers that are too many are left out from the first that has no room.
    """
    position, value = record.position, record.value
    return DeadLetter(
        topic=position.topic,
        partition=position.partition,
        offset=position.offset,
        generation=generation,
        stage=stage,
        error=type(error).__name__,
        detail=_detail(error),
        value=None if value is None else value[:DEAD_LETTER_VALUE_BYTES_MAX],
        value_bytes=0 if value is None else len(value),
        headers=tuple(_bounded(record.headers)),
        occurred_at=now,
    )


def _detail(error: BaseException) -> str:
    message = str(error) if isinstance(error, MemledgerError) else type(error).__name__
    # Half a character cannot be written.
    return message[:DETAIL_CHARACTERS_MAX].encode(errors="backslashreplace").decode()


def _bounded(headers: Headers) -> Iterator[tuple[str, bytes]]:
    room = HEADERS_BYTES_MAX
    for name, value in headers:
        named = _HEADER_OVERHEAD_BYTES + _CHARACTER_BYTES * len(name)
        if named > room:
            return
        whole = named + _base64_bytes(value)
        yield name, value if whole <= room else b""
        room -= whole if whole <= room else named


def _base64_bytes(value: bytes) -> int:
    return 4 * -(-len(value) // 3)
