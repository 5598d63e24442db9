"""The numbers that a text holds, for telling whether two texts speak of the same ones."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

_SMALL: Final = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_WORDS: Final = {word: str(number) for number, word in enumerate(_SMALL.split(), start=2)} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "once": "1",
    "twice": "2",
}
"""English words for numbers. "One" is left out: it is a pronoun more often than a number."""

_FIGURE: Final = re.compile(r"\d+(?:[.,:/-]\d+)*")
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_WORD: Final = re.compile(r"[^\W\d_]+")


def figures(text: str) -> frozenset[str]:
    """Return the numbers of a text in one spelling: digits, and English words for small ones.

    ``1,000`` and ``1000`` are the same; dates and times stay whole, so that no part of one counts
    as a number that the other holds.
    """
    normal = unicodedata.normalize("NFKC", text).casefold()
    written = (_spelled(found.group()) for found in _FIGURE.finditer(normal))
    words = (_WORDS[word] for word in _WORD.findall(normal) if word in _WORDS)
    return frozenset((*written, *words))


def figure_of(word: str) -> str:
    """Return the digits that an English word stands for; any other word as it is.

    Args:
        word: a word in lower case.
    """
    return _WORDS.get(word, word)


def _spelled(figure: str) -> str:
    if _THOUSANDS.fullmatch(figure):
        figure = figure.replace(",", "")
    # Digits of any script are told by their values.
    return "".join(
        character if (value := unicodedata.decimal(character, None)) is None else str(value)
        for character in figure
    )
