"""Finding the JSON of an answer: also in fences, among prose, and in front of a cut."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

_OBJECT_BEGINS: Final = re.compile(r'\{\s*"')
_STARTS_MAX: Final = 50
"""Most places of an answer at which an object is looked for."""

_DECODER: Final = json.JSONDecoder(strict=False)


class NotJson(ValueError):
    """No object can be read in an answer, or several of which none is the answer."""


class NotTheSchema(ValueError):
    """An answer is JSON, and lacks what it must hold as a whole."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lists:
    """The lists of an answer.

    Attributes:
        items: by the list's name, what it holds, whatever that is.
    """

    items: dict[str, list[Any]]


def lists_in(text: str, names: Sequence[str]) -> Lists:
    """Return the lists of an answer.

    Args:
        text: what the model wrote.
        names: the lists that an answer must hold.

    Raises:
        NotJson: it holds no JSON object, or several different ones that would all do.
        NotTheSchema: it holds one that lacks a list.
    """
    whole = _decoded(text.strip())
    found = [whole] if isinstance(whole, dict) else _objects_among(text, names)
    if not found:
        raise NotJson("it holds no JSON object")
    fitting = [value for value in found if _holds(value, names)]
    if not fitting:
        raise NotTheSchema(f"it has not the lists {', '.join(names)}")
    if any(value != fitting[0] for value in fitting):
        # Which of them is meant is not for us to guess.
        raise NotJson(f"it holds {len(fitting)} different answers")
    return Lists(items={name: fitting[0][name] for name in names})


def items_before_cut(text: str, name: str) -> list[Any]:
    """Return the items of a list that stand complete in front of where an answer was cut off."""
    begun = re.search(rf'"{re.escape(name)}"\s*:\s*\[', text)
    items: list[Any] = []
    place = len(text) if begun is None else begun.end()
    while place < len(text):
        place = _past(text, place, " \t\r\n,")
        try:
            item, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            break
        if not isinstance(item, dict):
            break
        items.append(item)
    return items


def _past(text: str, place: int, characters: str) -> int:
    while place < len(text) and text[place] in characters:
        place += 1
    return place


def _decoded(text: str) -> object:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def _objects_among(text: str, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the outermost objects among prose, in order.

    Raises:
        NotJson: one that begins as an answer does cannot be read: an example in front of it must
            not be taken for it.
    """
    found: list[dict[str, Any]] = []
    place = 0
    for _ in range(_STARTS_MAX):
        begins = _OBJECT_BEGINS.search(text, place)
        if begins is None:
            break
        try:
            value, place = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            if text.startswith(tuple(f'{name}"' for name in names), begins.end()):
                raise NotJson("its object cannot be read to the end") from None
            place = begins.end()
            continue
        found.append(value)
    return found


def _holds(value: dict[str, Any], names: Sequence[str]) -> bool:
    return all(isinstance(value.get(name), list) for name in names)
