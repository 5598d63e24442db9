"""What providers refuse the requests of a chat app for.

Anthropic's rules for system messages between others are those of its documentation ("Mid-
conversation system messages") and of ``BetaSystemMessageParam`` in its SDK: such a message stands
right behind one of the user, and an answer or nothing follows it; one that is cleared is text
alone, carries no breakpoint, and needs the beta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

Interface = Literal["anthropic", "openai"]

CLEAR_AT_BETA = "mid-conversation-system-clear-at-2026-08-21"

_KEYS = {"role", "content"}
_OF_TOOLS = {"assistant": {"tool_calls"}, "tool": {"tool_call_id"}}


def chat_problems(
    interface: Interface, headers: Mapping[str, str], body: Mapping[str, Any]
) -> list[str]:
    """Return what a provider would refuse a chat app's request for."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return ["no messages"]
    found = [
        f"an unknown key {key!r} in a message of {message['role']}"
        for message in messages
        for key in set(message) - _allowed(interface, message)
    ]
    found += [
        "an empty message" for message in messages if not str(message.get("content", "")).strip()
    ]
    if interface == "anthropic":
        found += _misplaced(messages)
        cleared = [message for message in messages if message.get("clear_at") is not None]
        if cleared and CLEAR_AT_BETA not in headers.get("anthropic-beta", "").split(","):
            found.append("clear_at without its beta")
        found += ["a cleared message of blocks" for one in cleared if not _is_text(one)]
    return found


def _allowed(interface: Interface, message: Mapping[str, Any]) -> set[str]:
    if interface == "anthropic" and message.get("role") == "system":
        return _KEYS | {"clear_at"}
    if interface == "openai":
        return _KEYS | _OF_TOOLS.get(str(message.get("role")), set())
    return _KEYS


def _is_text(message: Mapping[str, Any]) -> bool:
    return isinstance(message["content"], str)


def _misplaced(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    roles = [message["role"] for message in messages]
    found = ["a system message comes first"] if roles[0] == "system" else []
    for before, role in pairwise(roles):
        if role == "system" and before != "user":
            found.append(f"a system message behind one of {before}")
        if before == "system" and role != "assistant":
            found.append(f"a message of {role} behind one of the system")
    if roles[-1] == "assistant":
        found.append("nothing to answer")
    return found
