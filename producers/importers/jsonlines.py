"""JSON lines: one turn a line, for moving turns in from anywhere. An array of turns serves too."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO, Final

from producers.importers.documents import documents
from producers.importers.records import Part, Unreadable
from producers.importers.stable_ids import StableIds
from producers.importers.turn_fields import conversation_of
from schemas.errors import InvalidInput
from schemas.topics import RECORD_BYTES_MAX

LINE_BYTES_MAX: Final = 2 * RECORD_BYTES_MAX
"""The longest line: no turn that the log takes is longer, however it is escaped."""

_MARKS: Final = (b'"user_text"', b'"conversation_id"')


class JsonLinesImporter:
    """Reads JSON lines."""

    name = "jsonlines"
    title = "JSON lines, a turn a line"
    names_users = True

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` begins with an object that has the fields of a line."""
        first = head.lstrip()
        return first[:1] in (b"{", b"[") and all(mark in first for mark in _MARKS)

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield a conversation of one turn for each line."""
        ids = StableIds(self.name)
        found = documents(
            stream,
            noun="element",
            line_bytes_max=LINE_BYTES_MAX,
            lines_expected=True,
            names_checked=False,  # told with the turn's field
        )
        for document in found:
            if isinstance(document, Unreadable):
                yield document
                continue
            try:
                yield conversation_of(document.value, document.place, ids, now=now)
            except InvalidInput as error:
                yield Unreadable(place=document.place, reason=str(error))
