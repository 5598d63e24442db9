"""Cutting a text into runs of one kind of writing: with blanks between words, or without."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Writing(StrEnum):
    """How words are told apart in a run of characters."""

    SPACED = "spaced"
    """Words stand between blanks, and are stemmed where their language has a stemmer."""
    PAIRED = "paired"
    """Words are not parted: neighbouring characters are taken in pairs."""


@dataclass(frozen=True, slots=True)
class Run:
    """Some characters of one kind of writing.

    Attributes:
        text: the characters, normalised and without case.
        writing: how words are told apart in it.
    """

    text: str
    writing: Writing


# Writing in which no blank stands between words: Thai, Lao, Myanmar, Khmer, kana, Han, Hangul. In
# Korean blanks part phrases, whose particles grow onto the word, so pairs find more.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
)
# Marks that Python's \w does not count: of Latin, Hebrew, Arabic and the scripts of India.
_MARKS: Final = (
    "\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f"
    "\u0980-\u0983\u09bc-\u09cd\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd"
    "\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c4d\u0c81-\u0c83"
    "\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d"
)
_LETTER: Final = rf"[^\W_{_UNSPACED}]"
# An apostrophe belongs to a word only between letters; what tells C from C++ and C# stays with it.
_RUN: Final = re.compile(
    rf"(?P<paired>[{_UNSPACED}][{_UNSPACED}{_MARKS}]*)"
    rf"|(?P<spaced>{_LETTER}(?:{_LETTER}|[{_MARKS}])*(?:['\u2019]{_LETTER}+)*(?:\+\+|\#(?!\w))?)"
)


def normalised(text: str) -> str:
    """Return ``text`` in one form (NFKC) and without case."""
    normal = unicodedata.normalize("NFKC", text).casefold()
    # Folding case may take a composed letter apart.
    return normal if normal.isascii() else unicodedata.normalize("NFKC", normal)


def runs(text: str) -> Iterator[Run]:
    """Yield the runs of a normalised text, in their order."""
    for match in _RUN.finditer(text):
        if match["paired"]:
            yield Run(match["paired"], Writing.PAIRED)
        else:
            yield Run(match["spaced"].replace("\u2019", "'"), Writing.SPACED)


def clusters(run: str) -> list[str]:
    """Return the characters of a run, each with the marks that belong to it."""
    found: list[str] = []
    for character in run:
        if found and unicodedata.category(character).startswith("M"):
            found[-1] += character
        else:
            found.append(character)
    return found
