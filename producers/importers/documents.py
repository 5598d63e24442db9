"""The JSON documents of a file: an array, a wrapped array, one object, or an object a line."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Final

from producers.importers.elements import ELEMENT_BYTES_MAX, split_array
from producers.importers.records import Unreadable
from schemas.errors import InvalidInput
from schemas.json_text import DECODER, RepeatedNames, decode_text, shown_name, utf8_text

if TYPE_CHECKING:
    from typing_extensions import Buffer

WRAPPERS: Final = ("conversations", "data", "items")
"""The names under which an object may hold the array of conversations."""

_HEAD_BYTES: Final = 256 * 1024
_LINES_LOOKED_AT: Final = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One JSON value of a file.

    Attributes:
        place: where in the file it stands, for people, such as ``line 17``.
        value: what it says.
    """

    place: str
    value: object


class Rejoined(io.RawIOBase):
    """What was read of a stream already, and the rest of it."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        super().__init__()
        self._head = memoryview(head)
        self._stream = stream

    def readable(self) -> bool:
        """Return that it can be read."""
        return True

    def readinto(self, buffer: Buffer) -> int:
        """Fill a buffer as far as there is something; return how far, 0 at the end."""
        view = memoryview(buffer)
        chunk = self._head[: len(view)] if self._head else self._stream.read(len(view))
        self._head = self._head[len(chunk) :]
        view[: len(chunk)] = chunk
        return len(chunk)


def documents(
    stream: BinaryIO,
    *,
    noun: str,
    wrappers: Collection[str] = WRAPPERS,
    line_bytes_max: int = ELEMENT_BYTES_MAX,
    lines_expected: bool = False,
    names_checked: bool = True,
) -> Iterator[Document | Unreadable]:
    """Yield the JSON values of a file, each decoded alone: a bad one costs none of the others.

    Args:
        stream: the file in UTF-8, behind its byte order mark.
        noun: what an element of an array is called, for people.
        wrappers: the names under which a top-level object may hold the array.
        line_bytes_max: the longest line, where it is JSON lines.
        lines_expected: whether it is JSON lines unless it begins with an array, however its first
            lines look.
        names_checked: whether a value in which an object has a name twice is unreadable, as nobody
            knows what it says; otherwise it is for the caller to look.
    """
    head = stream.read(_HEAD_BYTES)
    whole = io.BufferedReader(Rejoined(head, stream), _HEAD_BYTES)
    if is_lines(head) or (lines_expected and not head.lstrip().startswith(b"[")):
        places = _lines(whole, line_bytes_max)
    else:
        places = _elements(whole, noun, wrappers)
    for place, raw in places:
        yield raw if isinstance(raw, Unreadable) else _decoded(raw, place, names_checked)


def _elements(
    stream: BinaryIO, noun: str, wrappers: Collection[str]
) -> Iterator[tuple[str, bytes | Unreadable]]:
    for element in split_array(stream, wrappers=wrappers):
        place = f"{noun} {element.number}"
        if element.problem is not None:
            yield place, Unreadable(place=place, reason=element.problem)
        else:
            yield place, element.raw


def is_lines(head: bytes) -> bool:
    """Return whether a file that begins with ``head`` is JSON lines.

    Its first line is an object, or its first lines each begin one, and one of them is one: an
    object that is written over several lines has a first line that is none. A file of a single
    line is no matter.
    """
    lines = [line for line in head.splitlines() if line.strip()]
    if len(lines) < 2:  # noqa: PLR2004 - of a single line
        return False
    first = lines[:_LINES_LOOKED_AT]
    return _is_object(first[0]) or (
        all(line.lstrip().startswith(b"{") for line in first)
        and any(_is_object(line) for line in first)
    )


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(stream: BinaryIO, bytes_max: int) -> Iterator[tuple[str, bytes | Unreadable]]:
    number = 0
    while line := stream.readline(bytes_max + 1):
        number += 1
        place = f"line {number}"
        if len(line) > bytes_max:
            while line and not line.endswith(b"\n"):
                line = stream.readline(bytes_max)
            yield place, Unreadable(place=place, reason=f"is longer than {bytes_max:,} bytes")
        elif line.strip():
            yield place, line


class _NameWatch:
    """Makes objects, and remembers a name that stood in one more than once."""

    def __init__(self) -> None:
        self.repeated: str | None = None
        self.decoder = json.JSONDecoder(object_pairs_hook=self._object, parse_int=DECODER.parse_int)

    def _object(self, pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            self.repeated = RepeatedNames(pairs).repeated
        return found


def _decoded(raw: bytes, place: str, names_checked: bool) -> Document | Unreadable:  # noqa: FBT001 - private
    watch = _NameWatch()
    try:
        value = decode_text(utf8_text(raw), decoder=watch.decoder if names_checked else DECODER)
    except InvalidInput as error:
        # The line is counted within the value, and would contradict that of the file.
        return Unreadable(place=place, reason=error.problem.replace(" at line 1, ", " at "))
    if watch.repeated is not None:
        return Unreadable(
            place=place, reason=f"holds the name {shown_name(watch.repeated)} twice in one object"
        )
    return Document(place=place, value=value)
