"""What of an extractor's answer can be kept: the log is UTF-8, and Postgres takes no NUL."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from schemas.ports import Extraction
from schemas.records import InvalidItem, Operation

_TEXTS: Final = ("content", "about", "quote")


def storable(extraction: Extraction) -> Extraction:
    """Return an answer whose every text can be kept.

    An operation with a text that cannot be kept becomes an invalid item; the others stay.
    """
    operations, invalid = [], list(map(_writable, extraction.invalid))
    for position, operation in _placed(extraction.operations, extraction.invalid):
        problem = _problem(operation)
        if problem is None:
            operations.append(operation)
        else:
            invalid.append(InvalidItem(position=position, problem=problem))
    if len(operations) == len(extraction.operations) and invalid == list(extraction.invalid):
        return extraction
    invalid.sort(key=lambda item: item.position)
    return replace(extraction, operations=tuple(operations), invalid=tuple(invalid))


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
