"""Conversations as ShareGPT has them, without times, and often without ids."""

from __future__ import annotations

import json
from typing import Any

import pytest

from producers.importers.left_out import LeftOut, Note
from producers.importers.records import Conversation
from producers.importers.sharegpt import ShareGptImporter
from tests.unit.producers.importers.exports import said_in
from tests.unit.producers.importers.read_parts import lines_of, only, parts_of


def share(*said: tuple[str, object], **fields: Any) -> dict[str, Any]:
    return {"conversations": [{"from": who, "value": value} for who, value in said], **fields}


def test_turns_have_no_time_and_say_so() -> None:
    read = only(ShareGptImporter(), [share(("human", "why?"), ("gpt", "so"), id="s1")])
    assert said_in(read) == [("why?", "so")]
    assert read.turns[0].occurred_at is None
    assert [turn.note for turn in read.turns] == [Note.TIME_UNTOLD] * len(read.turns)
    assert read.conversation_id == "s1"


def test_what_is_said_twice_is_two_turns_with_ids_that_stay() -> None:
    chat = share(("human", "yes"), ("gpt", "a"), ("human", "yes"), ("gpt", "b"), id="s1")
    first, second = only(ShareGptImporter(), [chat]).turns
    assert first.client_turn_id != second.client_turn_id
    again = only(ShareGptImporter(), [{**chat, "more": 1}])
    assert [turn.client_turn_id for turn in again.turns] == [
        first.client_turn_id,
        second.client_turn_id,
    ]


def test_other_roles_and_values_are_counted() -> None:
    read = only(
        ShareGptImporter(),
        share(
            ("system", "rules"),
            ("human", "why?"),
            ("function_call", "{}"),
            ("observation", "42"),
            ("gpt", ["so"]),
            ("narrator", "x"),
        ),
    )
    assert said_in(read) == [("why?", None)]
    assert read.left_out == {
        LeftOut.SYSTEM: 1,
        LeftOut.TO_TOOL: 1,
        LeftOut.TOOL: 1,
        LeftOut.NOT_TEXT: 1,
        LeftOut.NO_TEXT: 1,
        LeftOut.UNKNOWN_ROLE: 1,
    }


def test_without_an_id_what_was_said_tells_conversations_apart() -> None:
    one, other = share(("human", "a")), share(("human", "b"))
    names = [
        part.conversation_id
        for part in parts_of(ShareGptImporter(), [one, other, one, {**one, "id": 7}])
        if isinstance(part, Conversation)
    ]
    assert names[0] == names[2]
    assert names[0] != names[1]
    assert names[3] == "7"


@pytest.mark.parametrize(
    "export",
    [
        [share(("human", "a"), id="1"), share(("human", "b"), id="2")],
        {"conversations": [share(("human", "a"), id="1"), share(("human", "b"), id="2")]},
        {"data": [share(("human", "a"), id="1"), share(("human", "b"), id="2")]},
        lines_of(share(("human", "a"), id="1"), share(("human", "b"), id="2")),
    ],
)
def test_comes_as_a_list_a_wrapped_list_or_lines(export: object) -> None:
    read = [part for part in parts_of(ShareGptImporter(), export) if isinstance(part, Conversation)]
    assert [part.conversation_id for part in read] == ["1", "2"]
    assert [said_in(part) for part in read] == [[("a", None)], [("b", None)]]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_single_conversation_is_not_taken_for_a_list_of_them(indent: int | None) -> None:
    raw = json.dumps({"id": "1", **share(("human", "a"), ("gpt", "b"))}, indent=indent).encode()
    assert said_in(only(ShareGptImporter(), raw)) == [("a", "b")]
