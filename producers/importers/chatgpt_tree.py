"""The tree of messages of one ChatGPT conversation, and the branch of it that was last shown.

Every edit and every new attempt at an answer begins a branch, so a message may have several
children; ``current_node`` names the end of the branch that the user saw last. A parent that is
missing or its own ancestor refuses the conversation: unlike the lists of messages that other
formats have, a mapping has no order in which to guess what came before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

JsonObject = Mapping[str, Any]


class BrokenConversation(ValueError):
    """The conversation cannot be read; the message says why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Node:
    """One node of the branch.

    Attributes:
        node_id: its id in the tree.
        message: what it holds; ``None`` at the root and wherever the export holds none.
    """

    node_id: str
    message: JsonObject | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Branch:
    """The branch that is read.

    Attributes:
        nodes: from the root to the end.
        messages: how many messages the conversation has.
        elsewhere: how many of them lie on other branches.
        not_messages: how many entries hold something else where a message should be.
        end_was_missing: whether the export did not tell the end, so that the newest leaf counts.
    """

    nodes: tuple[Node, ...]
    messages: int
    elsewhere: int
    not_messages: int
    end_was_missing: bool


def current_branch(conversation: JsonObject) -> Branch:
    """Return the branch of a conversation that was last shown.

    Raises:
        BrokenConversation: it has no mapping, a parent is missing, or parents form a circle.
    """
    mapping = conversation.get("mapping")
    if not isinstance(mapping, dict) or not mapping:
        raise BrokenConversation("has no mapping, so no messages")
    told = conversation.get("current_node")
    end = told if isinstance(told, str) and told in mapping else None
    path = _path_to(mapping, end if end is not None else _newest_leaf(mapping))
    nodes = tuple(Node(node_id=name, message=_message(mapping, name)) for name in path)
    messages = sum(1 for name in mapping if _message(mapping, name) is not None)
    return Branch(
        nodes=nodes,
        messages=messages,
        not_messages=sum(1 for node in mapping.values() if not _may_hold_a_message(node)),
        elsewhere=messages - sum(1 for node in nodes if node.message is not None),
        end_was_missing=end is None,
    )


def _path_to(mapping: JsonObject, end: str) -> list[str]:
    path: list[str] = []
    seen: set[str] = set()
    name: object = end
    while name is not None:
        if not isinstance(name, str) or not isinstance(mapping.get(name), dict):
            raise BrokenConversation("a message names a parent that is not in the mapping")
        if name in seen:
            raise BrokenConversation("the parents of its messages form a circle")
        seen.add(name)
        path.append(name)
        name = mapping[name].get("parent")
    path.reverse()
    return path


def _newest_leaf(mapping: JsonObject) -> str:
    named = [node.get("parent") for node in mapping.values() if isinstance(node, dict)]
    parents = {parent for parent in named if isinstance(parent, str)}
    leaves = [name for name in mapping if name not in parents]
    if not leaves:
        raise BrokenConversation("the parents of its messages form a circle")
    # Of leaves of the same time the last one in the file: exports list messages as they came.
    return max(reversed(leaves), key=lambda name: _time(mapping, name))


def _time(mapping: JsonObject, name: str) -> float:
    message = _message(mapping, name)
    value = None if message is None else message.get("create_time")
    try:
        return float(value) if isinstance(value, int | float) else float("-inf")
    except OverflowError:
        return float("-inf")


def _message(mapping: JsonObject, name: str) -> JsonObject | None:
    node = mapping[name]
    message = node.get("message") if isinstance(node, dict) else None
    return message if isinstance(message, dict) else None


def _may_hold_a_message(node: object) -> bool:
    """Return whether a node is one, with a message or expressly without."""
    return isinstance(node, dict) and isinstance(node.get("message"), dict | None)
