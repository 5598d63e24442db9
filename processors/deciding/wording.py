"""Whether two statements differ in nothing but wording, as far as code can tell.

Vectors cannot: "prefers tea to coffee" lies nearer to "prefers coffee to tea" than any two wordings
of one fact that were measured. So two statements count as one only where their words are the same
but for little words, inflection and a short list of equal expressions, and stand in an order that
cannot turn the meaning round. Every other difference (a number, a name, a negation, a weekday, a
unit, a past tense, a word more) keeps them apart: a statement too many can be merged later, one
that was taken for another is lost.

A word that is capitalised within a statement is a name, and compared whole: "Queens" is no plural
there, nor "The Who" two little words. The first word of a statement, which is capitalised anyway,
loses its ending only where it is a verb that statements begin with.

The lists are English; of any other language the words must be the same.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from processors.deciding.figures import figure_of, figures

_REMEMBERED: Final = 4096
"""Readings that are kept: a user's statements are compared again and again."""

_WEEKDAY: Final = r"((?:mon|tues|wednes|thurs|fri|satur|sun)day)s"

_PHRASES: Final = (
    (r"(?:can ?not|can't) stand", "hate"),
    (r"(?:is|are|am|was|were|has|have|do|does|did|can|could|will|would|should)(?: no|n'?)t", "not"),
    (r"(?:has|have|owns?) no", "not have"),
    (r"(eat|drink|use)s? no", r"not \1"),
    (r"can ?not", "not can"),
    (r"dislikes?", "not like"),
    (r"(?:would|'d) rather", "prefer"),
    (r"(?:would|'d) (?:like|love) to", "want to"),
    (r"(?:is|are|am) (?:very |really )?(?:fond of|keen on)", "like"),
    (r"(?:enjoy|like|love)s? (?:drinking|eating|listening to)", "like"),
    (r"(?:is|are|am) employed (?:by|at)", "work at"),
    (r"(?:has|have) a job (?:at|with)", "work at"),
    (r"(?:is working|works?) (?:at|for)", "work at"),
    (r"(?:is working|works?) as", "is"),
    (r"by profession", ""),
    (r"(?:has|have) (?:an? |the )?need (?:for|of)", "need"),
    (r"(?:is|are|am) in need of", "need"),
    (r"(?:has|have) (?:an )?allergy to", "is allergic to"),
    (r"(?:has|have) (?:an? )?([\w-]+) allergy", r"is allergic to \1"),
    (r"(?:has|have) (?:an )?interest in", "is interested in"),
    (r"(?:has|have) (?:a )?fear of", "is afraid of"),
    (r"(?:has|have) to", "must"),
    (r"(\w+)'s name is", r"has a \1 named"),
    (r"(?:has|have|owns?) an?", "have 1"),
    (r"go(?:es|ing)? (\w+ing)", r"\1"),
    (r"can speak", "speak"),
    (r"(?:was|were) raised in", "grew up in"),
    (r"(?:is originally|comes|come|originates) from", "is from"),
    (r"(?:decided|settled|opted) (?:on|for)", "chose"),
    (r"(?:follows|keeps|eats|is on) an? (\w+) diet", r"is \1"),
    (r"eats only (\w+) food", r"is \1"),
    (r"close to", "near"),
    (r"sci(?:ence)?[ -]fi(?:ction)?", "scifi"),
    (r"e-mail", "email"),
    (rf"(?:every|each|on) {_WEEKDAY}", r"every \1"),
    (r"(\w+) (?:that|which) (?:is|are) (\w+)", r"\2 \1"),
)
"""Expressions that mean the same, by the one that stands for them; tried in this order."""

_EQUAL: Final = {
    "called": "named",
    "own": "have",
    "has": "have",
    "love": "like",
    "enjoy": "like",
    "adore": "like",
    "detest": "hate",
    "loathe": "hate",
    "reside": "live",
    "require": "need",
    "wish": "want",
    "intend": "plan",
    "picked": "chose",
    "each": "every",
    "little": "small",
    "big": "large",
    "kid": "child",
    "children": "child",
    "movie": "film",
    "apartment": "flat",
    "telephone": "phone",
    "mom": "mother",
    "mum": "mother",
    "dad": "father",
    "start": "begin",
    "buy": "purchase",
    "search": "look",
    "organise": "plan",
    "organize": "plan",
    "bike": "bicycle",
    "automobile": "car",
}
"""Words that mean the same, as stems, by the one that stands for them."""

