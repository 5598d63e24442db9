"""What of an extractor's answer can be kept.

The log is UTF-8, Postgres takes no NUL, and a proposal and its outcome are one record each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from schemas.ports import Extraction
from schemas.proposals import InvalidItem, Operation

_TEXTS: Final = ("content", "about", "quote")

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")

OPERATIONS_MAX: Final = 200
"""The most operations of one answer; deciding compares each with those before it."""

OPERATIONS_BYTES_MAX: Final = 5 * 512 * 1024
"""The most UTF-8 bytes of all texts of the kept operations: a turn at its limit fits as content and
as quote, and the record stays below what a topic takes."""


TEXT_CHARACTERS_MAX: Final = 20_000
"""Most characters of a text that stands by itself: far more than the gate lets pass."""


def storable(extraction: Extraction) -> Extraction:
    """Return what can be kept of an answer.

    An operation that cannot be kept becomes an invalid item; the others stay, with a blank in the
    place of each control character of their contents, but for tabs and line ends, and but for
    contents that are their own quote. Those beyond
    ``OPERATIONS_MAX`` become one item, which tells how many they were.
    """
    operations: list[Operation] = []
    invalid = list(map(_writable, extraction.invalid))
    room = OPERATIONS_BYTES_MAX
    placed = _placed(extraction.operations, extraction.invalid)
    for seen, (position, operation) in enumerate(placed):
        if len(operations) == OPERATIONS_MAX:
            left = len(extraction.operations) - seen
            problem = f"{left} operations are beyond the limit of {OPERATIONS_MAX} in one answer"
            invalid.append(InvalidItem(position=position, problem=problem))
            break
        unkept = _problem(operation)
        size = 0 if unkept else sum(len(getattr(operation, name).encode()) for name in _TEXTS)
        if unkept is None and size > room:
            unkept = f"its texts take {size} bytes, {room} are left of {OPERATIONS_BYTES_MAX}"
        if unkept is None:
            operations.append(_readable(operation))
            room -= size
        else:
            invalid.append(InvalidItem(position=position, problem=unkept))
    if operations == list(extraction.operations) and invalid == list(extraction.invalid):
        return extraction
    invalid.sort(key=lambda item: item.position)
    return replace(extraction, operations=tuple(operations), invalid=tuple(invalid))


def readable(text: str) -> str:
    """Return a text as the log and Postgres can keep it: without controls and half characters.

    What is beyond ``TEXT_CHARACTERS_MAX`` is cut off.
    """
    whole = text[:TEXT_CHARACTERS_MAX].encode(errors="replace").decode()
    return _CONTROL.sub(" ", whole)


def _placed(
    operations: Sequence[Operation], invalid: Sequence[InvalidItem]
) -> Iterator[tuple[int, Operation]]:
    """Yield each operation with its place in the answer, of which the invalid items hold theirs."""
    taken = {item.position for item in invalid}
    free = (place for place in count() if place not in taken)
    return zip(free, operations, strict=False)


def _problem(operation: Operation) -> str | None:
    for name in _TEXTS:
        text: str = getattr(operation, name)
        if "\0" in text:
            return f"{name} holds a NUL character"
        if not _encodable(text):
            return f"{name} holds a lone surrogate (half a character)"
    return None


def _readable(operation: Operation) -> Operation:
    content = _CONTROL.sub(" ", operation.content)
    if operation.content in {content, operation.quote}:
        return operation
    return operation.model_copy(update={"content": content})


def _writable(item: InvalidItem) -> InvalidItem:
    if _encodable(item.problem):
        return item
    readable = item.problem.encode(errors="backslashreplace").decode()
    return item.model_copy(update={"problem": readable})


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
