"""The trees of OpenAssistant's messages, however they are written, and the best branch of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from producers.importers.records import Unreadable
from producers.importers.stable_ids import digest_of

GATHERED_MESSAGES_MAX: Final = 5_000
"""Of how many messages a tree may be made that are written one by one: far above the largest one of
the data that was published."""

_GATHERED_CHARACTERS_MAX: Final = 32 * 1024 * 1024

Node = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Tree:
    """One tree of messages.

    Attributes:
        name: its id.
        place: where in the file it begins, for people.
        branch: the messages from the prompt to the last of the best replies.
        elsewhere: how many messages lie on other branches.
        not_messages: how many entries hold something else where a message should be.
    """

    name: str
    place: str
    branch: tuple[Node, ...]
    elsewhere: int = 0
    not_messages: int = 0


def tree_of(body: Node, place: str) -> Tree | Unreadable:
    """Return the tree of ``{"message_tree_id", "prompt"}``."""
    prompt = body["prompt"]
    if not isinstance(prompt, dict):
        return Unreadable(place=place, reason="has no prompt that is a message")
    name = body.get("message_tree_id")
    return _best_of([prompt], _text(name) or _name_of(prompt), place)


def thread_of(body: Node, place: str) -> Tree | Unreadable:
    """Return the only branch of ``{"thread_id", "thread"}``."""
    entries = body["thread"]
    if not isinstance(entries, list) or not entries:
        return Unreadable(place=place, reason="has no list of messages")
    nodes = tuple(entry for entry in entries if isinstance(entry, dict))
    name = _text(body.get("thread_id")) or (_name_of(nodes[0]) if nodes else "")
    if not name:
        return Unreadable(place=place, reason="has no list of messages")
    return Tree(name=name, place=place, branch=nodes, not_messages=len(entries) - len(nodes))


class TreeGatherer:
    """Puts together the trees whose messages are written one by one, one tree behind the other."""

    def __init__(self) -> None:
        self._name = ""
        self._place = ""
        self._characters = 0
        self._nodes: list[Node] = []

    def add(self, message: Node, place: str) -> Iterator[Tree]:
        """Take a message; yield the tree before it, where that is whole now."""
        told = _text(message.get("message_tree_id"))
        begins = told != self._name if told else message.get("parent_id") is None
        said = message.get("text")
        characters = len(said) if isinstance(said, str) else 0
        if (
            begins
            or len(self._nodes) >= GATHERED_MESSAGES_MAX
            or self._characters + characters > _GATHERED_CHARACTERS_MAX
        ):
            yield from self.rest()
        if not self._nodes:
            self._name, self._place, self._characters = told or _name_of(message), place, 0
        self._nodes.append(message)
        self._characters += characters

    def rest(self) -> Iterator[Tree]:
        """Yield the tree that was begun, if one was."""
        nodes, self._nodes = self._nodes, []
        if nodes:
            yield _best_of(nodes, self._name, self._place)


def _best_of(nodes: list[Node], name: str, place: str) -> Tree:
    """Return a tree's best branch: from each message to its best reply.

    Args:
        nodes: messages that may hold replies, or name a parent among them.
        name: the tree's id.
        place: where it begins.
    """
    messages, replies, not_messages = _flattened(nodes)
    named: dict[str, int] = {}
    for index, node in enumerate(messages):
        if own := _text(node.get("message_id")):
            named.setdefault(own, index)
    beginnings: list[int] = []
    for index, node in enumerate(messages):
        if index in replies.held:
            continue
        parent = named.get(_text(node.get("parent_id")))
        if parent is None or parent == index:
            beginnings.append(index)
        else:
            replies.of.setdefault(parent, []).append(index)
    branch: list[int] = []
    # Where every message has a parent, they form a circle: it is read from the first on.
    choice = beginnings or [0]
    seen: set[int] = set()
    while choice:
        best = min(
            choice, key=lambda index: (_passed_over(messages[index]), _rank(messages[index]))
        )
        if best in seen:
            break
        seen.add(best)
        branch.append(best)
        choice = replies.of.get(best, [])
    return Tree(
        name=name,
        place=place,
        branch=tuple(messages[index] for index in branch),
        elsewhere=len(messages) - len(branch),
        not_messages=not_messages,
    )


@dataclass(kw_only=True, slots=True)
class _Replies:
    """Which messages reply to which, by index; ``held`` are those that are held by another."""

    of: dict[int, list[int]]
    held: set[int]


def _flattened(nodes: list[Node]) -> tuple[list[Node], _Replies, int]:
    messages: list[Node] = []
    replies = _Replies(of={}, held=set())
    not_messages = 0
    waiting: list[tuple[object, int | None]] = [(node, None) for node in reversed(nodes)]
    while waiting:
        entry, holder = waiting.pop()
        if not isinstance(entry, dict):
            not_messages += 1
            continue
        index = len(messages)
        messages.append(entry)
        if holder is not None:
            replies.held.add(index)
            replies.of.setdefault(holder, []).append(index)
        below = entry.get("replies")
        if isinstance(below, list):
            waiting += [(reply, index) for reply in reversed(below)]
        elif below is not None:
            not_messages += 1
    return messages, replies, not_messages


def _passed_over(node: Node) -> bool:
    return node.get("deleted") is True or node.get("review_result") is False


def _rank(node: Node) -> float:
    rank = node.get("rank")
    if isinstance(rank, int) and not isinstance(rank, bool) and abs(rank) < 1 << 53:
        return float(rank)
    return float("inf")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _name_of(node: Node) -> str:
    """Return a message's id; without one it follows from what it says."""
    return _text(node.get("message_id")) or digest_of(_text(node.get("text"))).hex()
