"""The exact words of a turn that a model meant by its quote."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Final

_ALIKE: Final = (
    "'\u2018\u2019\u201a\u201b\u2032\u00b4`",
    '"\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb',
    "-\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
)
"""Marks that models exchange when they quote."""

_CLASSES: Final = {mark: f"[{re.escape(marks)}]" for marks in _ALIKE for mark in marks}

TAGS: Final = re.compile("[\U000e0000-\U000e007f]")
"""Characters that nobody sees and a model may read: a prompt holds none of them."""

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
