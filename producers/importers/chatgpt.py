"""The ``conversations.json`` of a ChatGPT data export.

Messages are taken in the order of the branch, never by their times, which may run backwards. A
conversation that is marked as not to be remembered is left out whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import BinaryIO, Final

from producers.importers.chatgpt_messages import message_of
from producers.importers.chatgpt_tree import BrokenConversation, JsonObject, current_branch
from producers.importers.documents import Document, documents
from producers.importers.left_out import LeftOut, Note
from producers.importers.moments import moment_of
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.turn_builder import TurnBuilder

_MAPPING: Final = re.compile(rb'"mapping"\s*:')
_NOT_TO_BE_REMEMBERED: Final = ("is_do_not_remember", "is_temporary_chat")


class ChatGptImporter:
    """Reads ChatGPT exports."""

    name = "chatgpt"
    title = "a ChatGPT data export"
    names_users = False

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of JSON with a conversation's mapping in it."""
        return head.lstrip()[:1] in (b"[", b"{") and _MAPPING.search(head) is not None

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield every conversation; one that cannot be read costs none of the others."""
        for document in documents(stream, noun="conversation"):
            yield document if isinstance(document, Unreadable) else _read(document, now=now)


def _read(document: Document, *, now: datetime) -> Part:
    body, place = document.value, document.place
    if not isinstance(body, dict):
        return Unreadable(place=place, reason="is not a JSON object")
    conversation_id = body.get("conversation_id") or body.get("id")
    if not isinstance(conversation_id, str):
        return Unreadable(place=place, reason="has no id, so it could not be told from others")
    try:
        turns = _turns_of(body, conversation_id, place, now=now)
    except BrokenConversation as error:
        return Unreadable(place=place, reason=str(error), conversation_id=conversation_id)
    title = body.get("title")
    return Conversation(
        conversation_id=conversation_id,
        title=title if isinstance(title, str) else None,
        place=place,
        turns=turns.turns(),
        left_out=dict(turns.left_out),
        notes=dict(turns.notes),
    )


def _turns_of(body: JsonObject, conversation_id: str, place: str, *, now: datetime) -> TurnBuilder:
    branch = current_branch(body)
    turns = TurnBuilder(
        prefix=f"chatgpt:{conversation_id}",
        times=(moment_of(body.get(name), now=now) for name in ("create_time", "update_time")),
    )
    turns.leave_out(LeftOut.NOT_A_MESSAGE, branch.not_messages)
    if any(body.get(mark) for mark in _NOT_TO_BE_REMEMBERED):
        turns.leave_out(LeftOut.NOT_TO_BE_REMEMBERED, branch.messages)
        return turns
    turns.leave_out(LeftOut.OTHER_BRANCH, branch.elsewhere)
    if branch.end_was_missing:
        turns.notes[Note.END_MISSING] += 1
    for node in branch.nodes:
        if node.message is not None:
            turns.take(message_of(node.message, node.node_id, place, now=now))
    return turns
