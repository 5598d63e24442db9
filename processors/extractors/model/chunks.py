"""Cutting what is too long for one question into a bounded number of pieces, up to its end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

PIECES_MAX: Final = 8
"""Most questions for one turn or one session."""

PIECE_CHARACTERS: Final = 50_000
"""Characters of a piece: all of a turn at its limit of 400,000 lie in eight. Where a session is
longer, its pieces are."""

OVERLAP_CHARACTERS: Final = 300
"""How much of a piece the next one repeats: a statement at a cut is whole in one of both."""

_BORDERS: Final = (
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?\u2026][\"'\u201d\u2019)]*\s+|[\u3002\uff01\uff1f]"),
    re.compile(r"\s+"),
)
"""Where a text may be cut, the best first: paragraphs, lines, sentences, words."""

_SLACK: Final = 0.1
"""The part of a piece, at its end, in which a border is looked for."""


def pieces_of(text: str, *, piece_characters: int = PIECE_CHARACTERS) -> list[str]:
    """Return a text in at most ``PIECES_MAX`` pieces of about equal length.

    Each but the first begins with the end of the one before; together they hold every character.

    Args:
        text: the text.
        piece_characters: the length up to which a text stays whole.
    """
    bounds = list(_bounds(text, _count(len(text), piece_characters)))
    return [_overlapping(text, start, end) for start, end in bounds]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """A part of one of several texts.

    Attributes:
        index: which one.
        text: the part.
    """

    index: int
    text: str


def groups_of(
    texts: Sequence[str],
    beside: Sequence[int],
    *,
    piece_characters: int = PIECE_CHARACTERS,
) -> list[list[Part]]:
    """Return texts, in order, in at most ``PIECES_MAX`` groups of about equal length.

    A text that is longer than a group is cut as :func:`pieces_of` does.

    Args:
        texts: the texts.
        beside: for each, the characters that stand beside it in a question.
        piece_characters: the length up to which all of them stay together.
    """
    total = sum(map(len, texts)) + sum(beside)
    count = _count(total, piece_characters)
    size = max(1, -(-total // count))
    groups: list[list[Part]] = [[]]
    placed = 0
    for index, text in enumerate(texts):
        for start, end in _bounds(text, max(1, -(-len(text) // size))):
            # Reckoned from the beginning, so that what one group has too much the next has less.
            length = end - start + beside[index]
            full = placed + length / 2 > len(groups) * size
            if full and groups[-1] and len(groups) < count:
                groups.append([])
            groups[-1].append(Part(index=index, text=_overlapping(text, start, end)))
            placed += length
    return groups


def _count(characters: int, piece_characters: int) -> int:
    return min(PIECES_MAX, max(1, -(-characters // piece_characters)))


def _overlapping(text: str, start: int, end: int) -> str:
    return text[max(0, start - OVERLAP_CHARACTERS) : end]


def _bounds(text: str, count: int) -> Iterator[tuple[int, int]]:
    start = 0
    for left in range(count, 1, -1):
        end = _border(text, start, start + (len(text) - start) // left)
        yield start, end
        start = end
    yield start, len(text)


def _border(text: str, start: int, end: int) -> int:
    """Return the end of the last border in front of ``end``, or ``end`` itself."""
    earliest = end - int((end - start) * _SLACK)
    for border in _BORDERS:
        ends = [found.end() for found in border.finditer(text, earliest, end)]
        if ends:
            return ends[-1]
    return end
