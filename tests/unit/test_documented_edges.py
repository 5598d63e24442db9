"""docs/input.md tells every case that it must; tests/integration/edges plays them all."""

from __future__ import annotations

import json

import pytest

from tests.support.documents import codes_of
from tests.support.edge_cases import CASES
from tests.support.edges import INPUT, turn_rows

DOORS = {"turn", "list", "import"}


@pytest.mark.parametrize("heading", CASES)
def test_every_case_is_told_and_none_twice(heading: str) -> None:
    assert tuple(row[0] for row in INPUT.table(heading)) == CASES[heading]


def test_no_table_of_the_page_is_left_unplayed() -> None:
    tables = sum(len(INPUT.tables(heading)) for heading in CASES)
    assert tables == len(CASES)
    assert INPUT.prose.count("\n|---") == tables


def test_every_row_of_a_turn_names_its_doors_and_what_is_kept() -> None:
    for row in turn_rows():
        assert set(row.doors) <= DOORS
        assert len(row.doors) == len(set(row.doors)) > 0
        kept = {"as sent", "in normal form C"} if row.answer.accepted else {"nothing"}
        assert row.kept in kept, row.case


def test_a_row_changes_what_it_says_and_nothing_else() -> None:
    rows = {row.case: row for row in turn_rows()}
    told = json.loads(rows["empty text"].text())
    assert told == {"user_id": "u", "conversation_id": "c", "user_text": ""}
    assert rows["text twice"].text().count('"user_text"') == 2
    assert "user_id" not in json.loads(rows["no user id"].text())
    assert rows["null for a turn"].text() == "null"
    assert codes_of("`a` `b`") == ["a", "b"]
