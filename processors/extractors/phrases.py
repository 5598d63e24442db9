"""Cut the value out of what follows a verb: a place, an employer, a name, a list of things.

Each function takes the rest of a clause and returns the value as the user wrote it, or ``None``
where the words are no such thing.
"""

from __future__ import annotations

import re
from typing import Final

from processors.extractors.sentences import MASK
from processors.extractors.vocabulary import (
    CONNECTORS,
    LIKED_AFTER_THE,
    LOWERCASE_THE_PLACES,
    NOT_EMPLOYERS,
    NOT_ITEMS,
    NOT_LIKED,
    NOT_NAMES,
    NOT_PLACES,
    ORGANISATIONS,
)
from processors.moments import MONTHS, WEEKDAYS

_WORDS_MAX: Final = 8
_LOWERCASE_PLACE_WORDS_MAX: Final = 3
_LIKED_WORDS_MAX: Final = 14
_ITEM_WORDS_MAX: Final = 5
_ITEMS_MAX: Final = 12

_TAIL: Final = re.compile(
    r"[\s,(]+(?:with|because|since|so|but|where|which|who|that|when|while|for|until|till|to|as|"
    r"and|or|then|from|after|before|due|during|not|though|although|except|by|near|right now|now|"
    r"these days|at the moment|currently|at present|nowadays|again|too|as well|actually|together|"
    r"alone|originally|permanently|anymore|any more|any longer|lately|instead|full[- ]time|"
    r"part[- ]time|yesterday|today|last|this|in|on|at|already|recently|btw|by the way|if|please|"
    r"thanks|thank you|lol|haha|myself|ago|just|all my life|my whole life|since)\b",
    re.IGNORECASE,
)
"""What ends a place or an employer."""


def proper_name(rest: str, *, connectors: bool = True) -> str | None:
    """Return the capitalised words at the start of ``rest``, or words of a caseless script.

    A comma goes on where a capital follows ("Pune, India"); connecting words do too ("Rio de
    Janeiro").
    """
    tokens = rest.split()[: _WORDS_MAX + 1]
    taken: list[str] = []
    pending: list[str] = []
    for token in tokens:
        bare = token.strip(".,;:!?()\"'")
        if bare and _is_capital(bare):
            taken += [*pending, token]
            pending = []
            if token[-1] in ".;:!?)" and not _is_initial(token):
                break
        elif connectors and taken and not taken[-1].endswith(",") and bare in CONNECTORS:
            pending.append(token)
        else:
            break
    value = " ".join(taken).strip(" .,;:!?()\"'")
    if not value or MASK in value or len(taken) > _WORDS_MAX:
        return None
    return value


def place(rest: str) -> str | None:
    """Return a place that a person can live in or be from."""
    region = _REGION.match(rest)
    if region is None:
        return _place(rest)
    within = _place(rest[region.end() :])
    return region[0] + within if within is not None else None


def _place(rest: str) -> str | None:
    article = ""
    if rest.lower().startswith("the "):
        article, rest = rest[:4], rest[4:]
    named = proper_name(rest)
    if named is not None:
        first = named.split(maxsplit=1)[0].lower().strip(",")
        return None if first in NOT_PLACES and first != "us" else article + named
    value = _before_tail(rest)
    words = value.lower().split()
    if not words or len(words) > _LOWERCASE_PLACE_WORDS_MAX or not _is_letters(words):
        return None
    bare = [word.strip(",") for word in words]
    allowed = bare[0] in LOWERCASE_THE_PLACES if article else NOT_PLACES.isdisjoint(bare)
    return article + value if allowed and value == value.lower() else None


_REGION: Final = re.compile(
    r"the (?:far )?(?:north|south|east|west|centre|center|middle|heart|outskirts|suburbs)"
    r"(?:-?(?:east|west))? of (?=\S)",
    re.IGNORECASE,
)


def is_time(value: str) -> bool:
    """Whether the first word names a month or a day of the week, or is a number."""
    first = value.lower().split()[0].strip(",").removesuffix("'s")
    return first in MONTHS or first in WEEKDAYS or first[0].isdigit()


def organisation(rest: str) -> str | None:
    """Return an employer: a proper name, or a kind of organisation ("a bank")."""
    article = re.match(r"(?:the|a|an|my own|my)\s", rest, re.IGNORECASE)
    named = proper_name(rest[article.end() :] if article else rest)
    if named is not None:
        if is_time(named) and named.lower().split()[0] in {*MONTHS, *WEEKDAYS}:
            return None
        return (article[0] if article and article[0].lower().strip() == "the" else "") + named
    value = _before_tail(rest)
    words = value.lower().split()
    if not words or len(words) > _WORDS_MAX or MASK in value:
        return None
    if article is not None:
        return value if any(word.strip(",") in ORGANISATIONS for word in words) else None
    known = len(words) <= _LOWERCASE_PLACE_WORDS_MAX and words[0] not in NOT_EMPLOYERS
    return value if known and _is_letters(words) else None


