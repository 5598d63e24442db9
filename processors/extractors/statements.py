"""Read one clause: of whom it speaks, and what it states of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from processors.extractors import phrases, predicates
from processors.extractors.findings import Finding
from processors.extractors.vocabulary import RELATIONS
from schemas.memory import ABOUT_USER, MemoryKind
from schemas.slots import Slot

_IMPORTANT: Final = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A finding and of whom it is.

    Attributes:
        about: the user, or the name or relation of somebody else.
        finding: what is stated.
    """

    about: str
    finding: Finding


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """Who a clause speaks of, for a clause that goes on without naming them again.

    Attributes:
        about: the user, or the name or relation of somebody else.
        is_being: whether the clause had a form of "be", so that "and allergic to ..." can follow.
    """

    about: str
    is_being: bool


def without_fillers(words: str) -> str:
    """Return a clause without "well", "by the way" and the like in front."""
    for _ in range(_FILLERS_MAX):
        found = _FILLER.match(words)
        if found is None or found.end() == 0:
            break
        words = words[found.end() :]
    return words


def read(
    words: str, before: Subject | None, *, goes_on: bool = False
) -> tuple[list[Statement], Subject | None]:
    """Read a clause.

    Args:
        words: the clause without fillers.
        before: the subject of the clause it continues; ``None`` where it stands alone, or where
            that subject is not known.
        goes_on: whether it continues a clause, and has no subject of its own.

    Returns:
        What it states, and its subject; ``None`` if it has none that is understood.
    """
    if goes_on and before is None and _NEWS.match(words) is not None:
        return [], None
    possession = list(_possessions(words))
    if possession:
        return possession, None
    subject, predicate = _subject(words, before)
    if subject is None:
        return [], None
    shared = _WE.match(words) is not None
    statements = [
        Statement(about=subject.about, finding=finding)
        for finding in predicates.read(predicate)
        if not shared or finding.slot in _SHARED
    ]
    found = [*statements, *_introduced(words)]
    # "I have a sister who is ill and moved to Rome": what goes on is not said of the user.
    return found, None if _WHO.search(words) is not None else subject


def introduction(words: str) -> tuple[Statement, str] | None:
    """Read "I'm Anna" after a greeting.

    Returns:
        The name, and what follows it as a clause of its own: of "I'm Anna, a nurse" that is "I'm a
        nurse".
    """
    found = _INTRODUCTION.match(words)
    name = phrases.person_name(found["name"], lowercase=False) if found is not None else None
    if found is None or name is None or name != found["name"]:
        return None
    finding = Finding(
        slot=Slot.NAME, content=f"Is called {name}", value=name, importance=_IMPORTANT
    )
    rest = words[found.end() :].lstrip(" ,")
    return Statement(about=ABOUT_USER, finding=finding), f"I'm {rest}" if rest else ""


def is_greeting(words: str) -> bool:
    """Whether a clause begins with a greeting."""
    return _GREETING.match(words) is not None


_INTRODUCTION: Final = re.compile(
    r"(?i:i'm|i am|this is) (?P<name>[A-Z\u00c0-\u00de][\w'-]+(?: [A-Z\u00c0-\u00de][\w'.-]*){0,2})"
    r"(?=$|, an? | from | and an? )"
)
_GREETING: Final = re.compile(
    r"[\s,]*(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)\b", re.IGNORECASE
)


def _subject(words: str, before: Subject | None) -> tuple[Subject | None, str]:
    found = _OTHER.match(words)
    if found is not None:
        about = found["name"] or found["relation"].lower()
        predicate = ("is " if found["contracted"] else "") + words[found.end() :]
        return _subject_of(about, predicate), predicate
    predicate = _predicate_of_user(words)
    if predicate:
        return _subject_of(ABOUT_USER, predicate), predicate
    bare = _BARE.match(words) is not None
    if before is None or (bare and not before.is_being):
        return None, ""
    if before.about == ABOUT_USER and _OF_ANOTHER.match(words) is not None:
        return None, ""  # "I have a sister who is ill and lives in Rome"
    predicate = f"am {words}" if bare else words
    return _subject_of(before.about, predicate), predicate


def _predicate_of_user(words: str) -> str:
    """Return what a clause says of the user; empty if it does not begin by speaking of them."""
    found = _I.match(words)
    if found is not None:
        return _EXPANDED.get(found["contracted"] or "", "") + words[found.end() :]
    found = _AS.match(words)
    if found is not None:
        return "am " + words[found.end() :].split(",", maxsplit=1)[0]
    found = _NEWS.match(words)
    if found is None:
        return ""
    predicate = words[found.end() :]
    return f"have {predicate}" if predicate.lower().startswith("been") else predicate


