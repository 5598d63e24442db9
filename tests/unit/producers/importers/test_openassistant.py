"""OpenAssistant's trees, threads and messages: which replies are read, and whose turns they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from producers.importers.left_out import LeftOut
from producers.importers.openassistant import OpenAssistantImporter
from producers.importers.openassistant_trees import GATHERED_MESSAGES_MAX
from producers.importers.records import Conversation
from tests.unit.producers.importers.exports import said_in
from tests.unit.producers.importers.read_parts import EIGHT, MORNING, lines_of, only, parts_of


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


def test_the_reply_of_the_lowest_rank_is_read() -> None:
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


def test_what_was_deleted_or_refused_gives_way() -> None:
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


def test_messages_one_by_one_give_the_same_trees() -> None:
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


def test_a_thread_is_one_branch() -> None:
    thread = {"thread_id": "a", "thread": [node("p", "prompter"), node("a", "assistant"), None]}
    read = only(OpenAssistantImporter(), thread)
    assert said_in(read) == [("p said", "a said")]
    assert read.left_out == {LeftOut.NOT_A_MESSAGE: 1}


def test_each_turn_is_its_own_authors() -> None:
    second = node("p2", "prompter", user_id="ben")
    answer = node("a", "assistant", second, user_id="eva")
    parts = parts_of(OpenAssistantImporter(), tree(node("p", "prompter", answer, user_id="ann")))
    read = [part for part in parts if isinstance(part, Conversation)]
    assert [(part.user_id, said_in(part)) for part in read] == [
        ("ann", [("p said", "a said")]),
        ("ben", [("p2 said", None)]),
    ]


def test_a_tree_without_end_is_read_in_pieces() -> None:
    message = {"message_id": "x", "message_tree_id": "t", "role": "prompter", "text": "x"}
    raw = lines_of(*[message] * (GATHERED_MESSAGES_MAX + 1))
    parts = parts_of(OpenAssistantImporter(), raw)
    assert len(parts) == 2
