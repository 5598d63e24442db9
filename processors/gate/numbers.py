"""Numbers that identify something: how they are written, and what the words around call them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from processors.gate.reading import plain

_BEFORE: Final = 40
_AFTER: Final = 20
_NUMBER: Final = re.compile(
    r"(?<![A-Za-z0-9_.,+/=-])(?<!\+ )\d(?:[ -]?\d){6,22}(?![A-Za-z0-9_=]|[-/.,][A-Za-z0-9_])"
)
"""Seven to 23 digits with single blanks or hyphens between, not part of a word, of a decimal number
or of an international telephone number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """A number in a text.

    Attributes:
        written: as it stands.
        digits: its digits.
        before: the words in front of it, in lower case.
        after: the words behind it, in lower case.
    """

    written: str
    digits: str
    before: str
    after: str

    @property
    def groups(self) -> list[int]:
        """How many digits stand together."""
        return [len(part) for part in re.split(r"[ -]", self.written)]


def numbers(text: str) -> Iterator[Number]:
    """Yield the long numbers of a text."""
    text = plain(text)
    for found in _NUMBER.finditer(text):
        written = found[0]
        yield Number(
            written=written,
            digits=written.replace(" ", "").replace("-", ""),
            before=text[max(0, found.start() - _BEFORE) : found.start()].casefold(),
            after=text[found.end() : found.end() + _AFTER].casefold(),
        )
