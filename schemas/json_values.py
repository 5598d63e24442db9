"""Counting the values of a JSON text while it arrives, before anything is made of them.

Decoded, a value takes tens of bytes and a name with its value about a hundred, however few
characters spell them: a body that is small enough can still be too much to hold.
"""

from __future__ import annotations

from typing import Final

_STEP: Final = 64 * 1024
"""Bytes looked at in one go: well below a millisecond."""


class ValueCount:
    """Counts brackets, commas and colons outside of strings, each of which begins a value.

    What is no JSON is counted somehow; whether it is any is for the decoder to say.

    Attributes:
        seen: how many there were so far.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._inside = False
        self._escaped = False

    def feed(self, chunk: bytes) -> None:
        """Count on with the next bytes of the text."""
        for start in range(0, len(chunk), _STEP):
            self._feed(chunk[start : start + _STEP])

    def _feed(self, part: bytes) -> None:
        if self._escaped:
            part = part[1:]  # the part before ended with the backslash that escapes it
        # From the left, two backslashes are one escape: a row of them leaves one or none.
        self._escaped = (len(part) - len(part.rstrip(b"\\"))) % 2 == 1
        if b"\\" in part:
            part = part.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = part.split(b'"')
        outside = b"".join(pieces[self._inside :: 2])
        self.seen += sum(outside.count(mark) for mark in (b"[", b"{", b",", b":"))
        self._inside ^= len(pieces) % 2 == 0
