"""What of a turn's text are the user's own words: not recalled, pasted or quoted from others."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from processors.pasted import without_pasted, without_quotations
from schemas.injection import cut_injection

_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
"""The line that opens or closes a fenced block, as CommonMark defines it."""


def own_words(text: str) -> str:
    """Return what of ``text`` the user wrote.

    Our block of notes is not, nor are fenced blocks, lines that begin with ``>``, pasted e-mails
    and chats, and what others are quoted at length to have said. A fence that is never closed
    reaches to the end of the text, as a pasted e-mail does. The lines that are left stay as they
    are, but for a quotation, of which the marks stay; so words found in them are found in ``text``.
    """
    cut = cut_injection(text)
    if "```" in cut or "~~~" in cut or ">" in cut:
        cut = "".join(_own_lines(cut))
    return without_quotations(without_pasted(cut))


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
