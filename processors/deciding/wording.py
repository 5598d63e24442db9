"""Whether two statements differ in nothing but wording, as far as code can tell.

Vectors cannot: "prefers tea to coffee" lies nearer to "prefers coffee to tea" than any two wordings
of one fact that were measured. So two statements count as one only where their words are the same
but for little words, inflection and a short list of equal expressions, and stand in an order that
cannot turn the meaning round. Every other difference (a number, a name, a negation, a weekday, a
unit, a past tense, a word more) keeps them apart: a statement too many can be merged later, one
that was taken for another is lost.

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

_COPULA: Final = re.compile(r"\w[^.;]* (?:is|are) ")

_WORD: Final = re.compile(r"[^\W_]+(?:-[^\W_]+)*|[%+#&/\u0024\u20a0-\u20cf\u00a2-\u00a5\u00b0]")
"""Words, and the signs that units and names are made of."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Reading:
    """A statement as far as it counts.

    Attributes:
        figures: its numbers.
        words: the words that mean something, in one form and in their order.
        equates: whether it says that one thing is another, in which the two may change places.
    """

    figures: frozenset[str]
    words: tuple[str, ...]
    equates: bool


def may_state_the_same(one: str, other: str) -> bool:
    """Whether nothing that code can see keeps two statements apart."""
    left, right = _read(one), _read(other)
    if left.figures != right.figures or not left.words:
        return False
    if left.words == right.words:
        return True
    return left.equates and right.equates and _rotated(left.words, right.words)


def _rotated(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether the words of one follow each other as in the other, but for where they begin."""
    return any(one[at:] + one[:at] == other for at in range(len(one)))


@lru_cache(maxsize=_REMEMBERED)
def _read(text: str) -> _Reading:
    normal = unicodedata.normalize("NFKC", text).casefold().replace("\u2019", "'")
    for pattern, meant in _COMPILED:
        normal = pattern.sub(meant, normal)
    words = _WORD.findall(normal)
    equates = _COPULA.match(normal) is not None and _TURNING.isdisjoint(words)
    return _Reading(
        figures=figures(text),
        words=tuple(_meant(word) for word in words if word not in _LITTLE),
        equates=equates,
    )


_COMPILED: Final = tuple(
    (re.compile(rf"(?<!\w){pattern}(?!\w)"), meant) for pattern, meant in _PHRASES
)


def _meant(word: str) -> str:
    stem = _stem(figure_of(word))
    return _EQUAL.get(stem, stem)


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
