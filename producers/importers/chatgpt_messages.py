"""What one message of a ChatGPT export says, or why it is left out."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from producers.importers.chatgpt_tree import JsonObject
from producers.importers.left_out import LeftOut
from producers.importers.moments import moment_of
from producers.importers.turn_builder import Message, Role

_TEXT_TYPES: Final = ("text", "multimodal_text")
_PROFILE_TYPES: Final = ("user_editable_context", "model_editable_context")
_ROLES: Final = {"user": Role.USER, "assistant": Role.ASSISTANT}
_OTHER_ROLES: Final = {"system": LeftOut.SYSTEM, "tool": LeftOut.TOOL}
_TO_EVERYONE: Final = (None, "all")


def message_of(message: JsonObject, node_id: str, place: str, *, now: datetime) -> Message:
    """Return what a message says.

    Args:
        message: the message of a node.
        node_id: the node's id, which serves where the message has none.
        place: where the conversation stands.
        now: the current time, aware.
    """
    told = _object(message.get("author")).get("role")
    role = told if isinstance(told, str) else ""
    reason = _why_left_out(message, role)
    message_id = message.get("id")
    name = message_id if isinstance(message_id, str) and message_id else node_id
    said, parts_left_out = ("", 0) if reason is not None else _text_of(message)
    return Message(
        role=_ROLES.get(role),
        text=said,
        moment=moment_of(message.get("create_time"), now=now),
        name=name,
        place=f"{place}, message {name}",
        reason=reason,
        parts_left_out=parts_left_out,
    )


def _why_left_out(message: JsonObject, role: str) -> LeftOut | None:
    """Return why a message is left out whatever it says, or ``None``."""
    if role not in _ROLES:
        return _OTHER_ROLES.get(role, LeftOut.UNKNOWN_ROLE)
    metadata = _object(message.get("metadata"))
    kind = _object(message.get("content")).get("content_type")
    # What the user wrote once in the settings stands, copied, in front of every conversation.
    if kind in _PROFILE_TYPES or metadata.get("is_user_system_message"):
        return LeftOut.PROFILE
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        return LeftOut.HIDDEN
    if role == "assistant" and message.get("recipient") not in _TO_EVERYONE:
        return LeftOut.TO_TOOL
    return None


def _text_of(message: JsonObject) -> tuple[str, int]:
    """Return the text of a message, and how many of its parts are none."""
    content = _object(message.get("content"))
    parts = content.get("parts")
    if content.get("content_type") not in _TEXT_TYPES or not isinstance(parts, list):
        return "", 1 if content else 0
    said = [_spoken(part) if isinstance(part, dict) else part for part in parts]
    texts = [text for text in said if isinstance(text, str)]
    return "\n".join(text for text in texts if text), len(said) - len(texts)


def _spoken(part: JsonObject) -> object:
    """Return the words of a part that was dictated: they are the speaker's own."""
    return part.get("text") if part.get("content_type") == "audio_transcription" else None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