def person_name(rest: str, *, lowercase: bool) -> str | None:
    """Return a person's name.

    Args:
        rest: what follows "my name is".
        lowercase: whether one or two words in lower case that end the clause are taken too.
    """
    named = proper_name(rest, connectors=True)
    if named is not None:
        named = named.split(",")[0]
        return None if named.lower().split()[0] in NOT_NAMES else named
    match = re.match(r"([^\W\d_][\w'-]*(?: [^\W\d_][\w'-]*)?)[\s.!,)]*(?:not\b.*)?$", rest)
    if not lowercase or match is None:
        return None
    words = match[1].lower().split()
    return None if any(word in NOT_NAMES for word in words) else match[1]


def items(rest: str) -> list[str]:
    """Return the things that ``rest`` lists: "nuts, shellfish and eggs" are three."""
    found: list[str] = []
    for part in re.split(r"\s*(?:,|;|/|&|\band\b|\bor\b)\s*", rest)[:_ITEMS_MAX]:
        item = _ITEM_TAIL.split(part, maxsplit=1)[0]
        item = re.sub(
            r"^(?:(?:also|both|all kinds of|all|most|certain|some|the|to|cooked|things like|"
            r"especially|e\.g\.|like)\s+)+",
            "",
            item.strip(" .!?"),
            flags=re.IGNORECASE,
        )
        if item and MASK not in item and len(item.split()) <= _ITEM_WORDS_MAX:
            if item.lower() in NOT_ITEMS or not any(letter.isalpha() for letter in item):
                break
            found.append(item)
        if _ITEM_TAIL.search(part):
            break
    return found


_ITEM_TAIL: Final = re.compile(
    r"\s+(?:so|but|because|since|which|who|that|though|although|if|when|while|where|with|please|"
    r"thanks|too|as well|anymore|any more|now|as|ever|for|from|then|i|my|we|it|they|just|btw|"
    r"and)\b|[()]",
    re.IGNORECASE,
)


def liked(rest: str) -> str | None:
    """Return what somebody likes or hates, if it is worth keeping."""
    value = _LIKED_TAIL.split(rest, maxsplit=1)[0].strip(" .,;:!?()-")
    value = re.sub(
        r"\s+(?:so much|a lot|very much|the most|most|too|as well|though|btw|these days|now|"
        r"anyway|actually|lol|in general|more than anything)$",
        "",
        value,
        flags=re.IGNORECASE,
    )
    words = value.lower().split()
    if not words or len(words) > _LIKED_WORDS_MAX or MASK in value:
        return None
    if words[0] == "the":
        after = value.split()[1] if len(words) > 1 else ""
        if not (after[:1].isupper() or after.lower() in LIKED_AFTER_THE):
            return None
    elif words[0].split("'")[0].strip(",") in NOT_LIKED:
        return None
    elif words[0] == "to" and words[1:2] and words[1] in NOT_LIKED:
        return None  # "I hate to ask"
    if not any(letter.isalpha() for letter in value):
        return None
    return in_third_person(value)


_LIKED_TAIL: Final = re.compile(
    r"[\s,]+(?:because|since|so|but|although|though|which|please|thanks|thank you|not|and i|"
    r"and my|and it)\b|[.!?;:]\s|\s[-\u2013\u2014]+\s",
    re.IGNORECASE,
)


def in_third_person(value: str) -> str:
    """Return a statement with the user's "my" and "I" turned into "their" and "they"."""
    for pattern, word in _PERSONS:
        value = pattern.sub(word, value)
    return value


_PERSONS: Final = (
    (re.compile(r"\bmy\b", re.IGNORECASE), "their"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bme\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bi'm\b", re.IGNORECASE), "they are"),
    (re.compile(r"\bi've\b", re.IGNORECASE), "they have"),
    (re.compile(r"\b(?:I|i)\b"), "they"),
    (re.compile(r"\bam\b"), "are"),
    (re.compile(r"\bour\b", re.IGNORECASE), "their"),
)


def _before_tail(rest: str) -> str:
    value = _TAIL.split(" " + rest, maxsplit=1)[0]
    value = re.split(r"[.!?;:(]|,(?!\s*\w+$)|\s-\s", value, maxsplit=1)[0]
    return value.strip(" .,;:!?()\"'")


def _is_capital(word: str) -> bool:
    first = word[0]
    if first.isdigit():
        return any(letter.isupper() for letter in word)
    return first.isalpha() and not first.islower() and word not in {"I", "I'm", "I've", "I'd"}


def _is_initial(token: str) -> bool:
    return token.endswith(".") and (
        len(token) <= 3 or token.count(".") > 1  # noqa: PLR2004 - "J.", "St.", "U.S."
    )


def _is_letters(words: list[str]) -> bool:
    return all(word.strip(",").replace("-", "").replace("'", "").isalpha() for word in words)


def day(rest: str) -> str | None:
    """Return a day of the year in the user's words, or ``None``."""
    found = _DAY.match(rest)
    return found["day"].strip() if found is not None else None


_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    r"sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY: Final = re.compile(
    rf"(?:on |in )?(?:the )?(?P<day>\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}})?|"
    rf"{_MONTH} (?:the )?\d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?|"
    r"\d{4}-\d{2}-\d{2}|\d{1,2}[/.]\d{1,2}(?:[/.]\d{2,4})?)",
    re.IGNORECASE,
)
