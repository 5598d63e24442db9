"""ChatGPT exports: the branch that was shown, in its order, with everything else counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers.left_out import LeftOut, Note
from producers.importers.records import Conversation, Unreadable
from tests.unit.producers.importers.exports import (
    TIME,
    chain,
    conversation,
    message,
    only,
    parts_of,
    said_in,
)

ASKED = message("user", "question")
ANSWERED = message("assistant", "answer")


def moment(seconds: float) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)


def test_a_turn_is_a_question_and_what_follows_up_to_the_next() -> None:
    read = only(
        [
            conversation(
                message("user", "one"),
                message("assistant", "first"),
                message("assistant", "second"),
                message("user", "two"),
                message("user", "three"),
                message("assistant", "third"),
            )
        ]
    )
    assert said_in(read) == [("one", "first\n\nsecond"), ("two", None), ("three", "third")]
    assert read.title == "A title"
    assert read.left_out == {}
    assert read.notes == {}


def test_ids_follow_from_the_export_and_not_from_the_place() -> None:
    read = only([conversation(ASKED, ANSWERED, ASKED)])
    assert [turn.client_turn_id for turn in read.turns] == ["chatgpt:c1:m0", "chatgpt:c1:m2"]


def test_a_longer_export_keeps_the_ids_of_the_shorter() -> None:
    shorter = only([conversation(ASKED)])
    longer = only([conversation(ASKED, ANSWERED, ASKED)])
    assert longer.turns[0].client_turn_id == shorter.turns[0].client_turn_id


def test_the_order_is_that_of_the_branch_even_where_times_run_backwards() -> None:
    read = only(
        [
            conversation(
                message("user", "one", create_time=TIME + 50), message("user", "two"), ANSWERED
            )
        ]
    )
    assert said_in(read) == [("one", None), ("two", "answer")]
    assert [turn.occurred_at for turn in read.turns] == [moment(TIME + 50), moment(TIME)]


def branched(**fields: Any) -> dict[str, Any]:
    """A question that was edited: an old branch, and a new one that is later."""
    mapping = chain([message("user", "old"), message("assistant", "old answer")])
    for name, parent, held in [
        ("n0", "root", message("user", "new", create_time=TIME + 10)),
        ("n1", "n0", message("assistant", "new answer", create_time=TIME + 20)),
    ]:
        mapping[name] = {"id": name, "parent": parent, "message": {"id": name, **held}}
    return {"mapping": mapping, "conversation_id": "c1", **fields}


def test_the_branch_is_that_of_the_current_message() -> None:
    read = only([branched(current_node="m1")])
    assert said_in(read) == [("old", "old answer")]
    assert read.left_out == {LeftOut.OTHER_BRANCH: 2}
    assert read.notes == {}


@pytest.mark.parametrize("fields", [{}, {"current_node": None}, {"current_node": "unknown"}])
def test_without_a_current_message_the_newest_branch_counts(fields: dict[str, Any]) -> None:
    read = only([branched(**fields)])
    assert said_in(read) == [("new", "new answer")]
    assert read.notes == {Note.END_MISSING: 1}


@pytest.mark.parametrize(
    ("held", "reason"),
    [
        (message("system", "rules"), LeftOut.SYSTEM),
        (message("tool", "result"), LeftOut.TOOL),
        (message("critic", "hm"), LeftOut.UNKNOWN_ROLE),
        (message("assistant", "search()", recipient="browser"), LeftOut.TO_TOOL),
        (message("assistant", "x", weight=0.0), LeftOut.HIDDEN),
        (
            message("user", "x", metadata={"is_visually_hidden_from_conversation": True}),
            LeftOut.HIDDEN,
        ),
        (
            {
                **message("user", ""),
                "content": {"content_type": "user_editable_context", "user_profile": "x"},
                "metadata": {"is_visually_hidden_from_conversation": True},
            },
            LeftOut.PROFILE,
        ),
        (message("user", "x", metadata={"is_user_system_message": True}), LeftOut.PROFILE),
        ("text", LeftOut.NOT_A_MESSAGE),
        (message("assistant", ""), LeftOut.NO_TEXT),
        (message("user", " "), LeftOut.NO_TEXT),
        ({"author": None, "content": None}, LeftOut.UNKNOWN_ROLE),
    ],
)
def test_what_nobody_said_to_the_other_is_left_out_and_counted(held: Any, reason: LeftOut) -> None:
    read = only([conversation(held, ASKED, ANSWERED)])
    assert said_in(read) == [("question", "answer")]
    assert read.left_out == {reason: 1}


@pytest.mark.parametrize("mark", ["is_do_not_remember", "is_temporary_chat"])
def test_a_conversation_that_is_not_to_be_remembered_is_left_out_whole(mark: str) -> None:
    read = only([conversation(ASKED, ANSWERED, None, **{mark: True})])
    assert read.turns == ()
    assert read.left_out == {LeftOut.NOT_TO_BE_REMEMBERED: 2}
    assert only([conversation(ASKED, **{mark: False})]).turns


def test_tools_between_question_and_answer_do_not_part_them() -> None:
    read = only(
        [
            conversation(
                ASKED,
                message("assistant", "search()", recipient="browser"),
                message("tool", "result"),
                ANSWERED,
            )
        ]
    )
    assert said_in(read) == [("question", "answer")]


@pytest.mark.parametrize(
    "unread",
    [
        message("user", [{"content_type": "image_asset_pointer"}]),
        message("user", "x", weight=0),
        message("user", ""),
    ],
)
def test_an_answer_to_a_message_that_is_left_out_is_not_given_to_another(
    unread: dict[str, Any],
) -> None:
    read = only([conversation(ASKED, ANSWERED, unread, message("assistant", "a nice picture"))])
    assert said_in(read) == [("question", "answer")]
    assert read.left_out[LeftOut.NO_QUESTION] == 1


def test_an_assistant_who_speaks_first_is_counted() -> None:
    read = only([conversation(message("assistant", "welcome"), ASKED)])
    assert said_in(read) == [("question", None)]
    assert read.left_out == {LeftOut.NO_QUESTION: 1}


def test_only_texts_are_taken_of_mixed_parts() -> None:
    spoken = {"content_type": "audio_transcription", "text": "spoken"}
    picture = {"content_type": "image_asset_pointer", "asset_pointer": "file://1"}
    read = only([conversation(message("user", [picture, "typed", spoken, None]))])
    assert said_in(read) == [("typed\nspoken", None)]
    assert read.left_out == {LeftOut.NOT_TEXT: 2}


@pytest.mark.parametrize(
    "content",
    [
        {"content_type": "code", "text": "print()"},
        {"content_type": "thoughts", "thoughts": []},
        {"content_type": ["text"], "parts": ["x"]},
        {"content_type": "text", "parts": "x"},
        {"content_type": "text"},
    ],
)
def test_content_of_other_types_is_counted(content: dict[str, Any]) -> None:
    read = only([conversation(ASKED, {**ANSWERED, "content": content})])
    assert said_in(read) == [("question", None)]
    assert read.left_out == {LeftOut.NOT_TEXT: 1, LeftOut.NO_TEXT: 1}


def test_a_time_that_is_not_told_is_taken_from_the_message_before() -> None:
    read = only([conversation(ASKED, ANSWERED, message("user", "later", create_time=None))])
    assert read.turns[1].occurred_at == moment(TIME)
    assert [turn.note for turn in read.turns] == [None, Note.TIME_BEFORE]


@pytest.mark.parametrize("unusable", [None, 0, -5, "yesterday", True, 1e300, float("nan"), [1]])
def test_a_first_time_that_cannot_be_used_is_taken_from_the_conversation(unusable: object) -> None:
    read = only([conversation(message("user", "question", create_time=unusable))])
    assert read.turns[0].occurred_at == moment(TIME - 100)
    assert read.turns[0].note == Note.TIME_CONVERSATION


def test_without_any_time_a_message_is_left_out_rather_than_dated_today() -> None:
    read = only(
        [conversation(message("user", "question", create_time=None), ANSWERED, create_time=None)]
    )
    assert read.turns == ()
    assert read.left_out == {LeftOut.NO_TIME: 1, LeftOut.NO_QUESTION: 1}


def test_milliseconds_and_texts_tell_times_too() -> None:
    read = only(
        [
            conversation(
                message("user", "a", create_time=TIME * 1000),
                message("user", "b", create_time="2023-11-14T22:13:20Z"),
            )
        ]
    )
    assert [turn.occurred_at for turn in read.turns] == [moment(TIME)] * 2


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"conversation_id": "b"}, "has no mapping"),
        ({"conversation_id": "b", "mapping": None}, "has no mapping"),
        ({"conversation_id": "b", "mapping": {}}, "has no mapping"),
        ({"mapping": chain([ASKED])}, "has no id"),
        (
            conversation(ASKED, mapping={"m0": {"parent": "gone", "message": ASKED}}),
            "a parent that is not in the mapping",
        ),
        (
            conversation(ASKED, mapping={"m0": {"parent": "x"}, "x": {"parent": "m0"}}),
            "form a circle",
        ),
        (
            conversation(current_node=None, mapping={"a": {"parent": "a"}}),
            "form a circle",
        ),
        (conversation(ASKED, mapping={"m0": "text"}), "a parent that is not in the mapping"),
        ("text", "is not a JSON object"),
        (None, "is not a JSON object"),
    ],
)
def test_a_conversation_that_cannot_be_read_costs_no_other(broken: object, reason: str) -> None:
    before, unreadable, after = parts_of([conversation(ASKED), broken, conversation(ANSWERED)])
    assert isinstance(before, Conversation)
    assert isinstance(after, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert unreadable.place == "conversation 2"
    assert reason in unreadable.reason


@pytest.mark.parametrize(
    "broken",
    [
        rb'{"title": "\q"}',
        b'{"title": "\xff"}',
        b"{" + b'"a":[' * 50_000 + b"]" * 50_000 + b"}",
        b'{"a" 1}',
        b"{]",
    ],
)
def test_json_that_is_broken_inside_a_conversation_costs_no_other(broken: bytes) -> None:
    good = json.dumps(conversation(ASKED)).encode()
    before, unreadable, after = parts_of(b"[" + good + b"," + broken + b"," + good + b"]")
    assert isinstance(before, Conversation)
    assert isinstance(unreadable, Unreadable)
    assert isinstance(after, Conversation)


def test_a_file_that_ends_in_the_middle_gives_what_was_whole() -> None:
    good = json.dumps(conversation(ASKED)).encode()
    first, rest = parts_of(b"[" + good + b"," + good[:-20])
    assert isinstance(first, Conversation)
    assert rest == Unreadable(place="conversation 2", reason="the file ends in the middle of it")


def test_an_export_may_be_wrapped_or_be_a_single_conversation() -> None:
    single = conversation(ASKED)
    assert only(single) == only([single])
    assert only({"version": 1, "conversations": [single], "more": []}) == only([single])


def test_half_a_character_is_kept_for_the_policy_to_refuse() -> None:
    read = only([conversation(message("user", "ab\ud800"))])
    assert read.turns[0].user_text == "ab\ud800"


NAMES = (
    "id",
    "mapping",
    "message",
    "parent",
    "author",
    "role",
    "content",
    "parts",
    "content_type",
    "create_time",
    "current_node",
    "metadata",
    "weight",
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*NAMES, "a", "b"]),
            inner,
            max_size=6,
        )
    ),
    max_leaves=25,
)


@given(json_values)
def test_no_conversation_ends_an_import(value: Any) -> None:
    parts = parts_of([value, conversation(ASKED)])
    assert len(parts) == 2
    assert isinstance(parts[1], Conversation)


@given(st.data())
def test_no_damage_to_a_message_ends_an_import(data: st.DataObject) -> None:
    held = message("user", "question")
    for name in data.draw(st.lists(st.sampled_from(sorted(held)), unique=True)):
        held[name] = data.draw(json_values)
    read = only([conversation(held, ANSWERED)])
    assert len(read.turns) <= 1
    assert len(read.turns) + sum(read.left_out.values()) >= 1
