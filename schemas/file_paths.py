"""Where a file of a user's may lie: every path is untrusted, and inside ``/memories`` or refused.

A path is a name in a table and never one of a disk, so there is nothing to escape to. It is
checked all the same as if there were: what is listed is shown to people and programs, exported, and
may be written out by somebody to a disk. A check is made where a command comes in and again
where it is applied, since not every record need come in by our own door.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from schemas.errors import CommandRefused, InvalidInput
from schemas.text import normal_form

ROOT: Final = "/memories"
"""The directory that holds everything; it is always there."""

PATH_CHARACTERS_MAX: Final = 512
"""Of four bytes each they fit into an entry of a Postgres index, which takes 2,704."""

SEGMENT_CHARACTERS_MAX: Final = 255
"""The longest name that common file systems take."""

_ESCAPE: Final = re.compile(r"%(?:[0-9a-f]{2}|u[0-9a-f]{4})", re.IGNORECASE)
_SEPARATORS: Final = "./\\%"
_UNSEEN: Final = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp", "Zs")
"""Not what is unassigned: that depends on the release of Unicode, and the same log on none."""
_UNSEEN_THOUGH_LETTERS: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0))))
)
"""Default ignorable code points (Unicode's DerivedCoreProperties) that are letters or marks."""

_REMEDY: Final = f"use a plain path inside {ROOT}, such as {ROOT}/notes.md"


def checked_path(path: str) -> str:
    """Return a path in its one form: without empty or ``.`` segments and without a slash behind.

    Args:
        path: what somebody sent.

    Raises:
        CommandRefused: it does not lie inside ``/memories``, or is spelt so that another reader
            could take it for a path that does not. The message repeats nothing of it.
    """
    if len(path) > PATH_CHARACTERS_MAX:
        raise _refused(f"has {len(path)} characters, and the limit is {PATH_CHARACTERS_MAX}")
    normal = _in_normal_form(path)
    _require_plain(normal)
    root, *below = normal.removeprefix("/").split("/")
    if not normal.startswith("/") or f"/{root}" != ROOT:
        raise _refused(f"does not begin with {ROOT} as a directory of its own")
    segments = [segment for segment in below if segment not in ("", ".")]
    for segment in segments:
        if len(segment) > SEGMENT_CHARACTERS_MAX:
            raise _refused(f"holds a name of more than {SEGMENT_CHARACTERS_MAX} characters")
        if segment != segment.strip():
            raise _refused("holds a name that begins or ends with a blank")
    return "/".join((ROOT, *segments))


def parents(path: str) -> list[str]:
    """Return the directories above a checked path, from the root down, the root itself left out."""
    segments = path.removeprefix(ROOT).split("/")[1:-1]
    return ["/".join((ROOT, *segments[:depth])) for depth in range(1, len(segments) + 1)]


def lies_below(path: str, directory: str) -> bool:
    """Tell whether a checked path lies below a checked directory."""
    return path.startswith(f"{directory}/")


def _in_normal_form(path: str) -> str:
    try:
        return normal_form("path", path)
    except InvalidInput as error:
        raise _refused(error.problem) from None


def _require_plain(path: str) -> None:
    for character in path:
        unseen = unicodedata.category(character) in _UNSEEN and character != " "
        if unseen or character in _UNSEEN_THOUGH_LETTERS:
            raise _refused(f"holds U+{ord(character):04X}, which nobody sees")
    if "\\" in path:
        raise _refused("holds a backslash")
    if _ESCAPE.search(path):
        raise _refused("holds a percent escape")
    if ".." in path:
        raise _refused('holds ".."')
    # A full-width stop or slash is another character here, and a plain one to who folds widths.
    folded = unicodedata.normalize("NFKC", path)
    if any(folded.count(sign) > path.count(sign) for sign in _SEPARATORS):
        raise _refused("holds a character that reads as a dot, a slash or a percent sign")


def _refused(problem: str) -> CommandRefused:
    return CommandRefused(f"Error: The path {problem}: {_REMEDY}.")
