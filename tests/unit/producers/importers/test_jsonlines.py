"""JSON lines: each line stands for itself, with an id that no other file can change."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers.jsonlines import LINE_BYTES_MAX, JsonLinesImporter
from producers.importers.records import Conversation, Part, Unreadable
from tests.unit.producers.fakes import NOW

LINE = {"conversation_id": "c", "user_text": "hello"}


def parts_of(*lines: object) -> list[Part]:
    raw = b"\n".join(
        line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines
    )
    return list(JsonLinesImporter().parts(BytesIO(raw), now=NOW))


def ids_of(*lines: object) -> list[str]:
    return [
        turn.client_turn_id
        for part in parts_of(*lines)
        if isinstance(part, Conversation)
        for turn in part.turns
    ]


def test_a_line_is_a_turn() -> None:
    (part,) = parts_of(
        {
            **LINE,
            "user_id": "u",
            "assistant_text": "hi",
            "turn_id": "t",
            "occurred_at": "2026-02-28T10:00:00+01:00",
        }
    )
    assert isinstance(part, Conversation)
    (turn,) = part.turns
    assert (part.user_id, part.conversation_id) == ("u", "c")
    assert (turn.client_turn_id, turn.user_text, turn.assistant_text) == ("t", "hello", "hi")
    assert turn.occurred_at == datetime(2026, 2, 28, 9, tzinfo=UTC)
    assert turn.utc_offset_minutes == 60


@pytest.mark.parametrize("epoch", [1_700_000_000, 1_700_000_000.0, 1_700_000_000_000])
def test_a_time_may_be_a_number(epoch: float) -> None:
    (part,) = parts_of({**LINE, "occurred_at": epoch})
    assert isinstance(part, Conversation)
    assert part.turns[0].occurred_at == datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)


def test_the_same_lines_have_the_same_ids_wherever_they_stand() -> None:
    other = {**LINE, "user_text": "other"}
    assert ids_of(LINE, other) == list(reversed(ids_of(other, b"", LINE)))
    assert ids_of(LINE) == ids_of(LINE, other)[:1]


def test_what_was_said_twice_is_two_turns() -> None:
    first, second = ids_of(LINE, LINE)
    assert first != second
    assert ids_of(LINE, LINE, LINE)[:2] == [first, second]


@pytest.mark.parametrize(
    "change",
    [
        {"conversation_id": "d"},
        {"user_text": "hello!"},
        {"assistant_text": "hi"},
        {"occurred_at": 1_700_000_000},
    ],
)
def test_another_content_is_another_turn(change: dict[str, Any]) -> None:
    assert ids_of(LINE) != ids_of({**LINE, **change})


def test_spellings_of_one_character_or_moment_are_one_turn() -> None:
    assert ids_of({**LINE, "user_text": "Zoe\u0308"}) == ids_of({**LINE, "user_text": "Zoë"})
    assert ids_of({**LINE, "occurred_at": 1_700_000_000}) == ids_of(
        {**LINE, "occurred_at": "2023-11-14T23:13:20+01:00"}
    )


def test_users_do_not_count_each_others_repetitions() -> None:
    alone = ids_of({**LINE, "user_id": "v"})
    assert ids_of({**LINE, "user_id": "u"}, {**LINE, "user_id": "v"})[1:] == alone


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (b"{", "is not JSON"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 100_000, "is nested too deeply"),
        ({"conversation_id": "c"}, "user_text: is missing"),
        ({**LINE, "text": "x"}, "unknown field 'text'; leave"),
        ({"conversation_id": "c", "text": "x"}, "unknown field 'text', and user_text missing; ren"),
        (b'{"user_text": "a\tb"}', "is not JSON: Invalid control character at column 17$"),
        ({**LINE, "user_text": 5}, "user_text: is not of the type it should be"),
        ({**LINE, "occurred_at": "2026-02-28"}, "occurred_at: names no time zone"),
        ({**LINE, "occurred_at": True}, "occurred_at: is not of the type it should be"),
        ([], "is not a JSON object"),
        (b"a" * (LINE_BYTES_MAX + 1), "is longer than"),
    ],
)
def test_a_bad_line_costs_itself_alone_and_is_named(bad: object, reason: str) -> None:
    first, unreadable, last = parts_of(LINE, bad, {**LINE, "user_text": "last"})
    assert isinstance(first, Conversation)
    assert isinstance(last, Conversation)
    assert last.turns[0].user_text == "last"
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "line 2"
    assert re.search(reason, unreadable.reason)


def test_blank_lines_mean_nothing_but_count_as_lines() -> None:
    read, unreadable = parts_of(b"", b"  ", LINE, b"{", b"")
    assert isinstance(read, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "line 4"


@given(st.lists(st.sampled_from(["yes", "no"]), max_size=8))
def test_ids_are_unique_within_a_file(said: list[str]) -> None:
    ids = ids_of(*({**LINE, "user_text": text} for text in said))
    assert len(set(ids)) == len(said)
