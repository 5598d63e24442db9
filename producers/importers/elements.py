"""Cutting large JSON into its elements without reading the whole of it.

Each element is handed out as the bytes it was written in, to be decoded alone. So one element that
is not valid JSON, holds half a character or is nested without end costs itself and not the rest,
which no parser that reads the array as one document can promise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

ELEMENT_BYTES_MAX: Final = 32 * 1024 * 1024
"""The largest element that is held in memory; far above the longest conversation of an export."""

_CHUNK_BYTES: Final = 256 * 1024
# Everything up to the next structural character, strings that end in what is held included; with
# or without commas among the characters at which to stop.
_PASSED: Final = re.compile(rb'(?:[^"{}\[\],]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_PASSED_WITH_COMMAS: Final = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
# Possessive, so that a text of many escapes is passed over without anything to come back to.
_STRING_REST: Final = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_KEY_IN_FRONT: Final = re.compile(rb'"([^"\\]{1,64})"\s*:\s*\Z')
_KEY_BYTES_MAX: Final = 128
_BLANKS: Final = re.compile(rb"\s*+")
_DEPTH_OF_WRAPPED: Final = 2
_ENDS_EARLY: Final = "the file ends in the middle"
_OPENING: Final = b"{["
_CLOSING: Final = b"}]"


@dataclass(frozen=True, kw_only=True, slots=True)
class Element:
    """One element of the array.

    Attributes:
        number: its place, from 1.
        raw: its bytes; empty where ``problem`` says why not.
        problem: why it cannot be had, or ``None``.
    """

    number: int
    raw: bytes = b""
    problem: str | None = None


class _Scanner:
    """Walks over JSON and stops at every structural character outside of strings.

    Attributes:
        text: what is held of the file.
        at: the index in ``text`` behind the last stop.
        bytes_max: the largest element that is held.
        oversized: whether something was dropped since ``keep_from`` was last called.
    """

    def __init__(self, stream: BinaryIO, bytes_max: int) -> None:
        self._stream = stream
        self.bytes_max = bytes_max
        self._in_string = False
        self.text = bytearray()
        self.at = 0
        self.oversized = False

    def keep_from(self, index: int) -> None:
        """Drop what lies in front of ``index``."""
        del self.text[:index]
        self.at -= index
        self.oversized = False

    def next_stop(self, *, commas: bool = True) -> int | None:
        """Return the next structural character, or ``None`` at the end of the file.

        Args:
            commas: whether a comma is one.
        """
        passed = _PASSED if commas else _PASSED_WITH_COMMAS
        while True:
            if self._in_string and not self._leave_string():
                return None
            found = passed.match(self.text, self.at)
            self.at = self.at if found is None else found.end()
            if self.at == len(self.text):
                if not self.read_on():
                    return None
                continue
            stop = self.text[self.at]
            self.at += 1
            if stop != ord('"'):
                return stop
            # A string that goes on beyond what is held.
            self._in_string = True

    def _leave_string(self) -> bool:
        """Pass over the rest of a string; return whether it ended before the file did."""
        while True:
            passed = _STRING_REST.match(self.text, self.at)
            self.at = self.at if passed is None else passed.end()
            if self.text[self.at : self.at + 1] == b'"':
                self.at += 1
                self._in_string = False
                return True
            # At the end of what is held, or in front of half an escape.
            if not self.read_on():
                return False

    def read_on(self) -> bool:
        """Read a further part of the file; return whether there was one."""
        chunk = self._stream.read(_CHUNK_BYTES)
        if not chunk:
            return False
        if len(self.text) > self.bytes_max:
            # All that was passed is dropped but for what may be the name of an array; half an
            # escape in front is not passed yet.
            dropped = max(0, self.at - _KEY_BYTES_MAX)
            del self.text[:dropped]
            self.at -= dropped
            self.oversized = True
        self.text += chunk
        return True


def split_array(
    stream: BinaryIO, *, wrappers: Collection[str], bytes_max: int = ELEMENT_BYTES_MAX
) -> Iterator[Element]:
    """Yield the elements of the array that a JSON file is, or of the arrays that it wraps.

    A file that is one object without such an array, or with empty ones beside other lists and
    objects, counts as the only element, and of objects one behind the other each is an element.

    Args:
        stream: the file, behind its byte order mark.
        wrappers: the names under which a top-level object may hold the array.
        bytes_max: the largest element that is held in memory.
    """
    scanner = _Scanner(stream, bytes_max)
    number = 1
    depth = 0
    empty_arrays = 0
    while (stop := scanner.next_stop()) is not None:
        if stop in _OPENING:
            depth += 1
            if number > 1 or not _is_the_array(scanner, stop, depth, wrappers):
                continue
            if depth == 1:
                yield from _only_array(scanner)
                return
            if not _closes_at_once(scanner):
                yield from _wrapped_arrays(scanner, wrappers)
                return
            empty_arrays += 1
        elif stop in _CLOSING:
            depth -= 1
            if depth <= 0:
                if not _is_empty_list(scanner, empty_arrays):
                    yield _element(scanner, number=number, end=scanner.at)
                    number += 1
                depth = empty_arrays = 0
                scanner.keep_from(scanner.at)
                if not _goes_on(scanner):
                    return
    problem = _ENDS_EARLY if depth else "is not JSON"
    yield Element(number=number, problem=problem)


def _is_the_array(scanner: _Scanner, stop: int, depth: int, wrappers: Collection[str]) -> bool:
    """Return whether what was just passed opens an array of the elements."""
    if stop != ord("["):
        return False
    return depth == 1 or (depth == _DEPTH_OF_WRAPPED and _wrapped(scanner, wrappers))


def _only_array(scanner: _Scanner) -> Iterator[Element]:
    """Yield the elements of an array that is all that the file should hold."""
    number = yield from _elements(scanner, 1)
    if number is not None:
        yield from _trailing(scanner, number=number)


def _wrapped_arrays(scanner: _Scanner, wrappers: Collection[str]) -> Iterator[Element]:
    """Yield the elements of every array under a wrapper's name in one object.

    Args:
        scanner: stands behind the bracket of the first of them.
        wrappers: the names.
    """
    number = yield from _elements(scanner, 1)
    depth = 1
    while number is not None and depth:
        stop = scanner.next_stop(commas=False)
        if stop is None:
            yield Element(number=number, problem=_ENDS_EARLY)
            return
        depth += 1 if stop in _OPENING else -1
        if stop in _OPENING and _is_the_array(scanner, stop, depth, wrappers):
            number = yield from _elements(scanner, number)
            depth -= 1
    if number is not None:
        yield from _trailing(scanner, number=number)


def _elements(scanner: _Scanner, number: int) -> Generator[Element, None, int | None]:
    """Yield the elements of the array whose bracket the scanner has just passed.

    Args:
        scanner: stands behind the bracket.
        number: that of the first element.

    Returns:
        The number of the element that would be next; ``None`` where the file ends before the array.
    """
    depth = 0
    is_first = True
    scanner.keep_from(scanner.at)
    while (stop := scanner.next_stop(commas=depth == 0)) is not None:
        if stop in _OPENING:
            depth += 1
            continue
        if stop in _CLOSING:
            depth -= 1
        if depth < 0 or (depth == 0 and stop == ord(",")):
            element = _element(scanner, number=number, end=scanner.at - 1)
            empty = depth < 0 and is_first and not element.raw and element.problem is None
            if not empty:
                yield element
                number += 1
            if depth < 0:
                return number
            is_first = False
            scanner.keep_from(scanner.at)
    yield Element(number=number, problem="the file ends in the middle of it")
    return None


def _closes_at_once(scanner: _Scanner) -> bool:
    """Return whether the array whose bracket the scanner has just passed is empty."""
    while (at := _BLANKS.match(scanner.text, scanner.at)) is not None:
        scanner.at = at.end()
        if scanner.at < len(scanner.text) or not scanner.read_on():
            break
    return scanner.text[scanner.at : scanner.at + 1] == b"]"


def _is_empty_list(scanner: _Scanner, empty_arrays: int) -> bool:
    """Return whether the object that was just passed holds empty arrays of elements alone."""
    return (
        empty_arrays > 0
        and not scanner.oversized
        and scanner.text.count(b"{", 0, scanner.at) == 1
        and scanner.text.count(b"[", 0, scanner.at) == empty_arrays
    )


def _element(scanner: _Scanner, *, number: int, end: int) -> Element:
    if scanner.oversized:
        return Element(number=number, problem=f"is longer than {scanner.bytes_max:,} bytes")
    return Element(number=number, raw=bytes(scanner.text[:end]).strip())


def _trailing(scanner: _Scanner, *, number: int) -> Iterator[Element]:
    """Tell where the file goes on behind what it should hold."""
    scanner.keep_from(scanner.at)
    if _goes_on(scanner):
        yield Element(number=number, problem="stands behind the end of the list and is left out")


def _goes_on(scanner: _Scanner) -> bool:
    """Return whether anything but white space follows; what is held begins where it may."""
    while not scanner.text.strip():
        scanner.keep_from(len(scanner.text))
        if not scanner.read_on():
            return False
    return True


def _wrapped(scanner: _Scanner, wrappers: Collection[str]) -> bool:
    bracket = scanner.at - 1
    key = _KEY_IN_FRONT.search(scanner.text[max(0, bracket - _KEY_BYTES_MAX) : bracket])
    return key is not None and key[1].decode(errors="replace") in wrappers
