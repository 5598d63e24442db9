"""The ``conversations.json`` of a ChatGPT data export.

A turn is a message of the user and what the assistant said up to the user's next message. Messages
are taken in the order of the branch, never by their times, which may run backwards.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO, Final

from producers.importers.chatgpt_messages import LeftOut, Role, role_of, text_of, why_left_out
from producers.importers.chatgpt_tree import (
    BrokenConversation,
    JsonObject,
    Node,
    current_branch,
)
from producers.importers.elements import split_array
from producers.importers.records import Conversation, ImportedTurn, Unreadable
from producers.json_text import decode_json
from schemas import text
from schemas.errors import InvalidInput

_WRAPPERS: Final = ("conversations", "data", "items")
_MAPPING: Final = re.compile(rb'"mapping"\s*:')

NOTE_END_MISSING: Final = "current message not told, newest branch read"
NOTE_TIME_BEFORE: Final = "time taken from a message before"
NOTE_TIME_CONVERSATION: Final = "time taken from the conversation"


class ChatGptImporter:
    """Reads ChatGPT exports."""

    name = "chatgpt"
    names_users = False

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of JSON with a conversation's mapping in it."""
        return head.lstrip()[:1] in (b"[", b"{") and _MAPPING.search(head) is not None

    def conversations(
        self, stream: BinaryIO, *, now: datetime
    ) -> Iterator[Conversation | Unreadable]:
        """Yield every conversation; one that cannot be read costs none of the others."""
        for element in split_array(stream, wrappers=_WRAPPERS):
            place = f"conversation {element.number}"
            if element.problem is not None:
                yield Unreadable(place=place, reason=element.problem)
            else:
                yield _read(element.raw, place, now=now)


@dataclass(kw_only=True, slots=True)
class _Draft:
    """A turn to which the assistant may still add."""

    client_turn_id: str
    user_text: str
    occurred_at: datetime
    answers: list[str] = field(default_factory=list)

    def finished(self) -> ImportedTurn:
        return ImportedTurn(
            client_turn_id=self.client_turn_id,
            user_text=self.user_text,
            assistant_text="\n\n".join(self.answers) or None,
            occurred_at=self.occurred_at,
        )


def _read(raw: bytes, place: str, *, now: datetime) -> Conversation | Unreadable:
    try:
        body = decode_json(raw)
    except InvalidInput as error:
        return Unreadable(place=place, reason=error.problem)
    if not isinstance(body, dict):
        return Unreadable(place=place, reason="is not a JSON object")
    conversation_id = body.get("conversation_id") or body.get("id")
    if not isinstance(conversation_id, str):
        return Unreadable(place=place, reason="has no id, so it could not be told from others")
    try:
        return _Reading(body, conversation_id, now).conversation()
    except BrokenConversation as error:
        return Unreadable(place=place, reason=str(error), conversation_id=conversation_id)


class _Reading:
    """The reading of one conversation."""

    def __init__(self, body: JsonObject, conversation_id: str, now: datetime) -> None:
        self._body = body
        self._conversation_id = conversation_id
        self._now = now
        self._left_out: Counter[str] = Counter()
        self._notes: Counter[str] = Counter()
        self._drafts: list[_Draft] = []
        self._open: _Draft | None = None
        self._last_time: datetime | None = None

    def conversation(self) -> Conversation:
        branch = current_branch(self._body)
        if branch.elsewhere:
            self._left_out[LeftOut.OTHER_BRANCH] = branch.elsewhere
        if branch.end_was_missing:
            self._notes[NOTE_END_MISSING] = 1
        for node in branch.nodes:
            if node.message is not None:
                self._take(node, node.message)
        title = self._body.get("title")
        return Conversation(
            conversation_id=self._conversation_id,
            title=title if isinstance(title, str) else None,
            turns=tuple(draft.finished() for draft in self._drafts),
            left_out=dict(self._left_out),
            notes=dict(self._notes),
        )

    def _take(self, node: Node, message: JsonObject) -> None:
        own_time = self._moment(message.get("create_time"))
        self._last_time, before = own_time or self._last_time, self._last_time
        role = role_of(message)
        if role == Role.USER:
            # Also where the message is left out: what follows does not answer the one before.
            self._open = None
        reason = why_left_out(message)
        if reason is not None:
            self._left_out[reason] += 1
            return
        said = text_of(message, self._left_out)
        if not said.strip():
            self._left_out[LeftOut.NO_TEXT] += 1
        elif role == Role.USER:
            self._begin(node, message, said, own_time, before)
        elif self._open is None:
            self._left_out[LeftOut.NO_QUESTION] += 1
        else:
            self._open.answers.append(said)

    def _begin(
        self,
        node: Node,
        message: JsonObject,
        said: str,
        own_time: datetime | None,
        before: datetime | None,
    ) -> None:
        occurred_at = own_time or self._borrowed_time(before)
        if occurred_at is None:
            self._left_out[LeftOut.NO_TIME] += 1
            return
        message_id = message.get("id")
        name = message_id if isinstance(message_id, str) and message_id else node.node_id
        self._open = _Draft(
            client_turn_id=f"chatgpt:{self._conversation_id}:{name}",
            user_text=said,
            occurred_at=occurred_at,
        )
        self._drafts.append(self._open)

    def _borrowed_time(self, before: datetime | None) -> datetime | None:
        if before is not None:
            self._notes[NOTE_TIME_BEFORE] += 1
            return before
        for name in ("create_time", "update_time"):
            moment = self._moment(self._body.get(name))
            if moment is not None:
                self._notes[NOTE_TIME_CONVERSATION] += 1
                return moment
        return None

    def _moment(self, value: object) -> datetime | None:
        """Return a time of the export, or ``None`` where it tells none that can be used."""
        try:
            if isinstance(value, str):
                return text.parse_moment("create_time", value, now=self._now)[0]
            # Zero is how some exports say that they do not know.
            if isinstance(value, int | float) and not isinstance(value, bool) and value:
                return text.parse_epoch("create_time", value, now=self._now)
        except InvalidInput:
            return None
        return None
