"""A text as the rules read it: folded, so that spelling does not matter, and cut into words."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final, NamedTuple

from processors.gate.lazy import lazy
from processors.marks import ALIKE

MARKS: Final = str.maketrans(
    {mark: plain for plain, typographic in ALIKE.items() for mark in typographic}
)

_ACCENTS: Final = dict.fromkeys(range(0x0300, 0x0370))
"""Combining marks of Latin, Greek and Cyrillic; the signs of other scripts are letters there."""

_UNSEEN: Final = dict.fromkeys(
    code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cf"
)
"""Characters that only format, such as a zero-width space inside a number."""

_DIGITS: Final = {
    ord(character): str(unicodedata.decimal(character))
    for character in filter(str.isdecimal, map(chr, range(0x80, sys.maxunicode + 1)))
}
"""The digits of every script, by ASCII digit."""

# What parts words. Python's \w leaves out the vowel signs of Indian scripts, which are letters.
_WORD: Final = re.compile(r"[^\s!-/:-@\[-^{-~\u00a1-\u00bf\u2010-\u206f\u3000-\u303f\u0964\u0965]+")
_SENTENCE_END: Final = re.compile(
    r"[!?\u3002\uff01\uff1f\u0964\n]+|(?<!\d)\.+(?=\s|$|['\"])|(?<=\d)\.+(?=\s|$)"
)
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_DIGIT: Final = re.compile(r"\d")

STEM_LETTERS: Final = 3
"""A phrase's first word with any ending is looked up by its first letters: it must have so many."""


class Word(NamedTuple):
    """One word of a folded text.

    Attributes:
        text: the word.
        start, end: where it stands in the folded text.
    """

    text: str
    start: int
    end: int


class Reading:
    """A text read once for all rules; what only some rules need is made when it is asked for.

    Args:
        text: the text.

    Attributes:
        folded: the text in lower case without accents, with plain marks and single blanks; lines
            are kept.
    """

    def __init__(self, text: str) -> None:
        self.folded = fold(text)

    @lazy
    def words(self) -> tuple[Word, ...]:
        """Its words, in order; a stretch of a script without spaces is one word."""
        return tuple(
            Word(found[0], found.start(), found.end()) for found in _WORD.finditer(self.folded)
        )

    @lazy
    def word_texts(self) -> frozenset[str]:
        """Its different words."""
        return frozenset(word.text for word in self.words)

    @lazy
    def stems(self) -> frozenset[str]:
        """The first letters of its words, as many as a phrase is looked up by."""
        return frozenset(text[:STEM_LETTERS] for text in self.word_texts)

    @lazy
    def has_digit(self) -> bool:
        """Whether it holds a digit."""
        return _DIGIT.search(self.folded) is not None

    @lazy
    def unspaced(self) -> bool:
        """Whether it holds Chinese or Japanese, which put no spaces between words."""
        return not self.folded.isascii() and _UNSPACED.search(self.folded) is not None

    def mentions(self, literals: Iterable[str]) -> bool:
        """Tell whether any of some folded stretches stands in it: a cheap check before a dear one.

        Args:
            literals: the stretches.
        """
        return any(literal in self.folded for literal in literals)


def fold(text: str) -> str:
    """Return ``text`` as the rules compare it: case, accents, width and unseen characters go."""
    if not text.isascii():
        text = unseen_removed(text).translate(MARKS)
        text = unicodedata.normalize("NFD", text.casefold()).translate(_ACCENTS)
        text = unicodedata.normalize("NFKC", text).translate(_DIGITS)
    return "\n".join(" ".join(line.split()) for line in text.casefold().splitlines())


def unseen_removed(text: str) -> str:
    """Return ``text`` in compatibility form (NFKC) without characters that only format."""
    return unicodedata.normalize("NFKC", text).translate(_UNSEEN)


def plain(text: str) -> str:
    """Return ``text`` with its case, but with ASCII digits and marks and no unseen characters."""
    if text.isascii():
        return text
    return unseen_removed(text).translate(MARKS).translate(_DIGITS)


def sentences(folded: str) -> list[tuple[int, int]]:
    """Return where each sentence of a folded text begins and ends, its end mark included."""
    found: list[tuple[int, int]] = []
    start = 0
    for mark in _SENTENCE_END.finditer(folded):
        if folded[start : mark.start()].strip():
            found.append((start, mark.end()))
        elif found:
            found[-1] = (found[-1][0], mark.end())
        start = mark.end()
    if folded[start:].strip():
        found.append((start, len(folded)))
    return found
