"""Exports that nobody of this project wrote: what is read of them equals a count of their own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from producers.importers.destinations import Ledger
from producers.importers.left_out import LeftOut
from producers.importers.run import import_file
from tests.unit.producers.fakes import NOW, InMemoryAppender

EXPORTS = Path(__file__).parents[5] / "shared" / "data" / "exports"
BESIDE_MESSAGES = {LeftOut.NOT_TEXT, LeftOut.ATTACHMENT}

Counts = tuple[list[str], int]
"""What the users said, in order, on the branches that count; and how many messages there are."""


def chatgpt(export: Any) -> Counts:
    said, total = [], 0
    for chat in export if isinstance(export, list) else [export]:
        total += sum(1 for node in chat["mapping"].values() if node["message"])
        branch, name = [], chat["current_node"]
        while name:
            branch.append(chat["mapping"][name])
            name = branch[-1].get("parent")
        for node in reversed(branch):
            message = node["message"] or {"author": {"role": ""}}
            if message["author"]["role"] == "user":
                parts = message["content"].get("parts", [])
                words = "\n".join(part for part in parts if isinstance(part, str))
                said += [words] if words.strip() else []
    return said, total


def claude(export: Any) -> Counts:
    said, total = [], 0
    for chat in export if isinstance(export, list) else [export]:
        for message in chat.get("chat_messages", []):
            total += 1
            content = message["content"]
            if message["sender"] == "human":
                said.append(content if isinstance(content, str) else content[0]["text"])
    return said, total


def librechat(export: Any) -> Counts:
    def below(messages: list[Any]) -> Iterator[Any]:
        for message in messages:
            yield message
            yield from below(message["children"])

    everything = list(below(export["messages"]))
    said, level = [], export["messages"]
    while level:
        said += [level[-1]["text"]] if level[-1]["isCreatedByUser"] else []
        level = level[-1]["children"]
    return said, len(everything)


def sharegpt(export: Any) -> Counts:
    messages = [message for chat in export for message in chat["conversations"]]
    return [one["value"] for one in messages if one["from"] == "human"], len(messages)


FILES: Mapping[str, tuple[str, Callable[[Any], Counts]]] = {
    "chatgpt-export.json": ("chatgpt", chatgpt),
    "chatgpt-tree.json": ("chatgpt", chatgpt),
    "chatgpt-images-and-tools.json": ("chatgpt", chatgpt),
    "claude-bakery.json": ("claude", claude),
    "claude-multiple-errors.json": ("claude", claude),
    "librechat-tree-with-bom.json": ("librechat", librechat),
    "sharegpt-500.json": ("sharegpt", sharegpt),
}


def test_every_export_at_hand_is_imported() -> None:
    if not EXPORTS.is_dir():
        pytest.skip(f"{EXPORTS} is not beside this checkout")
    assert {path.name for path in EXPORTS.iterdir()} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_an_export_is_counted_right_and_adds_nothing_twice(name: str) -> None:
    path = EXPORTS / name
    if not path.exists():
        pytest.skip(f"{name} is not beside this checkout")
    format_name, count = FILES[name]
    said, total = count(json.loads(path.read_text("utf-8-sig")))
    appender = InMemoryAppender()

    def imported() -> Any:
        return asyncio.run(
            import_file(
                Ledger(appender, appender), tenant="acme", user="u", path=path, clock=lambda: NOW
            )
        )

    report = imported()
    assert report.format == format_name
    assert [turn.user_text for _, turn, _ in appender.appended] == said
    assert report.totals.accepted == len(said)
    assert report.totals.refused == 0
    # Whatever is no message of a turn is counted: the users' messages, their answers, the rest.
    answers = sum(1 for _, turn, _ in appender.appended if turn.assistant_text)
    left_out = sum(
        number for why, number in report.totals.left_out.items() if why not in BESIDE_MESSAGES
    )
    assert len(said) + answers + left_out <= total
    if name != "chatgpt-images-and-tools.json":  # where one answer is of several messages
        assert len(said) + answers + left_out == total
    again = imported()
    assert (again.totals.accepted, again.totals.already_there) == (0, len(said))
