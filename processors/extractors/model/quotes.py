"""The exact words of a turn that a model meant by its quote."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

from processors.marks import ALIKE, TAGS

_CLASSES: Final = {
    mark: f"[{re.escape(plain + typographic)}]"
    for plain, typographic in ALIKE.items()
    for mark in plain + typographic
}

_CHARACTERS_MAX: Final = 20_000


def exact_words(quote: str, text: str) -> str:
    """Return the words of ``text`` that ``quote`` repeats, or ``quote`` as it is.

    Models change white space and the shape of marks, and repeat what was escaped for them; the
    words that they meant are looked for. Whether what is returned is evidence is decided
    elsewhere: words that are not in the text stay as the model wrote them.
    """
    for spelled in dict.fromkeys((quote, quote.strip(), html.unescape(quote.strip()))):
        if not spelled or spelled in text:
            return spelled
    spelled = unicodedata.normalize("NFC", html.unescape(quote.strip()))
    if not spelled or len(spelled) > _CHARACTERS_MAX:
        return quote
    between, gap = ("", r"\s+")
    if TAGS.search(text) is not None:
        between, gap = (f"{TAGS.pattern}*", rf"[\s{TAGS.pattern.strip('[]')}]+")
    words = (between.join(map(_pattern, word)) for word in spelled.split())
    found = re.search(gap.join(words), text)
    return quote if found is None else found[0]


def _pattern(mark: str) -> str:
    return _CLASSES.get(mark, re.escape(mark))
