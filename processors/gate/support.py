"""Whether words are found where they stand as words, and whether they bear a statement out."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import islice, pairwise
from typing import Final

from processors.gate.reading import Reading
from processors.gate.small_words import FIRST_PERSON, NEGATIONS, SMALL, dense_rest

_BORDERLESS: Final = re.compile(
    "[\u0590-\u06ff\u0750-\u077f\u08a0-\u08ff\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff"
    "\u3040-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Letters of scripts that put no blanks between words, or none before or behind small ones."""

_DENSE: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Letters of scripts in which two can be a word: Chinese, Japanese and Korean."""

_TELLING: Final = re.compile("[\u3400-\u9fff\uf900-\ufaff]|[\u30a0-\u30ff]{2}|[\uac00-\ud7af]{2}")
"""What of a dense script a statement can share: an ideograph, two letters of a spelt-out word."""

_UNSPACED_WORDS: Final = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff]{9,}")
"""A stretch of Thai, Lao, Burmese or Khmer that is longer than a word of assent."""

_NEGATED: Final = re.compile(r"'t(?!\w)")
_PLACES_MAX: Final = 1_000
"""Places at which words are looked for: a wall of one letter has as many as it has letters."""

_LETTERS_MIN: Final = 4
_DENSE_LETTERS_MIN: Final = 2
_WORDS_MIN: Final = 2
_WORDS_ENOUGH: Final = 3
"""Of so many words one that tells something is evidence for a statement in other words."""

_DENSE_ENOUGH: Final = 3
_ALIKE: Final = 4
_SHORT: Final = 3
_WORDS_READ_MAX: Final = 400
_CHARACTERS_READ_MAX: Final = 4_000
"""More of a quote or a statement is not compared: no single statement is so long."""


def stands_in(words: str, text: str) -> bool:
    """Tell whether words stand in a text and begin and end where its words do.

    "Paris" does not stand in "Parisot", nor "I can" in "I can't".

    Args:
        words: in the form in which quotes are compared.
        text: in the same form.
    """
    if not words:
        return False
    start = text.find(words)
    for _ in range(_PLACES_MAX):
        if start < 0:
            return False
        end = start + len(words)
        if not (_inside(text, start) or _inside(text, end) or _NEGATED.match(text, end)):
            return True
        start = text.find(words, start + 1)
    return False


def is_long_enough(quote: Reading) -> bool:
    """Tell whether a quote has two words or four letters; two letters of a dense script."""
    letters = sum(map(str.isalnum, quote.folded[:_CHARACTERS_READ_MAX]))
    if letters >= _LETTERS_MIN or (letters and len(quote.words) >= _WORDS_MIN):
        return True
    return len(_DENSE.findall(quote.folded)) >= _DENSE_LETTERS_MIN


def bears_out(quote: Reading, statements: Iterable[Reading]) -> bool:
    """Tell whether a quote can be what a statement rests on.

    What it says may be in other words ("I quit meat" of "Is vegetarian"): three words of which one
    tells something are enough, and two where the user speaks of themselves ("I'm veggie"). Fewer
    must share with the statement what they tell: a word that begins alike, a number, an ideograph.
    What is made of small words alone ("yes, thanks", "that's right") tells nothing.

    Args:
        quote: the quote.
        statements: the statement, and of whom it is.
    """
    words = quote.words
    if any(_tells(word.text) for word in words):
        if _DENSE.search(quote.folded) is not None:
            if len(dense_rest(quote.folded)) >= _DENSE_ENOUGH:
                return True
        else:
            count = len(quote.folded.split())
            if count >= _WORDS_ENOUGH or _UNSPACED_WORDS.search(quote.folded) is not None:
                return True
            if count == _WORDS_MIN and any(word.text in FIRST_PERSON for word in words):
                return True
    return any(shares_a_word(quote, statement) for statement in statements)


def is_repeated(quote: Reading, statement: Reading) -> bool:
    """Tell whether a statement repeats a short answer, as "42" or "C++", as a word of its own."""
    return quote.folded not in SMALL and stands_in(quote.folded, statement.folded)


def says_something(quote: Reading) -> bool:
    """Tell whether a quote is more than an assent or thanks: it tells or denies something."""
    return any(word.text in NEGATIONS or _tells(word.text) for word in quote.words)


def shares_a_word(quote: Reading, statement: Reading) -> bool:
    """Tell whether a quote and a statement have a word that tells something, or its beginning."""
    folded = quote.folded[:_CHARACTERS_READ_MAX]
    told = _telling_words(statement)
    if any(len(word) >= _ALIKE and word[:_ALIKE] in folded for word in told):
        return True
    quoted = _telling_words(quote)
    if not told.isdisjoint(quoted) or _begins_one(told, quoted) or _begins_one(quoted, told):
        return True
    if _DENSE.search(folded) is None:
        return False
    return not _dense_parts(statement.folded).isdisjoint(_dense_parts(folded))


def _inside(text: str, place: int) -> bool:
    """Tell whether a place is between two letters of one word."""
    if place in {0, len(text)}:
        return False
    before, after = text[place - 1], text[place]
    if before.isascii() and after.isascii():
        return before.isalnum() and after.isalnum()
    if _BORDERLESS.match(before) or _BORDERLESS.match(after):
        return False
    return unicodedata.category(before)[0] in "LMN" and unicodedata.category(after)[0] in "LMN"


def _tells(word: str) -> bool:
    if word in SMALL:
        return False
    if _DENSE.search(word) is not None:
        return dense_rest(word) != ""
    letters = sum(map(str.isalnum, word))
    # Without any it is a picture, as of a pizza.
    return letters >= _DENSE_LETTERS_MIN or letters == 0 or word.isdecimal()


def _telling_words(reading: Reading) -> set[str]:
    return {word.text for word in islice(reading.words, _WORDS_READ_MAX) if _tells(word.text)}


def _begins_one(words: set[str], others: set[str]) -> bool:
    """Tell whether a short word of the one begins a word of the others ("run", "running")."""
    short = tuple(word for word in words if len(word) == _SHORT)
    return bool(short) and any(other.startswith(short) for other in others)


def _dense_parts(folded: str) -> set[str]:
    """Return the ideographs of a text, and each two letters that stand together in other words."""
    rest = dense_rest(folded[:_CHARACTERS_READ_MAX])
    pairs = (first + second for first, second in pairwise(rest))
    return {part for part in (*rest, *pairs) if _TELLING.fullmatch(part) is not None}