def _subject_of(about: str, predicate: str) -> Subject:
    return Subject(about=about, is_being=_BEING.match(predicate) is not None)


def _introduced(words: str) -> Iterator[Statement]:
    """Read "my sister Priya ...": that the user has a sister of that name."""
    found = _OTHER.match(words)
    if found is not None and found["name"]:
        relation = found["relation"].lower()
        yield _relation(relation, found["name"])


def _relation(relation: str, name: str) -> Statement:
    article = "an" if relation[0] in "aeiou" else "a"
    return Statement(
        about=ABOUT_USER,
        finding=Finding(
            slot=Slot.RELATION, content=f"Has {article} {relation} called {name}", value=name
        ),
    )


def _possessions(words: str) -> Iterator[Statement]:
    """Read what is stated of the user's name, birthday, hometown, favourites and relatives."""
    for pattern, slot, form in _OWN_ATTRIBUTES:
        found = pattern.match(words)
        value = _VALUES[slot](found["rest"]) if found is not None else None
        if found is not None and value is not None:
            about, content = ABOUT_USER, form.format(value=value)
            if found.groupdict().get("relation"):
                about = found["relation"].lower()
            importance = _IMPORTANT if slot in {Slot.NAME, Slot.BIRTHDAY} else 3
            finding = Finding(slot=slot, content=content, value=value, importance=importance)
            yield Statement(about=about, finding=finding)
            return
    yield from _favourites(words)
    yield from _named_relatives(words)
    yield from _standing_orders(words)


def _favourites(words: str) -> Iterator[Statement]:
    found = _FAVOURITE.match(words)
    value = phrases.liked(found["rest"]) if found is not None else None
    if found is not None and value is not None:
        content = f"Favourite {found['what'].lower()} is {value}"
        finding = Finding(slot=Slot.PREFERENCE, content=content, value=value)
        yield Statement(about=(found["relation"] or ABOUT_USER).lower(), finding=finding)


def _named_relatives(words: str) -> Iterator[Statement]:
    found = _NAMED_RELATIVE.match(words)
    name = phrases.person_name(found["rest"], lowercase=False) if found is not None else None
    if found is not None and name is not None:
        yield _relation(found["relation"].lower(), name)


def _standing_orders(words: str) -> Iterator[Statement]:
    for pattern in _ORDERS:
        found = pattern.match(words)
        if found is not None:
            order = phrases.in_third_person(found["rest"].strip(" .!,"))
            finding = Finding(
                slot=Slot.RULE,
                content=order[0].upper() + order[1:],
                value=order,
                importance=_IMPORTANT,
                kind=MemoryKind.PROCEDURAL,
            )
            yield Statement(about=ABOUT_USER, finding=finding)
            return


_FILLERS_MAX: Final = 4
_FILLER: Final = re.compile(
    r"(?:[\s,:!.-]{1,5})|(?:hi|hello|hey|so|well|ok|okay|yes|yeah|yep|no|nope|nah|oh|ah|sorry|"
    r"thanks|thank you|also|and|but|because|since|then|plus|however|actually|btw|by the way|fyi|"
    r"just so you know|for (?:some )?context|for (?:your )?(?:info|information|reference)|"
    r"for the record|as (?:i said|mentioned)|to be (?:honest|clear)|honestly|frankly|in fact|"
    r"ps|p\.s\.?|anyway|again|now|these days|nowadays|currently|"
    r"right now|at the moment|personally|in general|generally|unfortunately|luckily|sadly|update|"
    r"i (?:have )?(?:already |just )?(?:said|told you|mentioned)(?: that)?|wait|oops|right|"
    r"correction|about me|you should know(?: that)?|i should (?:mention|say|add)(?: that)?|"
    r"i (?:just )?(?:wanted|want) (?:you to know|to let you know|to mention)(?: that)?|"
    r"fun fact|good news|as of (?:today|now)|officially)(?=[\s,:!.-]|$)",
    re.IGNORECASE,
)
_I: Final = re.compile(
    r"(?:(?P<contracted>i'm|im|i've|ive|we're|we've)|i|we) +(?=\S)", re.IGNORECASE
)
_WE: Final = re.compile(r"we\b", re.IGNORECASE)
_SHARED: Final = frozenset({Slot.RESIDENCE, Slot.EVENT, Slot.RELATION})
"""What is true of each one of a "we"."""

