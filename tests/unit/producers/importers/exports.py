"""ChatGPT exports in small: a conversation is a list of messages, linked one after the other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from producers.importers.chatgpt import ChatGptImporter
from producers.importers.records import Conversation, Part
from tests.unit.producers.fakes import NOW

TIME = 1_700_000_000.0


def message(role: str, said: object, **fields: Any) -> dict[str, Any]:
    """A message; ``said`` is its text, or its parts where it is a list."""
    parts = said if isinstance(said, list) else [said]
    kind = "text" if all(isinstance(part, str) for part in parts) else "multimodal_text"
    return {
        "author": {"role": role},
        "content": {"content_type": kind, "parts": parts},
        "create_time": TIME,
        "recipient": "all",
        "weight": 1.0,
        "metadata": {},
        **fields,
    }


def chain(messages: Sequence[Any], prefix: str = "m") -> dict[str, Any]:
    """The mapping of a root without a message and one node below the other."""
    names = ["root", *(f"{prefix}{number}" for number in range(len(messages)))]
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    for parent, name, held in zip(names, names[1:], messages, strict=False):
        nodes[name] = {
            "id": name,
            "parent": parent,
            "message": {"id": name, **held} if isinstance(held, dict) else held,
        }
    for name, node in nodes.items():
        node["children"] = [other for other, its in nodes.items() if its["parent"] == name]
    return nodes


def conversation(*messages: Any, **fields: Any) -> dict[str, Any]:
    """A conversation with one branch."""
    return {
        "title": "A title",
        "create_time": TIME - 100,
        "mapping": chain(messages),
        "current_node": f"m{len(messages) - 1}" if messages else "root",
        "conversation_id": "c1",
        **fields,
    }


def parts_of(export: object) -> list[Part]:
    """What the importer makes of an export, given as bytes or as what is to be JSON."""
    raw = export if isinstance(export, bytes) else json.dumps(export).encode()
    return list(ChatGptImporter().parts(BytesIO(raw), now=NOW))


def only(export: object) -> Conversation:
    """The only conversation of an export."""
    (part,) = parts_of(export)
    assert isinstance(part, Conversation), part
    return part


def said_in(part: Conversation) -> list[tuple[str, str | None]]:
    """The texts of a conversation's turns."""
    return [(turn.user_text, turn.assistant_text) for turn in part.turns]
