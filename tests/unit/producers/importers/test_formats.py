"""Each format's own ways: what is read, what is left out and why, and when a turn was said."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest

from producers.importers.claude import ClaudeImporter
from producers.importers.left_out import LeftOut, Note, counted
from producers.importers.librechat import LibreChatImporter
from producers.importers.openassistant import OpenAssistantImporter
from producers.importers.openassistant_trees import GATHERED_MESSAGES_MAX
from producers.importers.records import Conversation, Importer, Part, Unreadable
from producers.importers.sharegpt import ShareGptImporter
from producers.importers.table_rows import ROW_BYTES_MAX
from producers.importers.tables import TableImporter
from schemas.errors import InvalidInput
from tests.unit.producers.fakes import NOW
from tests.unit.producers.importers.exports import said_in

MORNING = "2025-05-01T08:00:00.000000Z"
EIGHT = datetime(2025, 5, 1, 8, tzinfo=UTC)


def parts_of(importer: Importer, export: object) -> list[Part]:
    raw = export if isinstance(export, bytes) else json.dumps(export).encode()
    return list(importer.parts(io.BytesIO(raw), now=NOW))


def only(importer: Importer, export: object) -> Conversation:
    (part,) = parts_of(importer, export)
    assert isinstance(part, Conversation), part
    return part


def lines_of(*values: object) -> bytes:
    return b"\n".join(json.dumps(value).encode() for value in values)


# Claude


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


def test_claude_a_turn_is_a_question_and_what_follows() -> None:
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
def test_claude_the_words_are_where_an_export_has_them(fields: dict[str, Any], said: str) -> None:
    message = {**spoken("human", "x", text="beside"), **fields}
    read = only(ClaudeImporter(), claude(message))
    assert said_in(read) == [(said, None)]
    assert read.left_out == {}


def test_claude_other_blocks_attachments_and_null_messages_are_counted() -> None:
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


def test_claude_the_branch_is_that_of_the_current_message() -> None:
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


def test_claude_messages_that_name_no_parent_follow_each_other() -> None:
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
def test_claude_a_conversation_that_cannot_be_read_costs_no_other(
    broken: object, reason: str
) -> None:
    first, unreadable, last = parts_of(
        ClaudeImporter(), [claude(), broken, claude(spoken("human", "x"))]
    )
    assert isinstance(first, Conversation)
    assert isinstance(last, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "conversation 2"
    assert reason in unreadable.reason


# LibreChat


def libre(*messages: object, **fields: Any) -> dict[str, Any]:
    return {"conversationId": "c1", "title": "A title", "messages": list(messages), **fields}


def typed(name: str, parent: str | None, said: str, *, user: bool, **fields: Any) -> dict[str, Any]:
    return {
        "messageId": name,
        "parentMessageId": parent,
        "isCreatedByUser": user,
        "text": said,
        "createdAt": MORNING,
        **fields,
    }


NO_PARENT = "00000000-0000-0000-0000-000000000000"


def test_librechat_a_tree_and_a_list_say_the_same() -> None:
    question = typed("q", NO_PARENT, "why?", user=True)
    old = typed("a1", "q", "old", user=False)
    new = typed("a2", "q", "new", user=False)
    more = typed("q2", "a2", "and?", user=True)
    flat = only(LibreChatImporter(), libre(question, old, new, more, recursive=False))
    tree = only(
        LibreChatImporter(),
        libre({**question, "children": [old, {**new, "children": [more]}]}, recursive=True),
    )
    assert said_in(flat) == said_in(tree) == [("why?", "new"), ("and?", None)]
    assert flat.left_out == tree.left_out == {LeftOut.OTHER_BRANCH: 1}
    assert flat.notes == tree.notes == {Note.END_MISSING: 1}
    assert [turn.client_turn_id for turn in flat.turns] == ["librechat:c1:q", "librechat:c1:q2"]


def test_librechat_the_words_may_be_in_parts() -> None:
    parts = [
        {"type": "think", "think": "hm"},
        {"type": "text", "text": "a"},
        {"type": "text", "text": {"value": "b"}},
        {"type": "tool_call", "tool_call": {}},
    ]
    read = only(
        LibreChatImporter(),
        libre(typed("q", None, "why?", user=True), typed("a", "q", "", user=False, content=parts)),
    )
    assert said_in(read) == [("why?", "a\nb")]
    assert read.left_out == {LeftOut.NOT_TEXT: 2}


def test_librechat_an_error_is_no_answer_and_a_temporary_chat_is_left_out() -> None:
    question = typed("q", None, "why?", user=True)
    failed = typed("a", "q", "quota exceeded", user=False, error=True)
    read = only(LibreChatImporter(), libre(question, failed))
    assert said_in(read) == [("why?", None)]
    assert read.left_out == {LeftOut.FAILED: 1}
    temporary = only(LibreChatImporter(), libre(question, failed, isTemporary=True))
    assert temporary.turns == ()
    assert temporary.left_out == {LeftOut.NOT_TO_BE_REMEMBERED: 2}


def test_librechat_a_conversation_longer_than_the_stack_is_deep_is_read() -> None:
    messages = [
        typed(f"m{number}", f"m{number - 1}" if number else NO_PARENT, "x", user=True)
        for number in range(5_000)
    ]
    assert len(only(LibreChatImporter(), libre(*messages)).turns) == 5_000


# ShareGPT


def share(*said: tuple[str, object], **fields: Any) -> dict[str, Any]:
    return {"conversations": [{"from": who, "value": value} for who, value in said], **fields}


def test_sharegpt_turns_have_no_time_and_say_so() -> None:
    read = only(ShareGptImporter(), [share(("human", "why?"), ("gpt", "so"), id="s1")])
    assert said_in(read) == [("why?", "so")]
    assert read.turns[0].occurred_at is None
    assert read.notes == {Note.TIME_UNTOLD: 1}
    assert read.conversation_id == "s1"


def test_sharegpt_what_is_said_twice_is_two_turns_with_ids_that_stay() -> None:
    chat = share(("human", "yes"), ("gpt", "a"), ("human", "yes"), ("gpt", "b"), id="s1")
    first, second = only(ShareGptImporter(), [chat]).turns
    assert first.client_turn_id != second.client_turn_id
    again = only(ShareGptImporter(), [{**chat, "more": 1}])
    assert [turn.client_turn_id for turn in again.turns] == [
        first.client_turn_id,
        second.client_turn_id,
    ]


def test_sharegpt_other_roles_and_values_are_counted() -> None:
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


def test_sharegpt_without_an_id_what_was_said_tells_conversations_apart() -> None:
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
def test_sharegpt_comes_as_a_list_a_wrapped_list_or_lines(export: object) -> None:
    read = [part for part in parts_of(ShareGptImporter(), export) if isinstance(part, Conversation)]
    assert [part.conversation_id for part in read] == ["1", "2"]
    assert [said_in(part) for part in read] == [[("a", None)], [("b", None)]]


@pytest.mark.parametrize("indent", [None, 1])
def test_sharegpt_a_single_conversation_is_not_taken_for_a_list_of_them(indent: int | None) -> None:
    raw = json.dumps({"id": "1", **share(("human", "a"), ("gpt", "b"))}, indent=indent).encode()
    assert said_in(only(ShareGptImporter(), raw)) == [("a", "b")]


# OpenAssistant


def node(name: str, role: str, *replies: object, **fields: Any) -> dict[str, Any]:
    return {
        "message_id": name,
        "role": role,
        "text": f"{name} said",
        "created_date": MORNING,
        "replies": list(replies),
        **fields,
    }


def tree(prompt: Mapping[str, Any]) -> dict[str, Any]:
    return {"message_tree_id": prompt["message_id"], "tree_state": "ready", "prompt": prompt}


def test_openassistant_the_reply_of_the_lowest_rank_is_read() -> None:
    read = only(
        OpenAssistantImporter(),
        tree(
            node(
                "p",
                "prompter",
                node("worse", "assistant", rank=1),
                node("unranked", "assistant"),
                node("best", "assistant", node("p2", "prompter"), rank=0),
            )
        ),
    )
    assert said_in(read) == [("p said", "best said"), ("p2 said", None)]
    assert read.left_out == {LeftOut.OTHER_BRANCH: 2}
    assert (read.conversation_id, read.turns[0].occurred_at) == ("p", EIGHT)


def test_openassistant_what_was_deleted_or_refused_gives_way() -> None:
    read = only(
        OpenAssistantImporter(),
        tree(
            node(
                "p",
                "prompter",
                node("gone", "assistant", rank=0, deleted=True),
                node("kept", "assistant", node("spam", "prompter", review_result=False), rank=1),
            )
        ),
    )
    assert said_in(read) == [("p said", "kept said")]
    assert read.left_out == {LeftOut.OTHER_BRANCH: 1, LeftOut.REFUSED_BY_REVIEWERS: 1}


def test_openassistant_messages_one_by_one_give_the_same_trees() -> None:
    flat = [
        {**node("p", "prompter"), "message_tree_id": "p", "parent_id": None},
        {**node("worse", "assistant", rank=1), "message_tree_id": "p", "parent_id": "p"},
        {**node("best", "assistant", rank=0), "message_tree_id": "p", "parent_id": "p"},
        {**node("q", "prompter"), "message_tree_id": "q", "parent_id": None},
    ]
    first, second = parts_of(OpenAssistantImporter(), lines_of(*flat))
    assert isinstance(first, Conversation)
    assert isinstance(second, Conversation)
    assert said_in(first) == [("p said", "best said")]
    assert first.left_out == {LeftOut.OTHER_BRANCH: 1}
    assert (first.place, second.place) == ("line 1", "line 4")
    assert said_in(second) == [("q said", None)]


def test_openassistant_a_thread_is_one_branch() -> None:
    thread = {"thread_id": "a", "thread": [node("p", "prompter"), node("a", "assistant"), None]}
    read = only(OpenAssistantImporter(), thread)
    assert said_in(read) == [("p said", "a said")]
    assert read.left_out == {LeftOut.NOT_A_MESSAGE: 1}


def test_openassistant_each_turn_is_its_own_authors() -> None:
    second = node("p2", "prompter", user_id="ben")
    answer = node("a", "assistant", second, user_id="eva")
    parts = parts_of(OpenAssistantImporter(), tree(node("p", "prompter", answer, user_id="ann")))
    read = [part for part in parts if isinstance(part, Conversation)]
    assert [(part.user_id, said_in(part)) for part in read] == [
        ("ann", [("p said", "a said")]),
        ("ben", [("p2 said", None)]),
    ]


def test_openassistant_a_tree_without_end_is_read_in_pieces() -> None:
    message = {"message_id": "x", "message_tree_id": "t", "role": "prompter", "text": "x"}
    raw = lines_of(*[message] * (GATHERED_MESSAGES_MAX + 1))
    parts = parts_of(OpenAssistantImporter(), raw)
    assert len(parts) == 2


# Tables


def table(*rows: str) -> bytes:
    return "\n".join(rows).encode()


def test_csv_columns_come_in_any_order_under_their_header() -> None:
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
def test_csv_the_header_tells_the_separator(delimiter: str) -> None:
    written = io.StringIO(newline="")
    csv.writer(written, delimiter=delimiter).writerows(
        [["conversation_id", "user_text"], ["c1", "a,b;c\td"]]
    )
    raw = written.getvalue().encode()
    assert TableImporter().recognises(raw)
    assert said_in(only(TableImporter(), raw)) == [("a,b;c\td", None)]


def test_csv_empty_cells_tell_nothing_and_numbers_are_times() -> None:
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
    assert second.notes == {Note.TIME_UNTOLD: 1}
    assert first.turns[0].client_turn_id != second.turns[0].client_turn_id


def test_csv_values_of_unknown_columns_are_counted() -> None:
    read = only(TableImporter(), table("conversation_id,user_text,mood,note", "c1,hello,glad,"))
    assert said_in(read) == [("hello", None)]
    assert read.left_out == {LeftOut.COLUMN: 1}


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
def test_csv_a_bad_row_costs_itself_alone_and_is_named(bad: bytes, reason: str) -> None:
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
def test_csv_a_header_that_is_none_refuses_the_file(header: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        parts_of(TableImporter(), table(header, "c1,x"))
    assert not TableImporter().recognises(table("conversation_id,text", "c1,x"))


# What is left out, in words


@pytest.mark.parametrize("reason", LeftOut)
def test_every_reason_has_a_plural(reason: LeftOut) -> None:
    assert counted(1, reason) == f"1 {reason}"
    several = counted(1_204, reason)
    assert several.startswith("1,204 ")
    assert several != f"1,204 {reason}"


def test_plurals_are_english() -> None:
    assert counted(4, LeftOut.NO_QUESTION) == "4 assistant messages without a user message in front"
    assert counted(2, LeftOut.NOT_A_MESSAGE) == "2 entries that are not messages"
    assert counted(3, LeftOut.NOT_TEXT) == "3 parts that are not text"
    assert counted(2, LeftOut.PROFILE) == "2 messages that hold the user's profile or instructions"
    assert counted(5, LeftOut.COLUMN) == "5 values of an unknown column"


# Every format of JSON


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
