"""Tables of comma-separated values: one turn a row, under a header that names the columns.

The columns are the fields of a turn, in any order; an empty cell means that the field is not told.
Values may be parted by commas, semicolons or tabs: the header tells. A value in double quotes may
hold any of these, line ends, and doubled quotes.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import BinaryIO, Final

from producers.importers.jsonlines import LINE_BYTES_MAX
from producers.importers.left_out import LeftOut
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.stable_ids import StableIds
from producers.importers.table_rows import Row, rows
from producers.importers.turn_fields import TurnFields, conversation_of
from schemas.errors import InvalidInput
from schemas.json_text import shown_name

_COLUMNS: Final = tuple(TurnFields.model_fields)
_REQUIRED: Final = ("conversation_id", "user_text")
_DELIMITERS: Final = ",;\t"
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_SHOWN_MAX: Final = 40
_UNKNOWN_NAMED_MAX: Final = 5
_LINES_LOOKED_AT: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class _Header:
    """The first row.

    Attributes:
        delimiter: what parts the values.
        columns: the field of each column; ``None`` for one that is not known.
        unknown: of the first columns that are not known, what counts their values.
    """

    delimiter: str
    columns: tuple[str | None, ...]
    unknown: Mapping[int, str]


class TableImporter:
    """Reads tables of comma-separated values."""

    name = "csv"
    title = "a table with a header, a turn a row"
    names_users = True

    def recognises(self, head: bytes) -> bool:
        """Whether the first line of ``head`` names the columns that a turn needs."""
        first = head.lstrip().partition(b"\n")[0].decode(errors="replace")
        return all(name in _names(first, delimiter_of(first)) for name in _REQUIRED)

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield a conversation of one turn for each row.

        Raises:
            InvalidInput: the first row is no header with the columns that a turn needs, or no row
                follows it.
        """
        first = stream.readline(LINE_BYTES_MAX)
        blank = 0
        while first and not first.strip():
            blank += 1
            first = stream.readline(LINE_BYTES_MAX)
        header = _header_of(first.decode(errors="replace"))
        ids = StableIds(self.name)
        row = None
        for row in rows(stream, header.delimiter, first_line=blank + 2):
            if isinstance(row, Unreadable):
                yield row
                continue
            try:
                yield _read(row, header, ids, now=now)
            except InvalidInput as error:
                yield Unreadable(place=row.place, reason=str(error))
        if row is None:
            raise InvalidInput(
                field="file", problem="holds no rows", remedy="put a turn on each line of the table"
            )


def looks_like_table(head: bytes) -> bool:
    """Whether the first lines of ``head`` each hold the same number of values, two or more."""
    lines = [line for line in head.decode(errors="replace").splitlines() if line.strip()]
    first = lines[:_LINES_LOOKED_AT]
    if len(first) < 2:  # noqa: PLR2004 - a single line may be anything
        return False
    delimiter = delimiter_of(first[0])
    lengths = {len(_names(line, delimiter)) for line in first}
    return len(lengths) == 1 and min(lengths) > 1


def delimiter_of(first_line: str) -> str:
    """Return what parts the values: what stands most often between the names of the columns."""
    return max(_DELIMITERS, key=first_line.count)


def _names(first_line: str, delimiter: str) -> list[str]:
    try:
        cells = next(csv.reader([first_line], delimiter=delimiter), [])
    except csv.Error:
        return []
    return [cell.strip().casefold() for cell in cells]


def _header_of(first_line: str) -> _Header:
    delimiter = delimiter_of(first_line)
    names = _names(first_line, delimiter)
    for required in _REQUIRED:
        if required not in names:
            raise InvalidInput(
                field="header",
                problem=f"names no column {required}",
                remedy=f"begin with a line that names the columns, of {', '.join(_COLUMNS)}",
            )
    repeated = {name for name in names if names.count(name) > 1 and name in _COLUMNS}
    if repeated:
        raise InvalidInput(
            field="header",
            problem=f"names the column {min(repeated)} more than once",
            remedy="name every column once",
        )
    unknown = [index for index, name in enumerate(names) if name not in _COLUMNS]
    return _Header(
        delimiter=delimiter,
        columns=tuple(name if name in _COLUMNS else None for name in names),
        unknown={
            index: f"{LeftOut.COLUMN} '{shown_name(names[index])}'"
            for index in unknown[:_UNKNOWN_NAMED_MAX]
        },
    )


def _read(row: Row, header: _Header, ids: StableIds, *, now: datetime) -> Conversation:
    cells = row.cells
    if len(cells) != len(header.columns):
        raise InvalidInput(
            field="row",
            problem=f"has {len(cells)} values, the header has {len(header.columns)}",
            remedy="put values that hold the separator, a quote or a line end in double quotes",
        )
    told: dict[str, object] = {
        name: cell
        for name, cell in zip(header.columns, cells, strict=True)
        if name is not None and (cell or name in _REQUIRED)
    }
    occurred_at = told.get("occurred_at")
    if isinstance(occurred_at, str):
        told["occurred_at"] = _time_of(occurred_at.strip())
    conversation = conversation_of(told, row.place, ids, now=now)
    unknown = _unknown_values(cells, header)
    if not unknown:
        return conversation
    return Conversation(
        conversation_id=conversation.conversation_id,
        title=None,
        place=conversation.place,
        turns=conversation.turns,
        user_id=conversation.user_id,
        left_out=unknown,
        notes=conversation.notes,
    )


def _unknown_values(cells: Sequence[str], header: _Header) -> Counter[str]:
    """Return how many values of unknown columns a row holds; the first columns are named."""
    return Counter(
        header.unknown.get(index, str(LeftOut.COLUMN))
        for index, (name, cell) in enumerate(zip(header.columns, cells, strict=True))
        if name is None and cell
    )


def _time_of(cell: str) -> str | float:
    if len(cell) > _SHOWN_MAX or _NUMBER.fullmatch(cell) is None:
        return cell
    return float(cell)
