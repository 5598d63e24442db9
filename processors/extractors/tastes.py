"""Read what a person eats, does not tolerate, likes and dislikes, and whom they have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from processors.extractors import phrases
from processors.extractors.findings import Finding
from processors.extractors.grammar import ADVERB, BE, END, HAVE, Readers
from processors.extractors.vocabulary import DIETS, FOODS, INTOLERANCES, RELATIONS
from schemas.slots import Slot

READERS: Final = Readers()

_SAFETY: Final = 5
_IMPORTANT: Final = 4

_FOODS: Final = rf"{FOODS}(?:(?:,|,? or|,? and) (?:any )?{FOODS}){{0,5}}"
_DEGREE: Final = r"(?:(?:severe|serious|bad|mild|strong|deadly|life-threatening) )?"

_SUFFERS: Final = rf"(?:have|has|(?:(?:have|has) )?got|suffers? from) {ADVERB}(?:an? )?"


@READERS.reads(
    rf"(?:{BE}|{HAVE}(?:became|become|turned|went|gone) )(?:an? )?"
    r"(?:(?:practi[cs]ing|life-?long|proud|strict|committed) )?"
    rf"(?P<value>{DIETS}(?:,? (?:and|but also) (?:an? )?{DIETS})?){END}"
)
def _diet(found: re.Match[str]) -> Iterator[Finding]:
    value = " ".join(found["value"].lower().split())
    yield Finding(
        slot=Slot.DIET, content=f"Is {value}", value=value, importance=_IMPORTANT, dated=True
    )


@READERS.reads(
    rf"(?:{ADVERB}(?:eats?|keeps?|follows?)|{BE}(?:on|following|eating|keeping)|"
    rf"{HAVE}(?:started|went on|gone on)) (?:only |strictly )?(?:an? )?(?:strictly )?"
    rf"(?P<value>{DIETS})(?: diet| food| meals)?{END}"
)
def _diet_followed(found: re.Match[str]) -> Iterator[Finding]:
    value = " ".join(found["value"].lower().split())
    yield Finding(
        slot=Slot.DIET,
        content=f"Follows a {value} diet",
        value=value,
        importance=_IMPORTANT,
        dated=True,
    )


@READERS.reads(
    rf"{ADVERB}(?:(?:do not|don't|does not|doesn't|cannot|can't|can not) (?:really )?|never |"
    r"no longer )"
    rf"(?P<verb>eat|drink|touch|consume)s? (?:any )?(?P<foods>{_FOODS}){END}",
    rf"{HAVE}(?:stopped|quit|gave up|given up) (?P<verb>eat|drink)ing (?P<foods>{_FOODS}){END}",
)
def _not_eaten(found: re.Match[str]) -> Iterator[Finding]:
    foods, verb = found["foods"], found["verb"].lower()
    # Only this one tells a diet; "no mushrooms" beside "vegetarian" must not displace it.
    is_diet = verb == "eat" and foods.lower() in {"meat", "meat or fish"}
    yield Finding(
        slot=Slot.DIET if is_diet else Slot.PREFERENCE,
        content=f"Does not {verb} {foods}",
        value=foods,
        importance=_IMPORTANT,
        dated=is_diet,
    )


@READERS.reads(
    r"(?:now |recently )?(?:(?:have )?started (?:to eat|eating)|eats?) "
    r"(?P<food>meat|fish|dairy|eggs)(?= (?:again|now)\b)"
)
def _eaten_again(found: re.Match[str]) -> Iterator[Finding]:
    food = found["food"]
    yield Finding(slot=Slot.DIET, content=f"Eats {food}", value=food, importance=_IMPORTANT)


@READERS.reads(
    rf"{BE}(?P<kind>allerg|intoleran)(?:ic|t) to (?P<rest>.+)",
    rf"{_SUFFERS}{_DEGREE}(?P<kind>allerg|intoleran)"
    r"(?:y|ies|ce) to (?P<rest>.+)",
    rf"{_SUFFERS}{_DEGREE}"
    rf"(?P<rest>(?!{_DEGREE}(?:food|skin|seasonal|no|some|any|many|few)\b)[\w-]+"
    r"(?: (?:and|or) [\w-]+| [\w-]+)?) (?P<kind>allerg|intoleran)(?:y|ies|ce)\b",
    rf"{BE}(?P<rest>{INTOLERANCES})[- ](?P<kind>intoleran)t\b",
)
def _allergy(found: re.Match[str]) -> Iterator[Finding]:
    kind = "allergic" if found["kind"].lower() == "allerg" else "intolerant"
    for named in phrases.items(found["rest"]):
        item = _PLURALS.get(named.lower(), named)
        yield Finding(
            slot=Slot.ALLERGY, content=f"Is {kind} to {item}", value=item, importance=_SAFETY
        )


_PLURALS: Final = {
    singular: f"{singular}s"
    for singular in (
        *("peanut", "nut", "tree nut", "egg", "cat", "dog", "bee", "wasp", "almond", "cashew"),
        *("walnut", "hazelnut", "mushroom", "soybean", "pistachio", "banana", "kiwi"),
    )
}
"""So that "a peanut allergy" states the same as "allergic to peanuts"."""

_VERBS: Final = {
    "lov": "Loves",
    "lik": "Likes",
    "enj": "Enjoys",
    "ado": "Adores",
    "pre": "Prefers",
    "hat": "Hates",
    "dis": "Dislikes",
    "det": "Detests",
    "loa": "Loathes",
}


@READERS.reads(
    rf"{ADVERB}(?P<verb>loves?|likes?|enjoys?|adores?|prefers?|hates?|dislikes?|detests?|loathes?) "
    r"(?P<rest>.+)"
)
def _preference(found: re.Match[str]) -> Iterator[Finding]:
    value = phrases.liked(found["rest"])
    if value is not None:
        verb = _VERBS[found["verb"][:3].lower()]
        yield Finding(slot=Slot.PREFERENCE, content=f"{verb} {value}", value=value)


@READERS.reads(
    r"(?:really )?(?:(?:do not|don't|does not|doesn't) (?:really |particularly )?"
    r"(?:like|enjoy|care for)|(?P<strong>(?:cannot|can't|can not) (?:stand|bear))) (?P<rest>.+)",
    r"(?:am|are|is) (?:really )?not (?:a |really a |much of a )?(?:big |huge )?(?P<strong>(?!))?"
    r"(?:fan of|into|fond of|keen on) (?P<rest>.+)",
)
def _dislike(found: re.Match[str]) -> Iterator[Finding]:
    value = phrases.liked(found["rest"])
    if value is not None:
        verb = "Cannot stand" if found["strong"] else "Dislikes"
        yield Finding(slot=Slot.PREFERENCE, content=f"{verb} {value}", value=value)


@READERS.reads(
    rf"{BE}(?:a )?(?:(?:big|huge|massive|great|lifelong) )?(?:fan of|fond of|into|crazy about|"
    r"obsessed with|keen on|passionate about) (?P<rest>.+)"
)
def _fond(found: re.Match[str]) -> Iterator[Finding]:
    value = phrases.liked(found["rest"])
    if value is not None:
        yield Finding(slot=Slot.PREFERENCE, content=f"Likes {value}", value=value)


@READERS.reads(
    rf"(?:have|has|have got|got) {ADVERB}(?P<value>(?:an?|one|two|three|four|five|six|\d) "
    rf"{RELATIONS}s?)(?P<rest>$|[.,!]| (?:named|called|and|but|aged|so|at home)\b.*)"
)
def _has(found: re.Match[str]) -> Iterator[Finding]:
    named = re.match(r",? (?:named|called) (.+)", found["rest"], re.IGNORECASE)
    name = phrases.person_name(named[1], lowercase=True) if named is not None else None
    content = f"Has {found['value']}" + (f" called {name}" if name else "")
    yield Finding(slot=Slot.RELATION, content=content, value=name or found["value"])


@READERS.reads(rf"{ADVERB}speaks? (?:fluent |native |some |a little )?(?P<rest>(?-i:[A-Z]).+)")
def _speaks(found: re.Match[str]) -> Iterator[Finding]:
    languages = phrases.proper_name(found["rest"])
    if languages is not None:
        yield Finding(slot=Slot.NOTE, content=f"Speaks {languages}", value=languages)


@READERS.reads(rf"{BE}(?P<state>married|engaged|divorced|widowed)\b(?P<rest>.*)")
def _married(found: re.Match[str]) -> Iterator[Finding]:
    state = found["state"].lower()
    to = re.match(r" to (.+)", found["rest"], re.IGNORECASE)
    name = phrases.proper_name(to[1]) if to is not None else None
    if to is not None and name is None:
        return  # "married to my job"
    content = f"Is {state}" + (f" to {name}" if name else "")
    yield Finding(slot=Slot.RELATION, content=content, value=name or state)
