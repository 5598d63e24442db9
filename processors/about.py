"""One spelling for whom a statement is about, so that one person is not two."""

from __future__ import annotations

import unicodedata
from typing import Final

from schemas.memory import ABOUT_USER

_USER: Final = frozenset({ABOUT_USER, "the user", "i", "me", "myself", "self"})


def canonical_about(about: str) -> str:
    """Return ``about`` in Unicode normal form C, lower case, with single blanks between words.

    The ways in which a model speaks of the user become ``"user"``.
    """
    if about == ABOUT_USER:
        return about
    spelling = " ".join(unicodedata.normalize("NFC", about.casefold()).split())
    return ABOUT_USER if spelling in _USER else spelling
