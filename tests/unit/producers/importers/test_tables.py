"""Tables: headers, separators, quoted values, and rows that are none."""

from __future__ import annotations

import csv
import io

import pytest

from producers.importers.left_out import LeftOut, Note
from producers.importers.records import Conversation, Unreadable
from producers.importers.table_rows import ROW_BYTES_MAX
from producers.importers.tables import TableImporter
from schemas.errors import InvalidInput
from tests.unit.producers.importers.exports import said_in
from tests.unit.producers.importers.read_parts import EIGHT, only, parts_of


def table(*rows: str) -> bytes:
    return "\n".join(rows).encode()


def test_columns_come_in_any_order_under_their_header() -> None:
    read = only(
        TableImporter(),
        table(
            "User_Text , conversation_id,occurred_at,turn_id,assistant_text,user_id",
            '"a, ""b""\nc",c1,2025-05-01T10:00:00+02:00,t1,so,ann',
        ),
    )
    assert said_in(read) == [('a, "b"\nc', "so")]
    assert (read.user_id, read.conversation_id, read.place) == ("ann", "c1", "line 2")
    turn = read.turns[0]
    assert (turn.client_turn_id, turn.occurred_at, turn.utc_offset_minutes) == ("t1", EIGHT, 120)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_the_header_tells_the_separator(delimiter: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(
        [["conversation_id", "user_text"], ["c1", "a,b;c\td"]]
    )
    raw = written.getvalue().encode()
    assert TableImporter().recognises(raw)
    assert said_in(only(TableImporter(), raw)) == [("a,b;c\td", None)]


def test_empty_cells_tell_nothing_and_numbers_are_times() -> None:
    first, second = parts_of(
        TableImporter(),
        table(
            "conversation_id,user_text,user_id,assistant_text,turn_id,occurred_at",
            "c1,a,,,,1746086400",
            "c1,a,,,,",
        ),
    )
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert first.user_id is None
    assert first.turns[0].occurred_at == EIGHT
    assert second.turns[0].occurred_at is None
    assert (first.turns[0].note, second.turns[0].note) == (None, Note.TIME_UNTOLD)
    assert first.turns[0].client_turn_id != second.turns[0].client_turn_id


def test_values_of_unknown_columns_are_counted_by_name() -> None:
    read = only(TableImporter(), table("conversation_id,user_text,mood,note", "c1,hello,glad,"))
    assert said_in(read) == [("hello", None)]
    assert read.left_out == {f"{LeftOut.COLUMN} 'mood'": 1}


def test_of_many_unknown_columns_the_first_are_named() -> None:
    names = ",".join(f"x{number}" for number in range(100))
    read = only(TableImporter(), table(f"conversation_id,user_text,{names}", "c1,a" + ",b" * 100))
    assert len(read.left_out) == 6
    assert read.left_out[LeftOut.COLUMN] == 95


def test_a_header_alone_is_no_table() -> None:
    with pytest.raises(InvalidInput, match="holds no rows"):
        parts_of(TableImporter(), table("conversation_id,user_text", ""))


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"c1", "has 1 values, the header has 2"),
        (b"c1,a,b", "has 3 values"),
        (b'c1,"a"b', "is no row"),
        (b"c1,\xff", "is not UTF-8"),
        (b'c1,"' + b"a" * ROW_BYTES_MAX, "is longer than"),
        (b'c1,"never closed', "is no row"),
    ],
)
def test_a_bad_row_costs_itself_alone_and_is_named(bad: bytes, reason: str) -> None:
    raw = b"conversation_id,user_text\nc1,first\n" + bad + b"\n\nc1,last\nc1,very last"
    first, unreadable, last, very_last = parts_of(TableImporter(), raw)
    assert isinstance(first, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "line 3"
    assert reason in unreadable.reason
    assert isinstance(last, Conversation)
    assert isinstance(very_last, Conversation)
    assert (last.place, very_last.place) == ("line 5", "line 6")


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ("conversation_id,text", "names no column user_text"),
        ("", "names no column conversation_id"),
        ("conversation_id,user_text,user_text", "names the column user_text more than once"),
    ],
)
def test_a_header_that_is_none_refuses_the_file(header: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parts_of(TableImporter(), table(header, "c1,x"))
    assert not TableImporter().recognises(table("conversation_id,text", "c1,x"))
