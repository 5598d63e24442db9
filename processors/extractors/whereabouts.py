"""Read where a person lives, lived, moves to and comes from, and when they were born."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from processors.extractors import phrases
from processors.extractors.findings import Finding, Mode
from processors.extractors.grammar import ADVERB, BE, HAVE, Readers
from schemas.slots import Slot

READERS: Final = Readers()

_IMPORTANT: Final = 4
_TRIFLE: Final = 2


@READERS.reads(
    rf"{ADVERB}(?:lives?|resides?)(?: over| out| up| down| back| right| alone| and work)?"
    r"(?: here| there)?(?: with [\w' ]{1,40}?)? in (?P<rest>.+)",
    rf"{BE}(?:living|residing|based|located)(?: over| out| here)? (?:in|out of) (?P<rest>.+)",
    # "I have lived in Pune" alone may be long past.
    r"(?:have|has) (?:always )?lived in (?P<rest>.+\b(?:since|for|all my life|my whole life)\b.*)",
    rf"{HAVE}{ADVERB}(?:moved|relocated|settled)(?: back| out| over| down)?(?: here)?"
    r"(?: from [^.;!?]{1,60}?)? (?:in)?to (?P<rest>.+)",
    rf"{HAVE}{ADVERB}settled(?: down)? in (?P<rest>.+)",
)
def residence(found: re.Match[str]) -> Iterator[Finding]:
    """Read where somebody lives."""
    where = phrases.place(found["rest"])
    if where is not None:
        yield Finding(
            slot=Slot.RESIDENCE,
            content=f"Lives in {where}",
            value=where,
            importance=_IMPORTANT,
            dated=True,
        )


@READERS.reads(
    rf"{ADVERB}(?:lives?|(?:am|are|is) living) (?P<how>near|close to|just outside(?: of)?|"
    r"outside(?: of)?) (?P<rest>.+)"
)
def _nearby(found: re.Match[str]) -> Iterator[Finding]:
    where = phrases.place(found["rest"])
    if where is not None:
        value = f"{found['how'].lower()} {where}"
        yield Finding(
            slot=Slot.RESIDENCE, content=f"Lives {value}", value=value, importance=_IMPORTANT
        )


@READERS.reads(
    rf"(?:am|are|is) {ADVERB}(?:moving|relocating|going to move|about to move|planning to move)"
    r"(?: back| over)? to (?P<rest>.+)"
)
def _moving(found: re.Match[str]) -> Iterator[Finding]:
    where = phrases.place(found["rest"])
    if where is not None:
        yield Finding(slot=Slot.EVENT, content=f"Is moving to {where}", value=where)


@READERS.reads(rf"{HAVE}{ADVERB}moved (?:away from|out of) (?P<rest>.+)")
def _left(found: re.Match[str]) -> Iterator[Finding]:
    for finding in residence(found):
        yield replace(finding, mode=Mode.ENDED)


@READERS.reads(
    r"used to live in (?P<rest>.+)",
    r"lived in (?P<rest>.+)",
)
def _lived(found: re.Match[str]) -> Iterator[Finding]:
    where = phrases.place(found["rest"])
    if where is not None:
        yield Finding(
            slot=Slot.EVENT, content=f"Used to live in {where}", value=where, importance=_TRIFLE
        )


@READERS.reads(
    rf"{BE}(?:originally )?(?P<how>from) (?P<rest>.+)",
    rf"{ADVERB}(?:comes?|hails?) (?P<how>from) (?P<rest>.+)",
    rf"{ADVERB}(?:was |were )?(?:born and )?(?P<how>grew up|raised|brought up) in (?P<rest>.+)",
)
def _origin(found: re.Match[str]) -> Iterator[Finding]:
    where = phrases.place(found["rest"])
    if where is None or phrases.is_time(where):
        return
    how = "Is from" if found["how"].lower() == "from" else "Grew up in"
    yield Finding(slot=Slot.ORIGIN, content=f"{how} {where}", value=where)


@READERS.reads(r"(?:was|were) born (?P<rest>.+)")
def _born(found: re.Match[str]) -> Iterator[Finding]:
    day = phrases.day(found["rest"])
    if day is not None:
        yield Finding(
            slot=Slot.BIRTHDAY, content=f"Birthday is {day}", value=day, importance=_IMPORTANT
        )
        return
    year = re.match(r"(?:in )?((?:19|20)\d\d)\b", found["rest"])
    if year is not None:
        yield Finding(slot=Slot.NOTE, content=f"Was born in {year[1]}", value=year[1])
        return
    where = re.match(r"(?:and (?:raised|brought up) )?in (.+)", found["rest"], re.IGNORECASE)
    named = phrases.place(where[1]) if where is not None else None
    if named is not None and not phrases.is_time(named):
        yield Finding(slot=Slot.ORIGIN, content=f"Is from {named}", value=named)
