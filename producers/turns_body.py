"""Reading the turns of a request's body, a step at a time so that a long list delays nobody."""

from __future__ import annotations

import json
import re
from typing import Final

from producers.steps import Steps
from producers.turns_input import TURNS_MAX
from schemas.errors import InputTooLarge, InvalidInput
from schemas.json_text import DECODER, decode_text, require_names_once, shown_name, utf8_text

_BLANK: Final = r"[ \t\n\r]*"
_LIST_START: Final = re.compile(rf'{_BLANK}\{{{_BLANK}"turns"{_BLANK}:{_BLANK}\[{_BLANK}')
_SEPARATOR: Final = re.compile(rf"{_BLANK},{_BLANK}")
_LIST_END: Final = re.compile(rf"{_BLANK}\]{_BLANK}\}}{_BLANK}")


async def read_items(body: bytes | bytearray) -> tuple[list[object], bool]:
    """Return what stands for turns in a body, and whether it came as a list.

    Raises:
        InvalidInput: it is not JSON in UTF-8, or neither the object of a turn nor a list of turns.
        InputTooLarge: there are more than ``TURNS_MAX``.
    """
    text = utf8_text(body)
    items = await _items_of_list(text)
    return _items_of(decode_text(text)) if items is None else (items, True)


async def _items_of_list(text: str) -> list[object] | None:
    """Return the items of ``{"turns": [...]}``, ``None`` where a text is anything else."""
    start = _LIST_START.match(text)
    if start is None:
        return None
    place = start.end()
    items: list[object] = []
    steps = Steps()
    while True:
        try:
            item, place = DECODER.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError):
            return None  # the decoder of whole texts tells what is wrong
        items.append(item)
        _require_few(items)
        await steps.give_way()
        separator = _SEPARATOR.match(text, place)
        if separator is None:
            return items if _LIST_END.fullmatch(text, place) else None
        place = separator.end()


def _items_of(body: object) -> tuple[list[object], bool]:
    if not isinstance(body, dict):
        raise InvalidInput(
            field="body",
            problem="is not a JSON object",
            remedy='send the object of one turn, or {"turns": [...]}',
        )
    if "turns" not in body:
        return [body], False
    require_names_once(body)
    unknown = sorted(body.keys() - {"turns"})
    if unknown:
        raise InvalidInput(
            field=shown_name(unknown[0]),
            problem="is not a known field next to turns",
            remedy="send the fields of a turn inside its object in turns",
        )
    items = body["turns"]
    if not isinstance(items, list) or not items:
        raise InvalidInput(
            field="turns",
            problem="is not a list with something in it",
            remedy=f"send a list of 1 to {TURNS_MAX} turns",
        )
    _require_few(items)
    return items, True


def _require_few(items: list[object]) -> None:
    if len(items) > TURNS_MAX:
        raise InputTooLarge(
            field="turns",
            problem=f"holds more than {TURNS_MAX} turns",
            remedy="send them in several requests",
        )
