"""Lines of a file, numbered as the memory tool shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

NUMBER_WIDTH: Final = 6
"""How far a line's number is moved to the right: the digits of the most lines there may be."""

_CONTEXT_LINES: Final = 2
"""How many unchanged lines a snippet shows on either side."""


def lines_of(content: str) -> list[str]:
    """Return the lines of a text, without what ends them.

    Only a line feed ends a line, so that numbers mean the same to every reader. One at the end of
    the text begins no further line.
    """
    lines = content.split("\n")
    if lines[-1] == "":
        lines.pop()
    return lines


def line_at(content: str, place: int) -> int:
    """Return the number of the line in which a character stands, counted from 1."""
    return content.count("\n", 0, place) + 1


def numbered(lines: Iterable[str], *, first: int) -> str:
    """Return lines with their numbers in front.

    Args:
        lines: the lines.
        first: the number of the first one.
    """
    return "\n".join(
        f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, start=first)
    )


def snippet(lines: Sequence[str], *, first: int, last: int) -> str:
    """Return the numbered lines around a change.

    Args:
        lines: all lines of the file.
        first: the number of the first line that changed.
        last: that of the last one.
    """
    begin = max(first - _CONTEXT_LINES, 1)
    return numbered(lines[begin - 1 : last + _CONTEXT_LINES], first=begin)
