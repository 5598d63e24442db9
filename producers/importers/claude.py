"""The ``conversations.json`` of a Claude data export, or one conversation of it.

A message's words are the text blocks of its ``content``; where there are none, its ``text``. Text
that was extracted from attachments is not what the user said, and is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, BinaryIO, Final

from producers.importers.branches import Link, newest_end, parents_of, path_to
from producers.importers.documents import Document, documents
from producers.importers.left_out import LeftOut
from producers.importers.moments import moment_of
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.turn_builder import Message, Role, TurnBuilder

_MESSAGES: Final = re.compile(rb'"chat_messages"\s*:')
_ROLES: Final = {"human": Role.USER, "user": Role.USER, "assistant": Role.ASSISTANT}
_SPOKEN_TYPES: Final = ("text", "voice_note")
_NOBODY: Final = "00000000-0000-4000-8000-000000000000"
"""What a first message names as the one before it."""


class ClaudeImporter:
    """Reads Claude exports."""

    name = "claude"
    title = "a Claude data export"
    names_users = True

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of JSON with a conversation's messages in it."""
        return head.lstrip()[:1] in (b"[", b"{") and _MESSAGES.search(head) is not None

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield every conversation; one that cannot be read costs none of the others."""
        for document in documents(stream, noun="conversation"):
            yield document if isinstance(document, Unreadable) else _read(document, now=now)


def _read(document: Document, *, now: datetime) -> Part:
    body, place = document.value, document.place
    if not isinstance(body, dict):
        return Unreadable(place=place, reason="is not a JSON object")
    conversation_id = body.get("uuid")
    if not isinstance(conversation_id, str) or not conversation_id:
        return Unreadable(place=place, reason="has no uuid, so it could not be told from others")
    entries = body.get("chat_messages")
    if not isinstance(entries, list):
        return Unreadable(
            place=place, reason="has no list of messages", conversation_id=conversation_id
        )
    turns = TurnBuilder(
        prefix=f"claude:{conversation_id}",
        times=(moment_of(body.get(name), now=now) for name in ("created_at", "updated_at")),
    )
    _take_all(entries, body.get("current_leaf_message_uuid"), turns, place, now=now)
    title = body.get("name")
    return Conversation(
        conversation_id=conversation_id,
        title=title if isinstance(title, str) else None,
        place=place,
        account=_account_of(body),
        turns=turns.turns(),
        left_out=dict(turns.left_out),
        notes=dict(turns.notes),
    )


def _take_all(
    entries: Sequence[object], leaf: object, turns: TurnBuilder, place: str, *, now: datetime
) -> None:
    numbered = [
        (number, entry) for number, entry in enumerate(entries, start=1) if isinstance(entry, dict)
    ]
    turns.leave_out(LeftOut.NOT_A_MESSAGE, len(entries) - len(numbered))
    if not numbered:
        return
    links = [_link_of(entry, now=now) for _, entry in numbered]
    parents = parents_of(links)
    named = [index for index, link in enumerate(links) if link.name is not None]
    end = next((index for index in named if links[index].name == leaf), None)
    path = path_to(newest_end(links, parents) if end is None else end, parents)
    turns.leave_out(LeftOut.OTHER_BRANCH, len(numbered) - len(path))
    for index in path:
        number, entry = numbered[index]
        turns.take(_message_of(entry, f"{place}, message {number}", now=now))


def _link_of(entry: Mapping[str, Any], *, now: datetime) -> Link:
    name, parent = entry.get("uuid"), entry.get("parent_message_uuid")
    return Link(
        name=name if isinstance(name, str) else None,
        parent=parent if isinstance(parent, str) else None,
        begins=parent == _NOBODY,
        moment=moment_of(entry.get("created_at"), now=now),
    )


def _message_of(entry: Mapping[str, Any], place: str, *, now: datetime) -> Message:
    sender = entry.get("sender")
    name = entry.get("uuid")
    said, parts_left_out = _text_of(entry)
    return Message(
        role=_ROLES.get(sender) if isinstance(sender, str) else None,
        text=said,
        moment=moment_of(entry.get("created_at"), now=now),
        name=name if isinstance(name, str) else None,
        place=place,
        parts_left_out=parts_left_out,
        attachments_left_out=_attachments_of(entry),
    )


def _text_of(entry: Mapping[str, Any]) -> tuple[str, int]:
    """Return the text of a message, and how many of its parts are none."""
    content = entry.get("content")
    blocks = content if isinstance(content, list) else [] if content is None else [content]
    texts = [said for said in map(_spoken, blocks) if said is not None]
    parts_left_out = len(blocks) - len(texts)
    said = "\n".join(text for text in texts if text.strip())
    beside = entry.get("text")
    if not said and isinstance(beside, str):
        said = beside
    return said, parts_left_out


def _spoken(block: object) -> str | None:
    if isinstance(block, dict):
        block = block.get("text") if block.get("type") in _SPOKEN_TYPES else None
    return block if isinstance(block, str) else None


def _attachments_of(entry: Mapping[str, Any]) -> int:
    # The second list of files repeats the first with more about each.
    lists = [entry.get(name) for name in ("attachments", "files", "files_v2")]
    attachments, files, again = (len(one) if isinstance(one, list) else 0 for one in lists)
    return attachments + max(files, again)


def _account_of(body: Mapping[str, Any]) -> str | None:
    account = body.get("account")
    found = account.get("uuid") if isinstance(account, dict) else None
    return found if isinstance(found, str) and found else None