_LITTLE: Final = frozenset(
    {
        "a",
        "an",
        "the",
        "user",
        "is",
        "are",
        "am",
        "do",
        "does",
        "of",
        "in",
        "on",
        "at",
        "to",
        "that",
    }
    | {"which", "who", "this", "these", "my", "and", "it", "there", "very", "really", "also"}
    | {"currently", "now"}
)
"""Words without a meaning of their own in a statement. A past tense is none of them."""

_TURNING: Final = frozenset(
    {"to", "than", "over", "from", "into", "before", "after", "by", "instead", "rather", "with"}
    | {"for", "of", "has", "have", "s", "not", "no", "never"}
)
"""Words beside which the order of the others tells who does what to whom."""

_VERBS: Final = (
    "adore avoid bake begin build buy call celebrate collect come commute cook cycle "
    "detest dislike drink drive eat enjoy feel fly follow get go hate have hope intend "
    "keep know lead learn like listen live loathe look love make manage meditate meet "
    "need organise organize own phone plan play practice practise prefer purchase read "
    "rent require reside ride run search sell sleep speak start stay study swim take "
    "teach think train travel use visit walk want watch wear wish work write"
)
_OPENING_VERBS: Final = frozenset(_VERBS.split())
"""Stems of verbs with which statements begin."""

_COPULA: Final = re.compile(r"\w[^.;]* (?:is|are) ")

_NAME: Final = "\ua71b"
"""Marks a name behind its letters, through all that is done to a text: a letter to every pattern,
and one that no language is written with."""

_WORDS: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*(?:-[^\W_]+)*")
_TIME_OF_DAY: Final = re.compile(r"(?<=\d)\s?([ap])\.?m\b\.?", re.IGNORECASE)
_HALF_OF_DAY: Final = {"a": "antemeridiem", "p": "postmeridiem"}
_NEVER_NAMES: Final = frozenset({"user", "user's", "users"}) | {
    f"{day}day{ending}"
    for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")
    for ending in ("", "s")
}
"""Words that are capitalised without being compared whole."""

