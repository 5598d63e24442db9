"""LibreChat's exports: lists and trees of messages, and what is no answer in them."""

from __future__ import annotations

from typing import Any

from producers.importers.left_out import LeftOut, Note
from producers.importers.librechat import LibreChatImporter
from tests.unit.producers.importers.exports import said_in
from tests.unit.producers.importers.read_parts import MORNING, only


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


def test_a_tree_and_a_list_say_the_same() -> None:
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


def test_the_words_may_be_in_parts() -> None:
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


def test_an_error_is_no_answer_and_a_temporary_chat_is_left_out() -> None:
    question = typed("q", None, "why?", user=True)
    failed = typed("a", "q", "quota exceeded", user=False, error=True)
    read = only(LibreChatImporter(), libre(question, failed))
    assert said_in(read) == [("why?", None)]
    assert read.left_out == {LeftOut.FAILED: 1}
    temporary = only(LibreChatImporter(), libre(question, failed, isTemporary=True))
    assert temporary.turns == ()
    assert temporary.left_out == {LeftOut.NOT_TO_BE_REMEMBERED: 2}


def test_a_conversation_longer_than_the_stack_is_deep_is_read() -> None:
    messages = [
        typed(f"m{number}", f"m{number - 1}" if number else NO_PARENT, "x", user=True)
        for number in range(5_000)
    ]
    assert len(only(LibreChatImporter(), libre(*messages)).turns) == 5_000
