"""What one message of a ChatGPT export says, or why it is left out."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Final

from producers.importers.chatgpt_tree import JsonObject

_TEXT_TYPES: Final = ("text", "multimodal_text")
_TO_EVERYONE: Final = "all"


class LeftOut(StrEnum):
    """Why something of a conversation is not imported."""

    HIDDEN = "hidden message"
    SYSTEM = "system message"
    TOOL = "tool message"
    TO_TOOL = "assistant message to a tool"
    UNKNOWN_ROLE = "message of an unknown role"
    OTHER_BRANCH = "message on another branch"
    NOT_TEXT = "part that is not text"
    NO_TEXT = "message without text"
    NO_QUESTION = "assistant message without a user message in front"
    NO_TIME = "message without any time"


class Role(StrEnum):
    """Whose words are imported."""

    USER = "user"
    ASSISTANT = "assistant"


def role_of(message: JsonObject) -> str | None:
    """Return the role of a message's author, or ``None`` where it has none."""
    role = _object(message.get("author")).get("role")
    return role if isinstance(role, str) else None


def why_left_out(message: JsonObject) -> LeftOut | None:
    """Return why a message is left out whatever it says, or ``None``."""
    role = role_of(message)
    if role == "system":
        return LeftOut.SYSTEM
    if role == "tool":
        return LeftOut.TOOL
    if role not in (Role.USER, Role.ASSISTANT):
        return LeftOut.UNKNOWN_ROLE
    metadata = _object(message.get("metadata"))
    if metadata.get("is_visually_hidden_from_conversation") or message.get("weight") == 0:
        return LeftOut.HIDDEN
    if role == Role.ASSISTANT and message.get("recipient", _TO_EVERYONE) not in (
        _TO_EVERYONE,
        None,
    ):
        return LeftOut.TO_TOOL
    return None


def text_of(message: JsonObject, left_out: Counter[str]) -> str:
    """Return the text of a message, without its other parts, which are counted in ``left_out``."""
    content = _object(message.get("content"))
    parts = content.get("parts")
    if content.get("content_type") not in _TEXT_TYPES or not isinstance(parts, list):
        if content:
            left_out[LeftOut.NOT_TEXT] += 1
        return ""
    texts: list[str] = []
    for part in parts:
        said = _spoken(part) if isinstance(part, dict) else part
        if isinstance(said, str):
            texts.append(said)
        else:
            left_out[LeftOut.NOT_TEXT] += 1
    return "\n".join(said for said in texts if said)


def _spoken(part: JsonObject) -> object:
    """Return the words of a part that was dictated: they are the speaker's own."""
    return part.get("text") if part.get("content_type") == "audio_transcription" else None


def _object(value: object) -> JsonObject:
    return value if isinstance(value, dict) else {}
