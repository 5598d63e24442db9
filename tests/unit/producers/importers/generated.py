"""Exports of every format, valid in structure and hostile in content, and what is in them.

Every message whose text is a text carries a mark of its own, so that a test can follow it.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from producers.importers.chatgpt import ChatGptImporter
from producers.importers.claude import ClaudeImporter
from producers.importers.jsonlines import JsonLinesImporter
from producers.importers.librechat import LibreChatImporter
from producers.importers.openassistant import OpenAssistantImporter
from producers.importers.records import Importer
from producers.importers.sharegpt import ShareGptImporter
from producers.importers.tables import TableImporter

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MARK = re.compile("\u27e6([0-9]+)\u27e7")

texts = st.text(st.characters(), max_size=8)
odd_values: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(),
    texts,
    st.lists(st.none() | texts, max_size=2),
    st.dictionaries(texts, st.none() | st.integers(), max_size=2),
)
TIMES_END = 1_700_000_000
seconds = st.integers(1_000_000_000, TIMES_END - 1)


@dataclass
class Generated:
    """An export.

    Attributes:
        importer: reads it.
        raw: the file.
        entries: how many messages, or things in their place, each element of the file has.
        times: when each marked message was said, where it tells a time that can be used.
    """

    importer: Importer
    raw: bytes
    entries: list[int] = field(default_factory=list)
    times: dict[int, datetime] = field(default_factory=dict)


class Marks:
    """Hands out marks, and remembers times."""

    def __init__(self) -> None:
        self.times: dict[int, datetime] = {}
        self._next = 0

    def said(self, text: str, moment: object) -> str:
        """Return a text with a mark of its own."""
        mark = self._next
        self._next += 1
        if isinstance(moment, int) and 0 < moment < TIMES_END:
            self.times[mark] = EPOCH + timedelta(seconds=moment)
        return f"{text}\u27e6{mark}\u27e7"


def marks_in(*said: str | None) -> list[int]:
    """Return the marks in some texts."""
    return [int(found) for text in said for found in MARK.findall(text or "")]


@st.composite
def mostly(draw: st.DrawFn, usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> Any:
    """Draw what is usual, and something odd now and then."""
    return draw(odd if draw(st.integers(0, 9)) == 9 else usual)


@st.composite
def messages(draw: st.DrawFn, roles: Sequence[str]) -> dict[str, Any]:
    """A message as no format has it: a role, a text, a time, and what ties it to others."""
    odd_role = st.sampled_from(["system", "strange"]) | odd_values
    odd_time = st.sampled_from([None, 0, -1, 10**30])
    return {
        "role": draw(mostly(st.sampled_from(roles), odd_role)),
        "text": draw(texts),
        "odd_text": draw(mostly(st.just(...), odd_values)),
        "time": draw(mostly(seconds, odd_time)),
        "parent": draw(st.integers(0, 30)),
    }


def conversations(*roles: str) -> st.SearchStrategy[list[list[Any]]]:
    """Conversations of messages, with something else here and there where one should be."""
    entry = mostly(messages(roles), odd_values)
    return st.lists(st.lists(entry, max_size=7), min_size=1, max_size=4)


def is_message(entry: object) -> bool:
    """Whether an entry was drawn as a message."""
    return isinstance(entry, dict) and "odd_text" in entry


def iso(moment: object) -> object:
    """Return a time as a text, where it is one."""
    if isinstance(moment, int) and 0 < moment < TIMES_END:
        return (EPOCH + timedelta(seconds=moment)).isoformat()
    return moment


def text_of(entry: Mapping[str, Any], marks: Marks) -> Any:
    """Return a marked text, or what stands in its place."""
    if entry["odd_text"] is not ... and not isinstance(entry["odd_text"], str):
        return entry["odd_text"]
    return marks.said(entry["text"], entry["time"])


def array(elements: Sequence[object]) -> bytes:
    """Return a JSON array, in which half characters are escaped."""
    return json.dumps(elements).encode()


@st.composite
def chatgpt(draw: st.DrawFn) -> Generated:
    """Conversations as trees: each message is below one in front of it."""
    marks, elements, counts = Marks(), [], []
    for number, entries in enumerate(draw(conversations("user", "assistant"))):
        mapping: dict[str, Any] = {"r": {"id": "r", "message": None, "parent": None}}
        count = 0
        for index, entry in enumerate(entries):
            parent = "r" if index == 0 else f"n{index - 1 - (draw(st.integers(0, 3)) // 3)}"
            held: Any = entry
            if is_message(entry):
                held = {
                    "id": f"n{index}",
                    "author": {"role": entry["role"]},
                    "create_time": entry["time"],
                    "content": {"content_type": "text", "parts": [text_of(entry, marks)]},
                }
            count += held is not None
            name = parent if parent in mapping else "r"
            mapping[f"n{index}"] = {"id": f"n{index}", "parent": name, "message": held}
        elements.append({"conversation_id": f"c{number}", "mapping": mapping, "create_time": 5e8})
        counts.append(count)
    return Generated(ChatGptImporter(), array(elements), counts, marks.times)


@st.composite
def claude(draw: st.DrawFn) -> Generated:
    """Conversations as lists, some of whose messages name the one before them."""
    marks, elements, counts = Marks(), [], []
    shape = st.sampled_from(["blocks", "text", "string", "odd"])
    for number, entries in enumerate(draw(conversations("human", "assistant"))):
        held: list[Any] = []
        for index, entry in enumerate(entries):
            if not is_message(entry):
                held.append(entry)
                continue
            message = {
                "uuid": f"m{index}",
                "sender": entry["role"],
                "created_at": iso(entry["time"]),
            }
            if entry["parent"] < 10:
                message["parent_message_uuid"] = f"m{entry['parent']}"
            said, form = text_of(entry, marks), draw(shape)
            if form == "blocks":
                message |= {"text": "", "content": [None, {"type": "text", "text": said}]}
            elif form == "odd":
                message |= {"text": said, "content": draw(odd_values.filter(_says_nothing))}
            else:
                # A list of texts would be words too, and unmarked ones.
                beside = form == "text" or isinstance(said, list)
                message["text" if beside else "content"] = said
            held.append(message)
        elements.append({"uuid": f"c{number}", "chat_messages": held})
        counts.append(len(held))
    return Generated(ClaudeImporter(), array(elements), counts, marks.times)


def _says_nothing(value: object) -> bool:
    said = value if isinstance(value, list) else [value]
    return not any(isinstance(part, str) and part.strip() for part in said)


@st.composite
def librechat(draw: st.DrawFn) -> Generated:
    """Conversations as lists, or as trees in which each message holds the ones behind it."""
    marks, elements, counts = Marks(), [], []
    for number, entries in enumerate(draw(conversations("user", "assistant"))):
        held: list[Any] = []
        nested: list[Any] = held
        is_tree = draw(st.booleans())
        for index, entry in enumerate(entries):
            if not is_message(entry):
                nested.append(entry)
                continue
            message = {
                "messageId": f"m{index}",
                "isCreatedByUser": {"user": True, "assistant": False}.get(str(entry["role"])),
                "sender": entry["role"],
                "createdAt": iso(entry["time"]),
                "text": text_of(entry, marks),
            }
            nested.append(message)
            if is_tree:
                message["children"] = nested = []
            elif entry["parent"] < 10:
                message["parentMessageId"] = f"m{entry['parent']}"
        elements.append({"conversationId": f"c{number}", "messages": held})
        counts.append(len(entries))
    return Generated(LibreChatImporter(), array(elements), counts, marks.times)


@st.composite
def sharegpt(draw: st.DrawFn) -> Generated:
    """Conversations without times, and here and there without an id."""
    marks, elements, counts = Marks(), [], []
    for entries in draw(conversations("human", "gpt")):
        held = [
            {"from": entry["role"], "value": text_of({**entry, "time": None}, marks)}
            if is_message(entry)
            else entry
            for entry in entries
        ]
        elements.append({"id": draw(odd_values), "conversations": held})
        counts.append(len(held))
    return Generated(ShareGptImporter(), array(elements), counts, marks.times)


@st.composite
def openassistant(draw: st.DrawFn) -> Generated:
    """Trees of messages, each below one in front of it."""
    marks, elements, counts = Marks(), [], []
    for number, entries in enumerate(draw(conversations("prompter", "assistant"))):
        prompt = {"message_id": f"t{number}", "role": "prompter", "text": marks.said("", None)}
        nodes: list[dict[str, Any]] = [prompt]
        count = 1
        for index, entry in enumerate(entries):
            below = nodes[-1 - draw(st.integers(0, len(nodes) - 1)) // 2]
            count += 1
            if not is_message(entry):
                below.setdefault("replies", []).append(entry)
                # What looks like a message is one without a text.
                continue
            node = {
                "message_id": f"t{number}-{index}",
                "role": entry["role"],
                "created_date": iso(entry["time"]),
                "text": text_of(entry, marks),
                "rank": draw(odd_values),
                "deleted": draw(st.sampled_from([None, False, True])),
            }
            below.setdefault("replies", []).append(node)
            nodes.append(node)
        elements.append({"message_tree_id": f"t{number}", "prompt": nodes[0]})
        counts.append(count)
    return Generated(OpenAssistantImporter(), array(elements), counts, marks.times)


@st.composite
def openassistant_flat(draw: st.DrawFn) -> Generated:
    """The messages of trees, one a line, the parents anywhere."""
    marks, lines = Marks(), []
    for number, entries in enumerate(draw(conversations("prompter", "assistant"))):
        lines += [
            {
                "message_id": f"t{number}-{index}",
                "parent_id": draw(st.sampled_from([None, f"t{number}-{entry['parent'] % 7}"])),
                "message_tree_id": f"t{number}",
                "role": entry["role"],
                "created_date": iso(entry["time"]),
                "text": text_of(entry, marks),
            }
            for index, entry in enumerate(entries)
            if is_message(entry)
        ]
    lines.append({"message_id": "last", "role": "prompter", "text": marks.said("", None)})
    raw = b"\n".join(json.dumps(line).encode() for line in lines)
    return Generated(OpenAssistantImporter(), raw, [1] * len(lines), marks.times)


@st.composite
def jsonlines(draw: st.DrawFn, *, owned: bool = False) -> Generated:
    """Lines with fields of any kind, and lines that are anything else.

    Args:
        draw: hypothesis' own.
        owned: whether no line names a user.
    """
    marks, lines = Marks(), []
    # The first line is an object: one that is a list makes the file an array.
    first = draw(messages(("user",)))
    for entry in [first, *draw(st.lists(mostly(messages(("user",)), odd_values), max_size=6))]:
        if not is_message(entry):
            lines.append(json.dumps(entry))
            continue
        line = {
            "conversation_id": draw(mostly(st.just("c"), odd_values)),
            "user_id": draw(st.none() if owned else mostly(st.just("u"), texts | st.none())),
            "user_text": text_of(entry, marks),
        }
        if entry["time"] is not None:
            line["occurred_at"] = entry["time"]
        lines.append(json.dumps(line))
    raw = "\n".join(lines).encode()
    return Generated(JsonLinesImporter(), raw, [1] * len(lines), marks.times)


@st.composite
def tables(draw: st.DrawFn, *, owned: bool = False) -> Generated:
    """Rows whose texts hold separators, quotes and line ends.

    Args:
        draw: hypothesis' own.
        owned: whether no row names a user.
    """
    marks = Marks()
    delimiter = draw(st.sampled_from(",;\t"))
    written = io.StringIO(newline="")
    table = csv.writer(written, delimiter=delimiter)
    table.writerow(["user_text", "conversation_id", "user_id", "occurred_at"])
    hostile = st.text(st.sampled_from(' a,;\t"\n\r\u00e9\x00'), max_size=8)
    cells = st.sampled_from(["c", "c", "", " "])
    rows = draw(st.lists(st.tuples(hostile, cells, cells, seconds), min_size=1, max_size=6))
    for said, conversation, user, moment in rows:
        named = "" if owned else user
        table.writerow([marks.said(said, moment), conversation, named, moment])
    return Generated(TableImporter(), written.getvalue().encode(), [1] * len(rows), marks.times)


FORMATS: Mapping[str, Callable[[], st.SearchStrategy[Generated]]] = {
    "chatgpt": chatgpt,
    "claude": claude,
    "librechat": librechat,
    "sharegpt": sharegpt,
    "openassistant": openassistant,
    "openassistant-flat": openassistant_flat,
    "jsonlines": jsonlines,
    "csv": tables,
}