_JOINING: Final = "-"
_TELLING: Final = frozenset("%#&/@*\u00a7\u2030\u2031\\")
"""Punctuation that names, units and amounts are made of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Word:
    """A word as far as it counts.

    Attributes:
        meant: the word in one form.
        name: whether it is a name; ``None`` of a first word, of which that cannot be told.
    """

    meant: str
    name: bool | None

    def same_as(self, other: _Word) -> bool:
        """Whether the two may be one word."""
        known = self.name is not None and other.name is not None
        return self.meant == other.meant and not (known and self.name != other.name)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """A statement as far as it counts.

    Attributes:
        figures: its numbers.
        words: the words that mean something, in one form and in their order.
        equates: whether it says that one thing is another, in which the two may change places.
    """

    figures: frozenset[str]
    words: tuple[_Word, ...]
    equates: bool


def may_state_the_same(one: str, other: str) -> bool:
    """Whether nothing that code can see keeps two statements apart."""
    left, right = _read(one), _read(other)
    if left.figures != right.figures or not left.words or len(left.words) != len(right.words):
        return False
    if _alike(left.words, right.words):
        return True
    return left.equates and right.equates and _rotated(left.words, right.words)


def form_of(word: str) -> str:
    """Return a word, in lower case, in the form that stands for its other forms and its equals."""
    stem = _stem(figure_of(word))
    return _EQUAL.get(stem, stem)


def is_capital(character: str) -> bool:
    """Whether a character is a capital letter, of a script that has any."""
    return character.isupper() or character.istitle()


def _alike(one: tuple[_Word, ...], other: tuple[_Word, ...]) -> bool:
    return all(left.same_as(right) for left, right in zip(one, other, strict=True))


def _rotated(one: tuple[_Word, ...], other: tuple[_Word, ...]) -> bool:
    """Whether the words of one follow each other as in the other, but for where they begin."""
    return any(_alike(one[at:] + one[:at], other) for at in range(len(one)))


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> _Reading:
    normal = _marked(unicodedata.normalize("NFKC", text).replace(_NAME, " "))
    normal = normal.replace("\u2019", "'")
    for pattern, meant in _COMPILED:
        normal = pattern.sub(meant, normal)
    words = split(normal)
    equates = _COPULA.match(normal) is not None and _TURNING.isdisjoint(words)
    read = (_word(word, first=place == 0) for place, word in enumerate(words))
    return _Reading(
        figures=figures(text),
        words=tuple(word for word in read if word is not None),
        equates=equates,
    )


def _marked(text: str) -> str:
    """Return a text in lower case, with a mark behind every name."""
    text = _TIME_OF_DAY.sub(lambda found: f" {_HALF_OF_DAY[found[1].lower()]}", text)
    parts: list[str] = []
    end = 0
    for number, found in enumerate(_WORDS.finditer(text)):
        parts.append(text[end : found.start()])
        parts.append(_marked_word(found.group(), first=number == 0))
        end = found.end()
    return "".join((*parts, text[end:])).casefold()


def _marked_word(word: str, *, first: bool) -> str:
    if word.casefold() in _NEVER_NAMES or not any(map(is_capital, word[1:] if first else word)):
        return word
    stem, apostrophe, ending = word.replace("\u2019", "'").rpartition("'")
    if ending == "s":
        return f"{stem}{_NAME}'s"
    return f"{stem}{apostrophe}{ending}{_NAME}"


def split(text: str) -> list[str]:
    """Return words, and each sign that means something as a word of its own.

    The marks above and below the letters of many scripts belong to their words.
    """
    words: list[str] = []
    word = ""
    for place, character in enumerate(text):
        following = text[place + 1 : place + 2]
        kind = unicodedata.category(character)
        joins = character == _JOINING and word and following.isalnum()
        if kind[0] in "LMN" or joins:
            word += character
            continue
        if word:
            words.append(word)
        inner = character in "._" and word and following.isalnum()
        word = ""
        if (
            kind[0] == "S"
            or character in _TELLING
            or inner
            or _begins(character, following, text[place - 1 : place])
        ):
            words.append(character)
    return [*words, word] if word else words


def _begins(character: str, following: str, before: str) -> bool:
    """Whether a mark that means nothing elsewhere is part of what follows: "-5", ".NET"."""
    apart = not before.isalnum()
    return apart and (
        (character == "-" and following.isdigit()) or (character == "." and following.isalnum())
    )


def _word(word: str, *, first: bool) -> _Word | None:
    if word.endswith(_NAME):
        return _Word(meant=word.removesuffix(_NAME), name=True)
    if word in _LITTLE:
        return None
    if not first or _stem(word) in _OPENING_VERBS or not word[0].isalpha():
        return _Word(meant=form_of(word), name=False)
    return _Word(meant=_EQUAL.get(word, word), name=None)


_COMPILED: Final = tuple(
    (re.compile(rf"(?<!\w){pattern}(?!\w)"), meant) for pattern, meant in _PHRASES
)


def _stem(word: str) -> str:
    """Return an English word without the endings of a plural, the present tense or an "-ing".

    A past tense is kept: what was liked is not what is liked. Where it cannot be told whether a
    word ended in "e", two forms of one word may come out different, and never two words alike.
    """
    if not word.isascii() or len(word) < _STEMMED_MIN:
        return word
    for ending, kept in _ENDINGS:
        found = ending.fullmatch(word)
        if found is not None:
            return found[1] + kept
    return word


_STEMMED_MIN: Final = 4
_ENDINGS: Final = tuple(
    (re.compile(ending), kept)
    for ending, kept in (
        (r"(\w+)ies", "y"),
        (r"(\w+(?:ss|ch|sh|x))es", ""),
        (r"(\w+[^sui\W])s", ""),
        (r"(\w*[aeiou]([bdgmnprt]))\2ing", ""),
        (r"(\w*[^aeiou\W][aeiou][^aeiouwxy\W])ing", "e"),
        (r"(\w{3,})ing", ""),
    )
)
"""Endings with what takes their place, tried in this order: "planning", "writing", "drinking"."""
