"""The data of OpenAssistant: trees of messages, threads of them, or the messages one by one.

A line is a tree (``message_tree_id`` and ``prompt``, whose ``replies`` have replies), a thread
(``thread_id`` and ``thread``) or a single message, of which those of one tree follow each other. Of
several replies the one of the lowest rank is read. What a message says is its own author's, so each
turn belongs to the ``user_id`` of its prompt, where that is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final

from producers.importers.documents import Document, documents
from producers.importers.left_out import LeftOut
from producers.importers.moments import moment_of
from producers.importers.openassistant_trees import Tree, TreeGatherer, thread_of, tree_of
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.turn_builder import Message, Role, TurnBuilder

_TREE: Final = re.compile(rb'"message_tree_id"\s*:|"thread_id"\s*:')
_MESSAGE: Final = re.compile(rb'"message_id"\s*:')
_PROMPTER: Final = re.compile(rb'"role"\s*:\s*"prompter"')
_ROLES: Final = {"prompter": Role.USER, "assistant": Role.ASSISTANT}


class OpenAssistantImporter:
    """Reads the data of OpenAssistant."""

    name = "openassistant"
    title = "message trees or messages of OpenAssistant"
    names_users = True

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of JSON with messages of a tree in it."""
        return (
            head.lstrip()[:1] in (b"[", b"{")
            and _MESSAGE.search(head) is not None
            and (_TREE.search(head) is not None or _PROMPTER.search(head) is not None)
        )

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield every tree; one that cannot be read costs none of the others."""
        gatherer = TreeGatherer()
        for document in documents(stream, noun="element"):
            if isinstance(document, Unreadable):
                yield document
            else:
                for found in _trees_of(document, gatherer):
                    yield from [found] if isinstance(found, Unreadable) else _read(found, now=now)
        for last in gatherer.rest():
            yield from _read(last, now=now)


def _trees_of(document: Document, gatherer: TreeGatherer) -> Iterator[Tree | Unreadable]:
    """Yield the trees that are whole with this document."""
    body, place = document.value, document.place
    if not isinstance(body, dict):
        yield Unreadable(place=place, reason="is not a JSON object")
    elif "prompt" in body:
        yield from gatherer.rest()
        yield tree_of(body, place)
    elif "thread" in body:
        yield from gatherer.rest()
        yield thread_of(body, place)
    elif "message_id" in body:
        yield from gatherer.add(body, place)
    else:
        yield Unreadable(place=place, reason="is neither a tree nor a thread nor a message")


def _read(tree: Tree, *, now: datetime) -> Iterator[Part]:
    """Yield the conversation of a tree: a part for each author whose turns follow each other."""
    turns = TurnBuilder(prefix=f"openassistant:{tree.name}", undated=True)
    turns.leave_out(LeftOut.NOT_A_MESSAGE, tree.not_messages)
    turns.leave_out(LeftOut.OTHER_BRANCH, tree.elsewhere)
    for node in tree.branch:
        turns.take(_message_of(node, tree.place, now=now))
    parts = list(turns.turns_by_author()) or [(None, ())]
    for number, (author, said) in enumerate(parts):
        yield Conversation(
            conversation_id=tree.name,
            title=None,
            place=tree.place,
            user_id=author,
            turns=said,
            # Told once, with the first part.
            left_out={} if number else dict(turns.left_out),
            notes={} if number else dict(turns.notes),
        )


def _message_of(node: Mapping[str, Any], place: str, *, now: datetime) -> Message:
    role = node.get("role")
    said = node.get("text")
    name = node.get("message_id")
    author = node.get("user_id")
    return Message(
        role=_ROLES.get(role) if isinstance(role, str) else None,
        text=said if isinstance(said, str) else "",
        moment=moment_of(node.get("created_date"), now=now),
        name=name if isinstance(name, str) else None,
        place=f"{place}, message {name}" if isinstance(name, str) else place,
        author=author if isinstance(author, str) and author else None,
        reason=_why_left_out(node),
        parts_left_out=0 if isinstance(said, str | None) else 1,
    )


def _why_left_out(node: Mapping[str, Any]) -> LeftOut | None:
    if node.get("deleted") is True:
        return LeftOut.DELETED
    return LeftOut.REFUSED_BY_REVIEWERS if node.get("review_result") is False else None
