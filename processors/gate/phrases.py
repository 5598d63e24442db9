"""Finding fixed phrases of many languages in a text, in a time that grows with its length alone."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from processors.gate.reading import STEM_LETTERS, Reading, Word, fold

PREFIX: Final = "*"
"""At the end of a phrase's word it stands for any ending."""


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
                assert len(first) > STEM_LETTERS, phrase  # noqa: S101 - a phrase of this program's
                stems.setdefault(first[:STEM_LETTERS], []).append(words)
            else:
                exact.setdefault(first, []).append(words)
        self._exact: Mapping[str, list[tuple[str, ...]]] = exact
        self._stems: Mapping[str, list[tuple[str, ...]]] = stems
        self._first_words = frozenset(exact)
        self._first_stems = frozenset(stems)
        self._unspaced = tuple(fold(phrase) for phrase in unspaced)

    def found(
        self, reading: Reading, start: int = 0, end: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """Yield where each phrase stands in the folded text, as start and end.

        Args:
            reading: the text.
            start: where in the folded text a phrase may begin at the earliest.
            end: where it must begin before; ``None`` for the end of the text.
        """
        if self._may_occur(reading):
            yield from self._found_spaced(reading, start, end)
        if reading.unspaced:
            limit = len(reading.folded) if end is None else end
            for term in self._unspaced:
                begin = reading.folded.find(term, start, limit)
                while begin >= 0:
                    yield begin, begin + len(term)
                    begin = reading.folded.find(term, begin + len(term), limit)

    def occur(self, reading: Reading, start: int = 0, end: int | None = None) -> bool:
        """Tell whether any phrase stands in a text, or in a stretch of it as in :meth:`found`."""
        if not (reading.unspaced or self._may_occur(reading)):
            return False
        return next(self.found(reading, start, end), None) is not None

    def _may_occur(self, reading: Reading) -> bool:
        """Tell cheaply of most texts that no phrase with blanks begins in them."""
        return not (
            self._first_words.isdisjoint(reading.word_texts)
            and self._first_stems.isdisjoint(reading.stems)
        )

    def _found_spaced(
        self, reading: Reading, start: int, end: int | None
    ) -> Iterator[tuple[int, int]]:
        words = reading.words
        last = len(words) if end is None else bisect_left(words, end, key=_start_of)
        for place in range(bisect_left(words, start, key=_start_of) if start else 0, last):
            word = words[place]
            for phrase in self._exact.get(word.text, ()):
                if _follows(words, place, phrase):
                    yield word.start, words[place + len(phrase) - 1].end
            for phrase in self._stems.get(word.text[:STEM_LETTERS], ()):
                if _follows(words, place, phrase):
                    yield word.start, words[place + len(phrase) - 1].end


def _start_of(word: Word) -> int:
    return word.start


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
