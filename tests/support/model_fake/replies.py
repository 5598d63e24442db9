"""What a fake provider answers, well or badly, in words of neither interface."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any, Literal

ReplyStop = Literal["done", "cut_off", "refused"]

INPUT_TOKENS = 700
OUTPUT_TOKENS = 50
CACHED_TOKENS = 600


@dataclass(frozen=True, kw_only=True)
class Reply:
    """One answer.

    Attributes:
        text: the model's words.
        stop: why it stops.
        status: the HTTP status; any but 200 gives an error of that status.
        headers: further headers.
        delay_s: how long it takes.
        drip_s: the pause behind each byte of the body.
        sent: which part of the body is sent before the connection breaks.
        code: the provider's name of the error.
        body: sent instead of an answer of the interface.
    """

    text: str = ""
    stop: ReplyStop = "done"
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay_s: float = 0.0
    drip_s: float = 0.0
    sent: float = 1.0
    code: str = "an_error"
    body: str | None = None


def item(content: str, *, quote: str | None = None, **changed: Any) -> dict[str, Any]:
    """Return one item of an answer, a fact of the user's unless it is told otherwise."""
    return {
        "action": "add",
        "ref": "",
        "kind": "semantic",
        "slot": "note",
        "about": "user",
        "content": content,
        "importance": 3,
        "confidence": "stated",
        "said_by": "user",
        "quote": content if quote is None else quote,
        "valid_from": "",
        "expires": "",
        **changed,
    }


def said(*items: Any) -> Reply:
    """Answer with these items, as the schema asks."""
    return Reply(text=json.dumps({"operations": list(items)}))


def nothing() -> Reply:
    """Answer that there is nothing to remember."""
    return said()


def malformed() -> Reply:
    """Answer with JSON that ends in the middle, though the model says that it was done."""
    return Reply(text='{"operations": [{"action": "add", "content": "Lives in')


def prose_around(reply: Reply) -> Reply:
    """Answer with words and a fence around the JSON."""
    return replace(reply, text=f"Here you are:\n```json\n{reply.text}\n```\nAnything else?")


def cut_off(*items: Any) -> Reply:
    """Answer with these items and the beginning of one that reaches the limit of tokens."""
    whole = json.dumps({"operations": [*items, item("a statement that is cut off")]})
    return Reply(text=whole[: whole.rindex("cut off")], stop="cut_off")


def refused(text: str = "I can't help with that.") -> Reply:
    """Refuse to answer."""
    return Reply(text=text, stop="refused")


def schema_invalid() -> Reply:
    """Answer with JSON that has not what an answer must have."""
    return Reply(text=json.dumps({"memories": ["Lives in Pune"]}))


def slowly(reply: Reply, seconds: float) -> Reply:
    """Take so long."""
    return replace(reply, delay_s=seconds)


def dripping(reply: Reply, drip_s: float) -> Reply:
    """Send the body byte by byte, each soon enough for a client that waits for each."""
    return replace(reply, drip_s=drip_s)


def half_sent(reply: Reply) -> Reply:
    """Break the connection off in the middle of the body."""
    return replace(reply, sent=0.5)


def status(code: int, headers: dict[str, str] | None = None, *, name: str = "an_error") -> Reply:
    """Answer with an HTTP status."""
    return Reply(status=code, headers=headers or {}, code=name)