_NEWS: Final = re.compile(
    r"(?:just |recently |finally )?(?=(?:moved|relocated) (?:back |here )?(?:from|to) |"
    r"born and raised |been (?:living|working) )|"
    r"(?:just|recently|finally) (?=(?:joined|started|became|turned) )",
    re.IGNORECASE,
)
"""A sentence that leaves out its "I"."""

_AS: Final = re.compile(r"(?:speaking )?as (?=an? )", re.IGNORECASE)
"""What somebody is, in passing: "as a vegan, ..."."""

_EXPANDED: Final = {
    form: expanded
    for contracted, expanded in (("i'm im we're", "am "), ("i've ive we've", "have "))
    for base in contracted.split()
    for form in (base, base.capitalize(), base.upper())
}
_OTHER: Final = re.compile(
    rf"my (?P<relation>{RELATIONS})(?P<contracted>'s)?(?:,? (?P<name>(?-i:[A-Z\u00c0-\u00de]"
    r"[\w-]+))(?P<again>'s)?,?)? +(?=\S)",
    re.IGNORECASE,
)
_BARE: Final = re.compile(
    r"(?:allergic|vegan|vegetarian|pescatarian|lactose|based|living|working|originally|from)\b",
    re.IGNORECASE,
)
_WHO: Final = re.compile(r"\b(?:who|whose)\b", re.IGNORECASE)
_OF_ANOTHER: Final = re.compile(
    r"(?:also |now |still )?(?:lives|works|loves|likes|hates|prefers|enjoys|dislikes|comes|eats|"
    r"keeps|"
    r"adores|has|is|doesn't)\b",
    re.IGNORECASE,
)
"""A form of a verb that does not go with "I"."""

_BEING: Final = re.compile(r"(?:am|is|are|was|were)\b", re.IGNORECASE)

_OF: Final = rf"my (?:(?P<relation>{RELATIONS})'s )?"
_OWN_ATTRIBUTES: Final = tuple(
    (re.compile(expression, re.IGNORECASE), slot, form)
    for slot, form, expression in (
        (
            Slot.NAME,
            "Is called {value}",
            r"my (?:full |first |real |actual )?name(?:'s| is) (?:actually )?(?P<rest>.+)",
        ),
        (Slot.NAME, "Is called {value}", r"(?:i'm|i am) (?:called|known as|named) (?P<rest>.+)"),
        (Slot.NAME, "Is called {value}", r"i go by (?P<rest>.+)"),
        (
            Slot.NAME,
            "Is called {value}",
            r"(?:you can |you may |everyone |people |please |just ){0,3}calls? me (?P<rest>.+)",
        ),
        (
            Slot.BIRTHDAY,
            "Birthday is {value}",
            rf"{_OF}(?:birthday|bday|birth date|date of birth)(?:'s| is|:) (?P<rest>.+)",
        ),
        (Slot.ORIGIN, "Is from {value}", rf"{_OF}home ?town(?:'s| is) (?P<rest>.+)"),
        (
            Slot.EMPLOYER,
            "Works at {value}",
            rf"{_OF}employer(?:'s| is)(?: called| named)? (?P<rest>.+)",
        ),
        (
            Slot.EVENT,
            "Anniversary is {value}",
            r"(?:my|our) (?:wedding )?anniversary(?:'s| is) (?P<rest>.+)",
        ),
    )
)


def _name(rest: str) -> str | None:
    return phrases.person_name(rest, lowercase=True)


_VALUES: Final = {
    Slot.NAME: _name,
    Slot.BIRTHDAY: phrases.day,
    Slot.ORIGIN: phrases.place,
    Slot.EMPLOYER: phrases.proper_name,
    Slot.EVENT: phrases.day,
}
_FAVOURITE: Final = re.compile(
    rf"{_OF}(?:all-time )?favou?rite (?P<what>[\w-]+(?: [\w-]+){{0,2}}?)(?:'s| is| are) "
    r"(?P<rest>.+)",
    re.IGNORECASE,
)
_NAMED_RELATIVE: Final = re.compile(
    rf"my (?P<relation>{RELATIONS})(?:'s name)?(?: is|'s)(?: called| named)? (?P<rest>.+)",
    re.IGNORECASE,
)
_ORDERS: Final = (
    re.compile(r"from now on,? (?:please )?(?P<rest>.+)", re.IGNORECASE),
    re.compile(
        r"(?:please )?(?P<rest>(?:always|never) (?:answer|reply|respond|use|write|give|explain|"
        r"call|keep|ask|include|add|send|suggest|show|mention|speak|format|start|end)\b.+)",
        re.IGNORECASE,
    ),
)
