"""Whether a memory that is to stand for several tells nothing that none of these told.

Numbers alone do not say so: two walks in the park found no "works for the CIA". Every word must
stand in a source, but for inflection, for words that join or count (:mod:`.merging_words`) and for
weekdays, months and years that follow from the sources' dates. A name must stand there as it is,
and where a source denies something, so must the memory, since "does not eat meat" holds every word
of "eats meat". Where words have no blanks between them, each character must, and most pairs of
characters.

A summary in words of its own ("exercises" for "runs" and "swims") is refused: a merge too few costs
some room, what nobody said costs trust.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from processors.deciding.figures import figure_of, figures
from processors.deciding.merging_words import (
    IRREGULAR,
    JOINING_CHARACTERS,
    MERGING,
    MONTHS,
    NEGATIONS,
    TIMES,
    WEEKDAYS,
)
from processors.deciding.wording import form_of, is_capital, split

_PAIRS_MIN: Final = 0.7
"""The share of pairs of characters that must stand in a source, in scripts without blanks: where
two statements are joined, a few pairs are new."""

_ROOT_MIN: Final = 4
_ENDING_MAX: Final = 3
"""Two words are forms of one where they share a root at least so long, and each ends at most so
many characters behind it."""

_ZONES: Final = (timedelta(hours=-12), timedelta(), timedelta(hours=14))
"""The ends of the zones of the earth: on which day of his the user spoke, no memory tells."""

_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_DIGITS: Final = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sources:
    words: frozenset[str]
    forms: frozenset[str]
    characters: str
    dates: frozenset[str]

    def holds(self, word: str, *, name: bool) -> bool:
        """Whether a word, in lower case, stands in a source or follows from its date."""
        if word in self.words or _singular(word) in self.dates:
            return True
        return not name and (
            _form(word) in self.forms or any(_one_root(word, other) for other in self.words)
        )


def is_founded(content: str, texts: Sequence[str], moments: Iterable[datetime]) -> bool:
    """Whether everything that a content tells is told by texts.

    Args:
        content: the memory that is to stand for several.
        texts: the contents and quotes of these, each beginning as a sentence does.
        moments: since when they are true.
    """
    days = {(moment + zone).date() for moment in moments for zone in _ZONES}
    years = {str(day.year) for day in days}
    if not figures(content) <= figures("\n".join(texts)) | years:
        return False
    source_words = [word.casefold() for text in texts for word, _ in _words(text)]
    sources = _Sources(
        words=frozenset(source_words),
        forms=frozenset(map(_form, source_words)),
        characters=" ".join(source_words),
        dates=frozenset(
            name for day in days for name in WEEKDAYS[day.weekday()] | MONTHS[day.month - 1]
        ),
    )
    words = _words(content)
    denied = {word.casefold() for word, _ in words} & NEGATIONS
    if not sources.words.isdisjoint(NEGATIONS) and not denied:
        return False
    return all(_is_told(word, sources, first=first) for word, first in words)


def _is_told(word: str, sources: _Sources, *, first: bool) -> bool:
    lower = word.casefold()
    if _UNSPACED.search(word) is not None:
        return _is_told_unspaced(lower, sources)
    name = any(map(is_capital, word[1:] if first else word))
    if lower in TIMES or (lower in MERGING and not name) or figure_of(lower) != lower:
        return True
    return sources.holds(lower, name=name and lower not in NEGATIONS)


def _is_told_unspaced(word: str, sources: _Sources) -> bool:
    told = sources.characters
    if any(it not in told and it not in JOINING_CHARACTERS for it in word):
        return False
    pairs = [word[at : at + 2] for at in range(len(word) - 1)]
    founded = sum(pair in told or not JOINING_CHARACTERS.isdisjoint(pair) for pair in pairs)
    return founded >= _PAIRS_MIN * len(pairs)


def _words(text: str) -> list[tuple[str, bool]]:
    """Return the words of a text without its numbers, each with whether it is the first."""
    spaced = _DIGITS.sub(" ", unicodedata.normalize("NFKC", text).replace("\u2019", "'"))
    words = [word for word in split(spaced) if word not in {".", "-", "_", "/", "&"}]
    return [(word, place == 0) for place, word in enumerate(words)]


def _form(word: str) -> str:
    return form_of(IRREGULAR.get(word, word))


def _singular(word: str) -> str:
    return word.removesuffix("s") if word.removesuffix("s") not in {"lune", "marte"} else word


def _one_root(one: str, other: str) -> bool:
    """Whether two words may be forms of one, by their beginnings."""
    shared = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        shared += 1
    return shared >= _ROOT_MIN and max(len(one), len(other)) - shared <= _ENDING_MAX
