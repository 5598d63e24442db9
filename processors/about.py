"""One spelling for whom a statement is about, so that one person is not two."""

from __future__ import annotations

import unicodedata
from typing import Final

from schemas.memory import ABOUT_USER

_USER: Final = frozenset({ABOUT_USER, "the user", "i", "me", "myself", "self"})


ABOUT_CHARACTERS_MAX: Final = 200
"""The most characters of ``about`` in its one spelling: the longest names of persons and
organisations that are in use stay far below."""

_UNSEEN_LETTERS: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that show nothing though Unicode counts them as letters, marks or symbols."""


def canonical_about(about: str) -> str:
    """Return ``about`` in Unicode normal form C, lower case, with single blanks between words.

    The ways in which a model speaks of the user become ``"user"``. Characters that show nothing are
    left out, control characters part words: a text of nothing else is empty.
    """
    if about == ABOUT_USER:
        return about
    seen = about if about.isascii() and about.isprintable() else "".join(map(_seen, about))
    spelling = " ".join(unicodedata.normalize("NFC", seen.casefold()).split())
    return ABOUT_USER if spelling in _USER else spelling


def _seen(character: str) -> str:
    kind = unicodedata.category(character)
    if kind == "Cc":
        return " "
    selects = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return "" if kind == "Cf" or selects or character in _UNSEEN_LETTERS else character
