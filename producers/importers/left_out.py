"""Why something of an export is not imported, and what else is worth telling of how it was read."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class LeftOut(StrEnum):
    """Why something of a conversation is not imported; each names one of its kind."""

    HIDDEN = "hidden message"
    PROFILE = "message that holds the user's profile or instructions"
    SYSTEM = "system message"
    TOOL = "tool message"
    TO_TOOL = "assistant message to a tool"
    FAILED = "error message"
    UNKNOWN_ROLE = "message of an unknown role"
    OTHER_BRANCH = "message on another branch"
    NOT_TO_BE_REMEMBERED = "message of a conversation that is not to be remembered"
    DELETED = "deleted message"
    REFUSED_BY_REVIEWERS = "message that its reviewers refused"
    NOT_A_MESSAGE = "entry that is not a message"
    NOT_TEXT = "part that is not text"
    ATTACHMENT = "attachment"
    NO_TEXT = "message without text"
    NO_QUESTION = "assistant message without a user message in front"
    NO_TIME = "message without any time"
    COLUMN = "value of an unknown column"


class Note(StrEnum):
    """How something was read, where that is worth telling."""

    END_MISSING = "current message not told, newest branch read"
    TIME_BEFORE = "time taken from a message before"
    TIME_CONVERSATION = "time taken from the conversation"
    TIME_UNTOLD = "time not told, so it is that of the import"


_PLURALS: Final = {
    "message": "messages",
    "entry": "entries",
    "part": "parts",
    "attachment": "attachments",
    "value": "values",
}
_NOUN: Final = re.compile(rf"\b({'|'.join(_PLURALS)})\b")
_AGREEING: Final = {
    " that is not a message": " that are not messages",
    " that is not": " that are not",
    " that holds": " that hold",
}


def counted(count: int, reason: str) -> str:
    """Return a number and what it counts, as ``4 messages without text``."""
    if count == 1:
        return f"1 {reason}"
    noun = _NOUN.search(reason)
    if noun is None:
        return f"{count:,} {reason}"
    behind = reason[noun.end() :]
    for one, several in _AGREEING.items():
        # Only what follows the noun at once agrees with it.
        if behind.startswith(one):
            behind = several + behind[len(one) :]
            break
    return f"{count:,} {reason[: noun.start()]}{_PLURALS[noun[1]]}{behind}"
