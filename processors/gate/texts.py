"""The texts of an operation that would be kept, and how rules that look for secrets read them."""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import Final

from processors.gate.confusables import latin_lookalikes_folded
from processors.gate.reading import plain
from processors.gate.said import Said
from schemas.memory import ABOUT_USER
from schemas.proposals import Operation

_DRAWN_DIGITS: Final = {
    ord(character): str(unicodedata.digit(character))
    for character in filter(str.isdigit, map(chr, range(0x80, sys.maxunicode + 1)))
    if unicodedata.category(character) == "No"
}
"""Digits in circles and the like, those that have no compatibility form among them."""

_INVISIBLE: Final = re.compile(
    # Marks on a digit or an ASCII letter: strokes, keycaps; then variation selectors and fillers.
    "(?<=[0-9A-Za-z])[\u0300-\u036f\u20d0-\u20ff\ufe00-\ufe0f]+"
    "|[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef]"
)


def kept_texts(operation: Operation, said: Said) -> tuple[str, ...]:
    """Return the different texts that would land in the ledger with an operation.

    Args:
        operation: what was proposed.
        said: what it rests on: where a fact comes from is kept beside it.
    """
    texts = dict.fromkeys((operation.content, operation.quote, operation.about, *said.vouched))
    texts.pop(ABOUT_USER, None)
    return tuple(texts)


def bare(text: str) -> str:
    """Return ``text`` as the rules that look for secrets read it; it is never stored so.

    Beyond :func:`~processors.gate.reading.plain` this takes away the marks and fillers that hide
    between digits, and writes letters of other scripts as the Latin ones that they look like.
    """
    if text.isascii():
        return text
    # Fillers go first: the compatibility form makes of some a letter that is seen.
    text = plain(_INVISIBLE.sub("", text.translate(_DRAWN_DIGITS)))
    return latin_lookalikes_folded(_INVISIBLE.sub("", text))


def has_digit(text: str) -> bool:
    """Tell whether a text holds a digit of any script, however it is drawn."""
    return any(map(str.isdecimal, bare(text)))
