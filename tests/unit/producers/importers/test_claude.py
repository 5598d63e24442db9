"""Claude's exports: what is read, what is left out and why, and when a turn was said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from producers.importers.claude import ClaudeImporter
from producers.importers.left_out import LeftOut
from producers.importers.records import Conversation, Unreadable
from tests.unit.producers.importers.exports import said_in
from tests.unit.producers.importers.read_parts import EIGHT, MORNING, only, parts_of


def claude(*messages: object, **fields: Any) -> dict[str, Any]:
    return {"uuid": "c1", "name": "A name", "chat_messages": list(messages), **fields}


def spoken(sender: str, said: str, **fields: Any) -> dict[str, Any]:
    return {
        "sender": sender,
        "text": "",
        "content": [{"type": "text", "text": said}],
        "created_at": MORNING,
        **fields,
    }


def test_a_turn_is_a_question_and_what_follows() -> None:
    read = only(
        ClaudeImporter(),
        [claude(spoken("human", "why?", uuid="m1"), spoken("assistant", "so"))],
    )
    assert said_in(read) == [("why?", "so")]
    assert read.turns[0].occurred_at == EIGHT
    assert read.turns[0].client_turn_id == "claude:c1:m1"
    assert read.title == "A name"
    assert read.left_out == {}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"content": []}, "beside"),
        ({"content": None}, "beside"),
        ({"content": "a string"}, "a string"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "voice_note", "title": "t", "text": "dictated"}]}, "dictated"),
    ],
)
def test_the_words_are_where_an_export_has_them(fields: dict[str, Any], said: str) -> None:
    message = {**spoken("human", "x", text="beside"), **fields}
    read = only(ClaudeImporter(), claude(message))
    assert said_in(read) == [(said, None)]
    assert read.left_out == {}


def test_other_blocks_attachments_and_null_messages_are_counted() -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "name": "search", "input": {}},
        {"type": "unheard_of"},
        None,
        {"type": "text", "text": "words"},
    ]
    message = spoken(
        "human",
        "",
        content=blocks,
        attachments=[{"file_name": "a.txt", "extracted_content": "not the user's words"}],
        files=[{"file_name": "b.png"}],
        files_v2=[{"file_name": "b.png"}],
    )
    read = only(ClaudeImporter(), claude(message, None, "text", spoken("critic", "x")))
    assert said_in(read) == [("words", None)]
    assert read.left_out == {
        LeftOut.NOT_TEXT: 4,
        LeftOut.ATTACHMENT: 2,
        LeftOut.NOT_A_MESSAGE: 2,
        LeftOut.UNKNOWN_ROLE: 1,
    }


def test_the_branch_is_that_of_the_current_message() -> None:
    edited = [
        spoken(
            "human", "old", uuid="a", parent_message_uuid="00000000-0000-4000-8000-000000000000"
        ),
        spoken("assistant", "old answer", uuid="b", parent_message_uuid="a"),
        spoken(
            "human", "new", uuid="c", parent_message_uuid="00000000-0000-4000-8000-000000000000"
        ),
        spoken("assistant", "new answer", uuid="d", parent_message_uuid="c"),
    ]
    newest = only(ClaudeImporter(), claude(*edited))
    assert said_in(newest) == [("new", "new answer")]
    assert newest.left_out == {LeftOut.OTHER_BRANCH: 2}
    told = only(ClaudeImporter(), claude(*edited, current_leaf_message_uuid="b"))
    assert said_in(told) == [("old", "old answer")]


def test_messages_that_name_no_parent_follow_each_other() -> None:
    read = only(ClaudeImporter(), claude(*(spoken("human", said) for said in "abc")))
    assert [said for said, _ in said_in(read)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"uuid": "c"}, "has no list of messages"),
        ({"uuid": "c", "chat_messages": None}, "has no list of messages"),
        ({"chat_messages": []}, "has no uuid"),
        (None, "is not a JSON object"),
    ],
)
def test_a_conversation_that_cannot_be_read_costs_no_other(broken: object, reason: str) -> None:
    first, unreadable, last = parts_of(
        ClaudeImporter(), [claude(), broken, claude(spoken("human", "x"))]
    )
    assert isinstance(first, Conversation)
    assert isinstance(last, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "conversation 2"
    assert reason in unreadable.reason


@pytest.mark.parametrize(
    "raw",
    [
        b'{"uuid": "c", "chat_messages": [{"sender": "human"}], "chat_messages": []}',
        b'{"uuid": "c", "chat_messages": [{"sender": "human", "text": "a", "text": "b"}]}',
    ],
)
def test_a_name_that_stands_twice_is_told_and_takes_nothing_else_away(raw: bytes) -> None:
    good = json.dumps(claude(spoken("human", "x"))).encode()
    unreadable, read = parts_of(ClaudeImporter(), b"[" + raw + b"," + good + b"]")
    assert isinstance(unreadable, Unreadable)
    assert "twice in one object" in unreadable.reason
    assert isinstance(read, Conversation)
