"""Finding fixed phrases of many languages in a text, in a time that grows with its length alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from processors.gate.reading import Reading, Word, fold

PREFIX: Final = "*"
"""At the end of a phrase's word it stands for any ending."""

_STEM_MIN: Final = 3
"""A word with any ending is looked up by its first letters, of which it must have so many."""


def word_set(*lines: str) -> frozenset[str]:
    """Return the words of some lines."""
    return frozenset(" ".join(lines).split())


class Phrases:
    """A set of phrases that can be looked for at once.

    Args:
        spaced: phrases of languages that put spaces between words, each one or more words, of which
            each may end in ``*``. They are folded as the texts are.
        unspaced: phrases of Chinese and Japanese, which are found wherever they stand.
    """

    def __init__(self, spaced: Iterable[str], unspaced: Iterable[str] = ()) -> None:
        exact: dict[str, list[tuple[str, ...]]] = {}
        stems: dict[str, list[tuple[str, ...]]] = {}
        for phrase in spaced:
            words = tuple(fold(phrase).split(" "))
            first = words[0]
            if first.endswith(PREFIX):
                assert len(first) > _STEM_MIN, phrase  # noqa: S101 - a phrase of this program's
                stems.setdefault(first[:_STEM_MIN], []).append(words)
            else:
                exact.setdefault(first, []).append(words)
        self._exact: Mapping[str, list[tuple[str, ...]]] = exact
        self._stems: Mapping[str, list[tuple[str, ...]]] = stems
        self._unspaced = tuple(fold(phrase) for phrase in unspaced)

    def found(self, reading: Reading) -> Iterator[tuple[int, int]]:
        """Yield where each phrase stands in the folded text, as start and end."""
        words = reading.words
        for place, word in enumerate(words):
            for phrase in self._exact.get(word.text, ()):
                if _follows(words, place, phrase):
                    yield word.start, words[place + len(phrase) - 1].end
            for phrase in self._stems.get(word.text[:_STEM_MIN], ()):
                if _follows(words, place, phrase):
                    yield word.start, words[place + len(phrase) - 1].end
        if reading.unspaced:
            for term in self._unspaced:
                start = reading.folded.find(term)
                while start >= 0:
                    yield start, start + len(term)
                    start = reading.folded.find(term, start + len(term))

    def occur(self, reading: Reading) -> bool:
        """Tell whether any phrase stands in a text."""
        return next(self.found(reading), None) is not None


def _follows(words: tuple[Word, ...], place: int, phrase: tuple[str, ...]) -> bool:
    if place + len(phrase) > len(words):
        return False
    return all(
        _matches(words[place + offset].text, expected) for offset, expected in enumerate(phrase)
    )


def _matches(word: str, expected: str) -> bool:
    if expected.endswith(PREFIX):
        return word.startswith(expected[:-1])
    return word == expected
