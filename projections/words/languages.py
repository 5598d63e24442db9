"""Which language a text is in, as far as its words tell, and the stemmers of those languages.

Nobody says which language a memory or a question is in, and of five words no statistics can tell.
So every word has one form that asks no language (its letters without marks, under the English
stemmer), by which the same spelling is found in whatever language; and where the function words of
another language outnumber the English ones, a second form under its stemmer. Writing other than
Latin tells its stemmer itself.
"""

from __future__ import annotations

import threading
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

import Stemmer

ENGLISH: Final = "english"

# The block of a word's first letter, and the stemmer of what is mostly written in it.
_SCRIPTS: Final = (
    ("\u0370", "\u03ff", "greek"),
    ("\u0400", "\u052f", "russian"),
    ("\u0530", "\u058f", "armenian"),
    ("\u0600", "\u06ff", "arabic"),
    ("\u0900", "\u097f", "hindi"),
    ("\u0b80", "\u0bff", "tamil"),
)
_LATIN_END: Final = "\u024f"
_STEMS_KEPT: Final = 50_000
"""Stems that a thread's stemmer remembers; Snowball's own memory, of some 100 bytes a word."""


class _Held(threading.local):
    """Stemmers of one thread: Snowball's are not safe to share."""

    def __init__(self) -> None:
        self.stemmers: dict[str, Stemmer.Stemmer] = {}


_HELD: Final = _Held()


@cache
def _file() -> Mapping[str, object]:
    text = files("projections").joinpath("words", "function_words.toml").read_text("utf-8")
    return MappingProxyType(tomllib.loads(text))


@cache
def function_words() -> Mapping[str, frozenset[str]]:
    """Return the function words of each language, by the name of its stemmer."""
    languages = _file()["languages"]
    assert isinstance(languages, dict), "the file ships with the package"  # noqa: S101 - a file that was broken must not pass for one without words
    return MappingProxyType(
        {name: frozenset(str(words).split()) for name, words in languages.items()}
    )


@cache
def courtesies() -> frozenset[str]:
    """Return greetings and thanks: they carry no matter in any language."""
    return frozenset(str(_file()["courtesies"]).split())


@cache
def han_function_characters() -> frozenset[str]:
    """Return the Han characters that make no word of their own in running text."""
    han = _file()["han"]
    assert isinstance(han, dict), "the file ships with the package"  # noqa: S101 - as above
    return frozenset(str(han["function"]))


def language_of(words: Iterable[str]) -> str | None:
    """Return the language of Latin writing whose function words outnumber the English ones.

    Args:
        words: normalised words of one text.

    Returns:
        The name of its stemmer; ``None`` where English words are as many, or none is known.
    """
    listed = _languages_by_word()
    hits = Counter(name for word in words for name in listed.get(word, ()))
    english = hits.pop(ENGLISH, 0)
    # Of equal ones the first in the file.
    best = max(function_words(), key=hits.__getitem__)
    return best if hits[best] > english else None


@cache
def _languages_by_word() -> Mapping[str, Sequence[str]]:
    languages: dict[str, list[str]] = {}
    for name, words in function_words().items():
        for word in words:
            languages.setdefault(word, []).append(name)
    return MappingProxyType(languages)


def script_language(word: str) -> str | None:
    """Return the stemmer of a word's writing; ``None`` for Latin, and where there is none."""
    first = word[0]
    return next((name for low, high, name in _SCRIPTS if low <= first <= high), None)


def is_latin(word: str) -> bool:
    """Tell whether a word begins with a letter or digit of Latin writing."""
    return word[0] <= _LATIN_END


def stem(word: str, language: str) -> str:
    """Return a word's stem under a language's Snowball stemmer."""
    stemmer = _HELD.stemmers.get(language)
    if stemmer is None:
        stemmer = _HELD.stemmers[language] = Stemmer.Stemmer(language, _STEMS_KEPT)
    return str(stemmer.stemWord(word))


def without_marks(word: str) -> str:
    """Return a word with its letters' marks taken off: ``école`` becomes ``ecole``."""
    if word.isascii():
        return word
    parted = unicodedata.normalize("NFD", word)
    return unicodedata.normalize(
        "NFC", "".join(part for part in parted if not unicodedata.combining(part))
    )
