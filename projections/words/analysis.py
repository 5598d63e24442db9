"""What a text is found by: its words, in forms that questions and memories share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import pairwise
from typing import Final

from projections.words.languages import (
    ENGLISH,
    courtesies,
    function_words,
    han_function_characters,
    is_latin,
    language_of,
    script_language,
    stem,
    without_marks,
)
from projections.words.scripts import Run, Writing, clusters, normalised, runs

QUESTION_WORDS_MAX: Final = 128
"""Most different words of a question that are looked for: a page asks for no more."""

WORD_CHARACTERS_MAX: Final = 64
"""Of a longer word the beginning counts: no word of a language is longer, a key or a hash is."""

_HASH_BITS: Final = 28
"""A form is kept as a hash of so many bits; the other four of a number tell how often it occurs.

Of 5,000 different forms of one user, one that a question does not mean has a word's hash with a
chance of 2 in 100,000.
"""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a question.

    Attributes:
        text: as it was asked, without case.
        forms: the hashes of the forms it is looked for by, at least one; any of them is a match.
    """

    text: str
    forms: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class DocumentWords:
    """The words of a memory.

    Attributes:
        length: how many words it has, function words apart: what BM25 calls the document's length.
        counts: how often each form occurs, by its hash, in the order of the first occurrence.
    """

    length: int
    counts: dict[int, int]


@lru_cache(maxsize=100_000)
def form_hash(form: str) -> int:
    """Return the number that stands for a form, the same everywhere and for ever."""
    digest = blake2b(form.encode(), digest_size=4, person=b"ml-word").digest()
    return int.from_bytes(digest, "big") >> (32 - _HASH_BITS)


def document_words(text: str) -> DocumentWords:
    """Return what a memory is found by."""
    counts: Counter[int] = Counter()
    length = 0
    for _, forms in _words(text, whole=True):
        counts.update(form_hash(form) for form in forms)
        length += 1
    return DocumentWords(length=length, counts=dict(counts))


def question_words(text: str) -> list[Word]:
    """Return the different words of a question that carry matter, in order.

    At most ``QUESTION_WORDS_MAX``: of a longer question the beginning counts.
    """
    found: dict[tuple[int, ...], Word] = {}
    for written, forms in _words(text, whole=False):
        word = Word(written, tuple(form_hash(form) for form in forms))
        found.setdefault(word.forms, word)
        if len(found) == QUESTION_WORDS_MAX:
            break
    return list(found.values())


def is_courtesy(text: str) -> bool:
    """Tell whether a text is nothing but greetings, thanks or assents, which ask for nothing."""
    parts = [part.text for part in runs(normalised(text))]
    return bool(parts) and all(part in courtesies() for part in parts)


def is_english(text: str) -> bool:
    """Tell whether a text is in English, as far as its writing and its function words tell.

    A text of names and numbers counts as English, as does one in a language without a list.
    """
    parts = list(runs(normalised(text)))
    latin = [part.text for part in parts if part.writing is Writing.SPACED and is_latin(part.text)]
    characters = sum(len(part.text) for part in parts)
    if 2 * sum(map(len, latin)) < characters:
        return False
    return language_of(latin) is None


def _words(text: str, *, whole: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each word of a text with its forms.

    Args:
        text: the text.
        whole: whether unspaced writing yields all it holds, single characters too, as memories do;
            else only what a question means.
    """
    parts = list(runs(normalised(text)))
    latin = [part.text for part in parts if part.writing is Writing.SPACED and is_latin(part.text)]
    language = language_of(latin) if latin else None
    for part in parts:
        if part.writing is Writing.PAIRED:
            yield from _pairs(part.text, whole=whole)
        elif not _is_function_word(part, language):
            yield part.text, _forms(part.text[:WORD_CHARACTERS_MAX], language)


def _is_function_word(part: Run, language: str | None) -> bool:
    word = part.text
    known = function_words()
    spoken = language if is_latin(word) else script_language(word)
    return (
        word in courtesies()
        or word in known[ENGLISH]
        or (spoken is not None and word in known.get(spoken, frozenset()))
    )


def _forms(word: str, language: str | None) -> tuple[str, ...]:
    if not is_latin(word):
        spoken = script_language(word)
        return (word,) if spoken is None else (stem(word, spoken),)
    plain = stem(without_marks(word), ENGLISH)
    if language is None:
        return (plain,)
    spoken_form = stem(word, language)
    return (plain,) if spoken_form == plain else (plain, spoken_form)


def _pairs(run: str, *, whole: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    characters = clusters(run)
    pairs = [first + second for first, second in pairwise(characters)]
    if whole:
        # A question may be a single character; in memories both stand.
        wanted: Sequence[str] = [*characters, *pairs]
    else:
        wanted = _that_mean_something(pairs) if pairs else characters
    for found in wanted:
        yield found, (found,)


def _that_mean_something(pairs: Sequence[str]) -> Sequence[str]:
    functional = han_function_characters()
    meaning = [pair for pair in pairs if not any(character in functional for character in pair)]
    return meaning or pairs
