"""A text as blocks of notes are looked for in it, with the way back to where everything stands.

What a client changes on the way is undone for the search: letter case and width, characters that
nobody sees, brackets and line breaks that are spelt out.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from typing import Final

UNSEEN: Final = re.compile(
    "[\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""What a reader does not see: default ignorable code points of Unicode, and combining strokes."""

DASHES: Final = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"))
_ANGLES: Final = str.maketrans(
    {
        **dict.fromkeys("\u2039\u2329\u27e8\u3008\u300a", "<"),
        **dict.fromkeys("\u203a\u232a\u27e9\u3009\u300b", ">"),
    }
)
_BREAKS: Final = str.maketrans(dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"))
"""What ends a line, as ``str.splitlines`` has it."""

_SPELT: Final = re.compile(
    r"&(?:amp;)*(?:(?P<lt>lt|#0{0,5}60|#x0{0,5}3c)|gt|#0{0,5}62|#x0{0,5}3e);"
    r"|%3(?:(?P<lt_url>c)|e)|\\{1,4}u003(?:(?P<lt_json>c)|e)|\\{1,4}(?P<line>n|r)|[^\x00-\x7f]",
    re.IGNORECASE,
)


class View:
    """A text as the block is looked for in it, with the way back to where it stands.

    Args:
        text: the text.

    Attributes:
        folded: the text in lower case, without unseen characters, brackets and newlines as such.
    """

    def __init__(self, text: str) -> None:
        pieces: list[str] = []
        # From each of these places of the view on, it stands at that place of the text.
        self._places: list[int] = []
        self._texts: list[tuple[int, bool]] = []
        self._length = len(text)
        at = length = 0
        for found in _SPELT.finditer(text):
            if found.start() > at:
                self._add(length, at, whole=False)
                pieces.append(_lowered(text[at : found.start()]))
                length += len(pieces[-1])
            piece = _meant(found)
            if piece:
                self._add(length, found.start(), whole=True)
                pieces.append(piece)
                length += len(piece)
            at = found.end()
        if at < len(text):
            self._add(length, at, whole=False)
            pieces.append(_lowered(text[at:]))
        self._raw = text
        self.folded = "".join(pieces)

    def _add(self, place: int, text_place: int, *, whole: bool) -> None:
        self._places.append(place)
        self._texts.append((text_place, whole))

    def first(self, place: int) -> int:
        """Return where in the text the character at a place of the view begins."""
        index = bisect_right(self._places, place) - 1
        if index < 0:
            return 0
        start, whole = self._texts[index]
        return start if whole else min(self._length, start + place - self._places[index])

    def last(self, place: int) -> int:
        """Return where in the text the character before a place of the view ends."""
        if place == 0:
            return 0
        index = bisect_right(self._places, place - 1) - 1
        start, whole = self._texts[index]
        if not whole:
            return start + place - self._places[index]
        spelt = _SPELT.match(self._raw, start)
        return spelt.end() if spelt is not None else start + 1

    def spelling(self, place: int) -> str:
        """Return how the bracket at a place of the view was written.

        Whoever escapes a text escapes what was escaped in it once more, so the two brackets that
        recall wrote are spelt alike, and those in a note are not: empty for the bracket itself,
        else the sort of escape and how often it was escaped, or the character that looks like one.
        """
        start = self.first(place)
        first = self._raw[start]
        spelt = _SPELT.match(self._raw, start)
        if spelt is None or first == "<":
            return ""
        if first == "&":
            return "&" + "amp;" * spelt[0].lower().count("amp;")
        return "\\" * spelt[0].count("\\") or first


def _lowered(stretch: str) -> str:
    return stretch.replace("\r\n", " \n").translate(_BREAKS).lower()


def _meant(found: re.Match[str]) -> str:
    """Return what a spelt-out bracket or newline, or a character beyond ASCII, stands for."""
    spelt = found[0]
    if found["line"]:
        return "\n" if found["line"].lower() == "n" else " "
    if spelt.isascii():
        return "<" if found["lt"] or found["lt_url"] or found["lt_json"] else ">"
    plain = spelt.translate(_BREAKS)
    if plain == "\n" or UNSEEN.match(spelt) is not None:
        return plain if plain == "\n" else ""
    folded = unicodedata.normalize("NFKC", spelt).casefold()
    return folded.translate(DASHES).translate(_ANGLES)
