"""Text without case, accents and apostrophes, for word lists of many languages.

Other folds differ for a reason: the gate's keeps apostrophes, which its patterns read; those of
statements' keys and of searched words are stored, so neither may follow a change of this one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_ACCENTS: Final = re.compile("[\u0300-\u036f]")
"""Marks over Latin, Greek and Cyrillic letters, which people leave out when they type. Those of
other scripts are vowels and stay."""

_WHOLE_LETTERS: Final = str.maketrans(
    {"\u0131": "i", "\u0111": "d", "\u0142": "l", "\u00f8": "o", "\u00e6": "ae", "\u0153": "oe"}
)
"""Letters that Unicode does not take apart and that keyboards without them spell like this."""

_APOSTROPHES: Final = re.compile("['\u2018\u2019\u02bc\u00b4`]")


def without_accents(text: str) -> str:
    """Return ``text`` in small letters, without accents and apostrophes: ``Don't`` as ``dont``."""
    bare = _APOSTROPHES.sub("", text)
    if bare.isascii():
        return bare.casefold()
    apart = unicodedata.normalize("NFKD", bare).casefold()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", apart)).translate(_WHOLE_LETTERS)
