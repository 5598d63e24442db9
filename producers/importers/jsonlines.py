"""JSON lines: one turn a line, for moving turns in from anywhere.

A line is ``{user_id?, conversation_id, user_text, assistant_text?, turn_id?, occurred_at?}``, where
``occurred_at`` is an ISO 8601 time with its zone or a number of seconds (or milliseconds) since
1970. A ``user_id`` on a line wins over the user that the import is for. Blank lines mean nothing.

A line without ``turn_id`` gets one that follows from its conversation, its texts and its time, and
from how many lines of the same conversation said the very same before it: so a file that is
imported again adds nothing, wherever its lines have moved to, and a "yes" that was said twice is
two turns. A line that was edited is another turn.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from hashlib import blake2b
from typing import BinaryIO, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from producers.importers.records import Conversation, ImportedTurn, Unreadable
from producers.json_text import decode_json
from producers.turns_input import explain
from schemas import text
from schemas.errors import InvalidInput
from schemas.topics import RECORD_BYTES_MAX

LINE_BYTES_MAX: Final = 2 * RECORD_BYTES_MAX
"""The longest line: no turn that the log takes is longer, however it is escaped."""

_MARKS: Final = (b'"user_text"', b'"conversation_id"')


class _Line(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", hide_input_in_errors=True)

    conversation_id: str
    user_text: str
    user_id: str | None = None
    assistant_text: str | None = None
    turn_id: str | None = None
    occurred_at: str | int | float | None = None


class JsonLinesImporter:
    """Reads JSON lines."""

    name = "jsonlines"
    names_users = True

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` begins with an object that has the fields of a line."""
        first = head.lstrip()
        return first.startswith(b"{") and all(mark in first for mark in _MARKS)

    def conversations(
        self, stream: BinaryIO, *, now: datetime
    ) -> Iterator[Conversation | Unreadable]:
        """Yield a conversation of one turn for each line."""
        repeats: Counter[bytes] = Counter()
        number = 0
        while line := stream.readline(LINE_BYTES_MAX + 1):
            number += 1
            if len(line) > LINE_BYTES_MAX:
                _skip_line(stream, line)
                yield Unreadable(
                    place=f"line {number}", reason=f"is longer than {LINE_BYTES_MAX} bytes"
                )
            elif line.strip():
                try:
                    yield _read(line, repeats, now=now)
                except InvalidInput as error:
                    yield Unreadable(place=f"line {number}", reason=str(error))


def _read(line: bytes, repeats: Counter[bytes], *, now: datetime) -> Conversation:
    body = decode_json(line)
    try:
        fields = _Line.model_validate(body)
    except ValidationError as error:
        raise explain(error, body, _Line) from None
    occurred_at, offset = _moment(fields.occurred_at, now=now)
    turn = ImportedTurn(
        client_turn_id=fields.turn_id or _stable_id(fields, occurred_at, repeats),
        user_text=fields.user_text,
        assistant_text=fields.assistant_text,
        occurred_at=occurred_at,
        utc_offset_minutes=offset,
    )
    return Conversation(
        conversation_id=fields.conversation_id, title=None, turns=(turn,), user_id=fields.user_id
    )


def _moment(value: str | float | None, *, now: datetime) -> tuple[datetime | None, int]:
    if value is None:
        return None, 0
    if isinstance(value, str):
        return text.parse_moment("occurred_at", value, now=now)
    return text.parse_epoch("occurred_at", value, now=now), 0


def _stable_id(fields: _Line, occurred_at: datetime | None, repeats: Counter[bytes]) -> str:
    said = _digest(
        fields.conversation_id,
        fields.user_text,
        fields.assistant_text or "",
        "" if occurred_at is None else occurred_at.isoformat(),
    )
    # Users may share a conversation id, so each counts for itself.
    key = _digest(fields.user_id or "", said.hex())
    repeats[key] += 1
    return f"jsonlines:{said.hex()}:{repeats[key]}"


def _digest(*parts: str) -> bytes:
    digest = blake2b(digest_size=16, person=b"ml-jsonlines")
    for part in parts:
        # Half a character is for the policy to refuse; here it must only not be in the way.
        encoded = unicodedata.normalize("NFC", part).encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.digest()


def _skip_line(stream: BinaryIO, line: bytes) -> None:
    while line and not line.endswith(b"\n"):
        line = stream.readline(LINE_BYTES_MAX)
