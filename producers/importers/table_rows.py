"""Cutting a table of comma-separated values into its rows, in bounded memory.

A quote that is never closed costs the line it stands on, not the rest of the file.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from producers.importers.jsonlines import LINE_BYTES_MAX
from producers.importers.records import Unreadable

ROW_BYTES_MAX: Final = LINE_BYTES_MAX
"""The longest row, with all its lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One row.

    Attributes:
        place: the line it begins on, for people.
        cells: its values.
    """

    place: str
    cells: list[str]


class _RowTooLong(Exception):
    """The row goes on beyond what is held of it."""


class _Lines:
    """Lines of a file, of which those of a row that failed are read again."""

    def __init__(self, stream: BinaryIO, first_line: int) -> None:
        self._stream = stream
        self._again: deque[bytes] = deque()
        self._of_row: list[bytes] = []
        self._bytes_of_row = 0
        self.number = first_line

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._again.popleft() if self._again else self._stream.readline(ROW_BYTES_MAX + 1)
        if not line:
            raise StopIteration
        self._of_row.append(line)
        self._bytes_of_row += len(line)
        if self._bytes_of_row > ROW_BYTES_MAX:
            raise _RowTooLong
        # What is no UTF-8 is found in the row and costs the row alone.
        return line.decode("utf-8", "surrogateescape")

    def row_ended(self) -> None:
        """Go on behind the row."""
        self.number += len(self._of_row)
        self._of_row.clear()
        self._bytes_of_row = 0

    def row_failed(self) -> None:
        """Go on behind the first line of the row."""
        first, *rest = self._of_row
        self._again.extendleft(reversed(rest))
        self._of_row = [first]
        # A line of which only a part was read is passed over whole.
        while not self._again and first and not first.endswith(b"\n"):
            first = self._stream.readline(ROW_BYTES_MAX)
        self.row_ended()


def rows(stream: BinaryIO, delimiter: str, *, first_line: int) -> Iterator[Row | Unreadable]:
    """Yield every row; lines that are blank mean nothing.

    Args:
        stream: the table in UTF-8, behind its header.
        delimiter: what parts the values.
        first_line: the number of the line at which the stream stands.
    """
    # The limit is the module's, not a reader's; rows are bounded by their lines.
    csv.field_size_limit(ROW_BYTES_MAX + 1)
    lines = _Lines(stream, first_line)
    while True:
        place = f"line {lines.number}"
        try:
            cells = next(csv.reader(lines, delimiter=delimiter, strict=True), None)
        except _RowTooLong:
            yield Unreadable(
                place=place,
                reason=f"is longer than {ROW_BYTES_MAX:,} bytes, or a quote is not closed",
            )
            lines.row_failed()
            continue
        except csv.Error as error:
            yield Unreadable(place=place, reason=f"is no row: {error}")
            lines.row_failed()
            continue
        if cells is None:
            return
        lines.row_ended()
        if not cells:
            continue
        if not all(map(_is_whole, cells)):
            yield Unreadable(place=place, reason="is not UTF-8")
        else:
            yield Row(place=place, cells=cells)


def _is_whole(cell: str) -> bool:
    """Return whether a value was UTF-8."""
    if cell.isascii():
        return True
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True
