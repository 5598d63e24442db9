"""The memory tool's ``view``: a directory's listing, or a file with its lines numbered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from projections.files.lines import lines_of, numbered
from projections.files.sizes import size_text
from schemas.errors import CommandRefused
from schemas.file_paths import ROOT, lies_below
from schemas.files import LIMITS, FileLimits

DEPTH_MAX: Final = 2
"""How many levels below a directory its listing shows."""

_LEFT_OUT: Final = "node_modules"

_ENDS: Final = 2
_TO_THE_END: Final = -1


def view_directory(path: str, sizes: Mapping[str, int]) -> str:
    """Return the listing of a directory.

    Args:
        path: the directory, a checked path.
        sizes: of every file of the subject, its path and its size in bytes of UTF-8.

    Raises:
        CommandRefused: no file lies below it, and it is not the root.
    """
    below = {file: size for file, size in sizes.items() if lies_below(file, path)}
    if not below and path != ROOT:
        raise no_such_path(path)
    entries: dict[str, int] = {path: sum(below.values())}
    for file, size in below.items():
        segments = file.removeprefix(f"{path}/").split("/")
        for depth in range(1, min(len(segments), DEPTH_MAX) + 1):
            if any(_is_left_out(segment) for segment in segments[:depth]):
                break
            entry = "/".join((path, *segments[:depth]))
            entries[entry] = entries.get(entry, 0) + size
    # By segments, so that what lies in a directory follows it.
    lines = [f"{size_text(entries[entry])}\t{entry}" for entry in sorted(entries, key=_segments)]
    head = (
        f"Here're the files and directories up to {DEPTH_MAX} levels deep in {path}, excluding "
        "hidden items and node_modules:"
    )
    return "\n".join((head, *lines))


def view_file(
    path: str,
    content: str,
    *,
    view_range: Sequence[int] | None = None,
    limits: FileLimits = LIMITS,
) -> str:
    """Return a file's lines with their numbers.

    Args:
        path: the file, a checked path.
        content: what it holds.
        view_range: the first and the last line to show, counted from 1; -1 is the last one.
        limits: how many lines are shown at all.

    Raises:
        CommandRefused: it has too many lines, or there are no such lines.
    """
    lines = lines_of(content)
    if len(lines) > limits.lines_max:
        raise CommandRefused(
            f"File {path} exceeds maximum line limit of {limits.lines_max:,} lines."
        )
    first, last = 1, len(lines)
    if view_range is not None:
        first, last = _range(view_range, len(lines))
    head = f"Here's the content of {path} with line numbers:"
    shown = lines[first - 1 : last]
    return "\n".join((head, numbered(shown, first=first))) if shown else head


def no_such_path(path: str) -> CommandRefused:
    """Return the refusal to view what is not there."""
    return CommandRefused(f"The path {path} does not exist. Please provide a valid path.")


def _range(view_range: Sequence[int], lines: int) -> tuple[int, int]:
    """Return the first and the last line to show; the last one is none behind the file's end.

    Raises:
        CommandRefused: it is no range, or begins behind the end.
    """
    first, last = view_range if len(view_range) == _ENDS else (0, 0)
    if last == _TO_THE_END:
        last = lines
    # Of an empty file too, everything is a range.
    if (first, lines) != (1, 0) and not 1 <= first <= min(last, lines):
        raise CommandRefused(
            f"Error: Invalid `view_range` parameter: {list(view_range)}. It should be two line "
            f"numbers in order within the range of lines of the file: [1, {lines}], or -1 as the "
            "second one for the end of the file."
        )
    return first, min(last, lines)


def _is_left_out(name: str) -> bool:
    return name.startswith(".") or name == _LEFT_OUT


def _segments(path: str) -> list[str]:
    return path.split("/")
