"""A LibreChat export: one conversation, its messages in a tree or in a list.

In a tree a message holds its ``children``, in a list it names its ``parentMessageId``. Which branch
was shown last is not told, so the newest is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Final

from producers.importers.branches import Link, newest_end, parents_of, path_to
from producers.importers.documents import Document, documents
from producers.importers.left_out import LeftOut, Note
from producers.importers.moments import moment_of
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.turn_builder import Message, Role, TurnBuilder

_CONVERSATION: Final = re.compile(rb'"conversationId"\s*:')
_MESSAGES: Final = re.compile(rb'"messages(Tree)?"\s*:')
_NO_PARENT: Final = "00000000-0000-0000-0000-000000000000"


class LibreChatImporter:
    """Reads LibreChat exports."""

    name = "librechat"
    title = "a conversation that LibreChat exported as JSON"
    names_users = False

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of a conversation with an id and messages."""
        return (
            head.lstrip()[:1] in (b"[", b"{")
            and _CONVERSATION.search(head) is not None
            and _MESSAGES.search(head) is not None
        )

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield every conversation; one that cannot be read costs none of the others."""
        for document in documents(stream, noun="conversation"):
            yield document if isinstance(document, Unreadable) else _read(document, now=now)


def _read(document: Document, *, now: datetime) -> Part:
    body, place = document.value, document.place
    if not isinstance(body, dict):
        return Unreadable(place=place, reason="is not a JSON object")
    conversation_id = body.get("conversationId")
    if not isinstance(conversation_id, str) or not conversation_id:
        return Unreadable(
            place=place, reason="has no conversationId, so it could not be told from others"
        )
    entries = body.get("messagesTree", body.get("messages"))
    if not isinstance(entries, list):
        return Unreadable(
            place=place, reason="has no list of messages", conversation_id=conversation_id
        )
    turns = TurnBuilder(
        prefix=f"librechat:{conversation_id}",
        times=(moment_of(body.get(name), now=now) for name in ("createdAt", "updatedAt")),
    )
    messages, links, not_messages = _flattened(entries, now=now)
    turns.leave_out(LeftOut.NOT_A_MESSAGE, not_messages)
    if body.get("isTemporary"):
        turns.leave_out(LeftOut.NOT_TO_BE_REMEMBERED, len(messages))
    elif messages:
        _take_branch(messages, links, turns, place, now=now)
    title = body.get("title")
    return Conversation(
        conversation_id=conversation_id,
        title=title if isinstance(title, str) else None,
        place=place,
        turns=turns.turns(),
        left_out=dict(turns.left_out),
        notes=dict(turns.notes),
    )


def _flattened(
    entries: Sequence[object], *, now: datetime
) -> tuple[list[Mapping[str, Any]], list[Link], int]:
    """Return the messages in the order of the file, their links, and how many entries are none."""
    messages: list[Mapping[str, Any]] = []
    links: list[Link] = []
    not_messages = 0
    # Walked without recursion: a conversation may be longer than the stack is deep.
    waiting: list[tuple[object, str | None]] = [(entry, None) for entry in reversed(entries)]
    while waiting:
        entry, holder = waiting.pop()
        if not isinstance(entry, dict):
            not_messages += 1
            continue
        name = entry.get("messageId")
        name = name if isinstance(name, str) and name else f"{len(messages) + 1}"
        links.append(_link_of(entry, name, holder, now=now))
        messages.append(entry)
        children = entry.get("children")
        if isinstance(children, list):
            waiting += [(child, name) for child in reversed(children)]
        elif children is not None:
            not_messages += 1
    return messages, links, not_messages


def _link_of(entry: Mapping[str, Any], name: str, holder: str | None, *, now: datetime) -> Link:
    parent = entry.get("parentMessageId") if holder is None else holder
    return Link(
        name=name,
        parent=parent if isinstance(parent, str) else None,
        # Told to be nothing, unlike not told at all.
        begins=parent == _NO_PARENT or (parent is None and "parentMessageId" in entry),
        moment=moment_of(entry.get("createdAt"), now=now),
    )


def _take_branch(
    messages: Sequence[Mapping[str, Any]],
    links: Sequence[Link],
    turns: TurnBuilder,
    place: str,
    *,
    now: datetime,
) -> None:
    parents = parents_of(links)
    path = path_to(newest_end(links, parents), parents)
    if len(path) < len(messages):
        turns.leave_out(LeftOut.OTHER_BRANCH, len(messages) - len(path))
        turns.notes[Note.END_MISSING] += 1
    for index in path:
        turns.take(_message_of(messages[index], f"{place}, message {index + 1}", now=now))


def _message_of(entry: Mapping[str, Any], place: str, *, now: datetime) -> Message:
    said, parts_left_out = _text_of(entry)
    name = entry.get("messageId")
    return Message(
        role=_role_of(entry),
        text=said,
        moment=moment_of(entry.get("createdAt"), now=now),
        name=name if isinstance(name, str) else None,
        place=place,
        # What stands in place of an answer that could not be given is nobody's answer.
        reason=LeftOut.FAILED if entry.get("error") is True else None,
        parts_left_out=parts_left_out,
    )


def _role_of(entry: Mapping[str, Any]) -> Role | None:
    by_user = entry.get("isCreatedByUser")
    if isinstance(by_user, bool):
        return Role.USER if by_user else Role.ASSISTANT
    sender = entry.get("sender")
    if not isinstance(sender, str) or not sender:
        return None
    # Answers are signed with the name of a model or of an agent.
    return Role.USER if sender.casefold() == "user" else Role.ASSISTANT


def _text_of(entry: Mapping[str, Any]) -> tuple[str, int]:
    """Return the text of a message, and how many of its parts are none."""
    beside = entry.get("text")
    parts = entry.get("content")
    if isinstance(beside, str) and beside.strip():
        return beside, 0
    if not isinstance(parts, list):
        return "", 0
    texts = [said for said in map(_spoken, parts) if said is not None]
    return "\n".join(text for text in texts if text.strip()), len(parts) - len(texts)


def _spoken(part: object) -> str | None:
    if not isinstance(part, dict) or part.get("type") != "text":
        return None
    said = part.get("text")
    if isinstance(said, dict):
        said = said.get("value")
    return said if isinstance(said, str) else None
