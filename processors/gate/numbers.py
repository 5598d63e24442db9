"""Long numbers in a text: their groups, what parts those, and the words around them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

BEFORE: Final = 40
"""How many characters in front of a number may say what it is."""
AFTER: Final = 20
"""How many characters behind it may."""

_PARTING: Final = r"[\s./_,;:|\u00b7\u2022\u30fb*~+=()\[\]'\"\\-]"
_RUN: Final = re.compile(rf"\d(?:{_PARTING}{{0,4}}\d)*")
_CHAIN: Final = re.compile(rf"\d(?:{_PARTING}{{0,4}}\d){{11,}}")
"""Twelve digits and more, with up to four blanks or marks between two of them."""
_GROUP: Final = re.compile(r"\d+")
_EDGE: Final = 12
_LISTING: Final = frozenset(",;|")


@dataclass(frozen=True, kw_only=True, slots=True)
class Number:
    """Groups of digits that follow each other, which may be one number.

    Attributes:
        digits: its digits.
        groups: how many digits stand together.
        uniform: whether the same mark parts all groups, blanks aside.
        listed: whether that mark is one of a list.
        beside: how many digits more stand in front and behind, parted by the same mark.
        glued: whether a letter, or a mark as in a decimal number or a file's name, touches it.
        before: the words in front of it, in lower case.
        after: the words behind it, in lower case.
    """

    digits: str
    groups: tuple[int, ...]
    uniform: bool
    listed: bool
    beside: tuple[int, int]
    glued: bool
    before: str
    after: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Chain:
    text: str
    groups: list[re.Match[str]]

    def mark(self, index: int) -> str:
        """Return what stands between a group and the next one, without blanks."""
        return self.text[self.groups[index].end() : self.groups[index + 1].start()].strip()


def numbers(
    text: str, fits: Callable[[str], bool], shortest: int, longest: int
) -> Iterator[Number]:
    """Yield each run of whole groups of digits whose digits fit.

    Args:
        text: the text.
        fits: what the digits must be.
        shortest: how many digits that takes at least.
        longest: how many at most.
    """
    for found in _CHAIN.finditer(text):
        groups = list(_GROUP.finditer(text, found.start(), found.end()))
        chain = _Chain(text=text, groups=groups)
        written = [group[0] for group in groups]
        for first in range(len(written)):
            digits = ""
            for last in range(first, len(written)):
                digits += written[last]
                if len(digits) > longest:
                    break
                if len(digits) >= shortest and fits(digits):
                    yield _number(chain, first, last, digits)


def digit_runs(text: str) -> Iterator[str]:
    """Yield the digits of each stretch of them, marks and blanks between them left out."""
    for found in _RUN.finditer(text):
        yield "".join(_GROUP.findall(found[0]))


def _number(chain: _Chain, first: int, last: int, digits: str) -> Number:
    text, groups = chain.text, chain.groups
    start, end = groups[first].start(), groups[last].end()
    within = [chain.mark(index) for index in range(first, last)]
    return Number(
        digits=digits,
        groups=tuple(len(group[0]) for group in groups[first : last + 1]),
        uniform=len(set(within)) <= 1,
        listed=not _LISTING.isdisjoint(within),
        beside=(_beside(chain, first, last, -1), _beside(chain, first, last, 1)),
        glued=_TOUCHED_BEFORE.search(text[max(0, start - 2) : start]) is not None
        or _TOUCHED_AFTER.match(text[end : end + 2]) is not None,
        before=text[max(0, start - BEFORE) : start].casefold(),
        after=text[end : end + AFTER].casefold(),
    )


_TOUCHED_BEFORE: Final = re.compile(r"[A-Za-z_+/=]\Z|\+ \Z|[\d\w][.,-]\Z|^[.-]\Z")
_TOUCHED_AFTER: Final = re.compile(r"[A-Za-z_=]|[-/.,][A-Za-z0-9_]")


def _beside(chain: _Chain, first: int, last: int, step: int) -> int:
    """Count the digits that the same mark as within parts from the run, on one side."""
    if first == last:
        return 0
    mark = chain.mark(first)
    index = first - 1 if step < 0 else last
    count = 0
    while 0 <= index < len(chain.groups) - 1 and chain.mark(index) == mark and count <= _EDGE:
        count += len(chain.groups[index if step < 0 else index + 1][0])
        index += step
    return count
