"""Letters of other scripts that look like Latin ones, for the rules that look for secrets.

Only what is compared is folded, never what is stored. A word of one script is left alone: it is a
word of its language. The pairs are those of Cyrillic and Greek letters that most typefaces draw
like a Latin one.
"""

from __future__ import annotations

import re
from typing import Final

_LOOKALIKES: Final = str.maketrans(
    # Cyrillic, small and capital.
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u04cf\u043a"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0406\u0408\u0405\u0417\u04ae"
    # Greek, small and capital.
    "\u03b1\u03bf\u03c1\u03c5\u03bd\u03b9\u03ba\u03c4\u03c7"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7",
    "aeopcyxijshdqwlkABEKMHOPCTYXIJS3YaopuviktxABEZHIKMNOPTYX",
)
_WORD: Final = re.compile(r"[^\W_]+(?:[@$][^\W_]+)*")
_LATIN: Final = re.compile(r"[A-Za-z]")
_OTHER: Final = re.compile("[\u0370-\u052f]")


def latin_lookalikes_folded(text: str) -> str:
    """Return ``text`` with lookalikes as Latin letters in the words that mix scripts."""
    if _OTHER.search(text) is None:
        return text
    return _WORD.sub(_folded, text)


def _folded(word: re.Match[str]) -> str:
    written = word[0]
    mixed = _LATIN.search(written) is not None and _OTHER.search(written) is not None
    return written.translate(_LOOKALIKES) if mixed else written
