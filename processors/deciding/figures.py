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

_CURRENCY: Final = r"\u0024\u20a0-\u20cf\u00a2-\u00a5"
_DASH: Final = r"\u002d\u2010-\u2012\u2013\u2212"

_FIGURE: Final = re.compile(
    # A dash behind a word or another number parts two of them; else it is a sign.
    rf"(?P<before>(?:(?:(?<![\w{_DASH}])|(?<=\s))[{_DASH}]\s?|[<>=~+\u00b1\u2248\u2264\u2265]\s?"
    rf"|[{_CURRENCY}]\s?){{0,4}})"
    r"(?P<number>\d+(?:[.,:/-]\d+)*)"
    rf"(?P<behind>\s?[%\u2030\u00b0{_CURRENCY}]|\+)?"
)
_BULLET: Final = re.compile(rf"^[^\S\n]*[{_DASH}+][^\S\n]+", re.MULTILINE)
_THOUSANDS: Final = re.compile(r"\d{1,3}(?:,\d{3})+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_DASHES: Final = re.compile(rf"[{_DASH}]")
_OF_A_CURRENCY: Final = re.compile(rf"[{_CURRENCY}]")


def figures(text: str) -> frozenset[str]:
    """Return the numbers of a text in one spelling: digits, and English words for small ones.

    ``1,000`` and ``1000`` are the same; dates and times stay whole, so that no part of one counts
    as a number that the other holds. Signs, comparisons, per cent and currencies are part of a
    number: ``-18`` is not ``18``, ``<5`` neither ``5`` nor ``>5``, and ``$5`` is ``5 $``.
    """
    normal = _BULLET.sub("", unicodedata.normalize("NFKC", text).casefold())
    written = (_spelled(found) for found in _FIGURE.finditer(normal))
    words = (_WORDS[word] for word in _WORD.findall(normal) if word in _WORDS)
    return frozenset((*written, *words))


def figure_of(word: str) -> str:
    """Return the digits that an English word stands for; any other word as it is.

    Args:
        word: a word in lower case.
    """
    return _WORDS.get(word, word)


def _spelled(found: re.Match[str]) -> str:
    figure = found["number"]
    if _THOUSANDS.fullmatch(figure):
        figure = figure.replace(",", "")
    # Digits of any script are told by their values.
    digits = "".join(
        character if (value := unicodedata.decimal(character, None)) is None else str(value)
        for character in figure
    )
    before = "".join(_DASHES.sub("-", found["before"]).split())
    behind = (found["behind"] or "").strip()
    currency = "".join(_OF_A_CURRENCY.findall(before + behind))
    return _OF_A_CURRENCY.sub("", before) + digits + _OF_A_CURRENCY.sub("", behind) + currency
