"""What of a turn's text are the user's own words: not recalled, pasted or quoted from others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from schemas.injection import cut_injection

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
"""The line that opens or closes a fenced block, as CommonMark defines it."""


def own_words(text: str) -> str:
    """Return ``text`` without our block of notes, fenced blocks and lines that begin with ``>``.

    A fence that is never closed reaches to the end of the text. The lines that are left stay as
    they are, so that words found in them are found in ``text``.
    """
    cut = cut_injection(text)
    if "```" not in cut and "~~~" not in cut and ">" not in cut:
        return cut
    return "".join(_own_lines(cut))


def _own_lines(text: str) -> Iterator[str]:
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if fence:
            if mark is not None and _closes(mark[1], fence, line[mark.end() :]):
                fence = ""
        elif mark is not None:
            fence = mark[1]
        elif not line.lstrip().startswith(">"):
            yield line


def _closes(mark: str, fence: str, rest: str) -> bool:
    return mark[0] == fence[0] and len(mark) >= len(fence) and not rest.strip()
