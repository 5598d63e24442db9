"""Conversations in the form of ShareGPT: ``{"id", "conversations": [{"from", "value"}, ...]}``.

The form knows neither times nor ids of messages. A turn counts as said at the time of the import,
and its id follows from its conversation and its texts.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, BinaryIO, Final

from producers.importers.documents import WRAPPERS, Document, Rejoined, documents
from producers.importers.left_out import LeftOut
from producers.importers.records import Conversation, Part, Unreadable
from producers.importers.stable_ids import digest_of
from producers.importers.turn_builder import Message, Role, TurnBuilder

_MESSAGES: Final = re.compile(rb'"conversations"\s*:\s*\[')
_MESSAGE: Final = re.compile(rb'"(?:from|value)"\s*:')
# The first array of that name holds messages: the object around it is a conversation itself.
_BARE: Final = re.compile(rb'\A\s*\{[^\[]*"conversations"\s*:\s*\[\s*\{[^\[{}]*"(?:from|value)"')
_ROLES: Final = {
    "human": Role.USER,
    "user": Role.USER,
    "gpt": Role.ASSISTANT,
    "assistant": Role.ASSISTANT,
    "chatgpt": Role.ASSISTANT,
    "bing": Role.ASSISTANT,
    "bard": Role.ASSISTANT,
    "model": Role.ASSISTANT,
}
_REASONS: Final = {
    "system": LeftOut.SYSTEM,
    "tool": LeftOut.TOOL,
    "function": LeftOut.TOOL,
    "function_call": LeftOut.TO_TOOL,
    "observation": LeftOut.TOOL,
}
_HEAD_BYTES: Final = 64 * 1024


class ShareGptImporter:
    """Reads conversations in the form of ShareGPT."""

    name = "sharegpt"
    title = "conversations of from and value, as ShareGPT has them"
    names_users = False

    def recognises(self, head: bytes) -> bool:
        """Whether ``head`` is the start of JSON with conversations of from and value."""
        return (
            head.lstrip()[:1] in (b"[", b"{")
            and _MESSAGES.search(head) is not None
            and _MESSAGE.search(head) is not None
        )

    def parts(self, stream: BinaryIO, *, now: datetime) -> Iterator[Part]:
        """Yield every conversation; one that cannot be read costs none of the others."""
        del now  # the form knows no times
        head = stream.read(_HEAD_BYTES)
        whole = io.BufferedReader(Rejoined(head, stream))
        # The name of the list of conversations is also that of each one's list of messages.
        wrappers = [name for name in WRAPPERS if name != "conversations" or not _BARE.match(head)]
        for document in documents(whole, noun="conversation", wrappers=wrappers):
            yield document if isinstance(document, Unreadable) else _read(document)


def _read(document: Document) -> Part:
    body, place = document.value, document.place
    if not isinstance(body, dict):
        return Unreadable(place=place, reason="is not a JSON object")
    entries = body.get("conversations")
    if not isinstance(entries, list):
        return Unreadable(place=place, reason="has no list of messages")
    messages = [
        _message_of(entry, f"{place}, message {number}")
        for number, entry in enumerate(entries, start=1)
        if isinstance(entry, dict)
    ]
    conversation_id = _id_of(body.get("id"), messages)
    turns = TurnBuilder(prefix=f"sharegpt:{conversation_id}", undated=True)
    turns.leave_out(LeftOut.NOT_A_MESSAGE, len(entries) - len(messages))
    for message in messages:
        turns.take(message)
    return Conversation(
        conversation_id=conversation_id,
        title=None,
        place=place,
        turns=turns.turns(),
        left_out=dict(turns.left_out),
        notes=dict(turns.notes),
    )


def _id_of(told: object, messages: list[Message]) -> str:
    """Return the id of a conversation; without one it follows from all that was said in it."""
    if isinstance(told, str) and told.strip():
        return told
    if isinstance(told, int) and not isinstance(told, bool):
        return str(told)
    return digest_of(*(message.text for message in messages)).hex()


def _message_of(entry: Mapping[str, Any], place: str) -> Message:
    sender = entry.get("from")
    sender = sender.casefold() if isinstance(sender, str) else ""
    said = entry.get("value")
    return Message(
        role=_ROLES.get(sender),
        text=said if isinstance(said, str) else "",
        place=place,
        reason=_REASONS.get(sender),
        parts_left_out=0 if isinstance(said, str | None) else 1,
    )
