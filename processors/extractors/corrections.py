"""Read what a user takes back, corrects, or asks to remember or to forget."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from processors.extractors import phrases
from processors.extractors.findings import Finding, Mode
from processors.extractors.proposals import Draft, mentions
from processors.extractors.sentences import Clause
from processors.extractors.statements import Statement
from schemas.memory import ABOUT_USER
from schemas.ports import KnownMemory
from schemas.slots import Slot

_CORRECTED_WORDS_MAX: Final = 6

REMEMBER: Final = re.compile(
    r"(?:(?:can|could|will|would) you )?(?:please )?"
    r"(?:(?:note(?: down)?|take note) that(?= (?:i|i'm|i've|my|we|our|the)\b)|"
    r"(?:remember|keep in mind|bear in mind|don't forget|do not forget|make a note)(?: for me)?"
    r"(?:,? that\b(?! (?:time|day|one|when)\b)|:| this\b:?|"
    r",?(?= (?:i|i'm|i've|my|we|our)\b)|$))",
    re.IGNORECASE,
)
"""A request to remember; what follows it is kept even where no other pattern reads it."""

FORGET: Final = re.compile(
    r"(?:please |can you |could you )*(?:forget|delete|erase|remove|unlearn)(?: about)?"
    r"(?: the fact)?(?: that)? (?P<rest>(?:i|i'm|i've|my|we)\b.+)",
    re.IGNORECASE,
)
_TAKEN_BACK: Final = re.compile(
    r"(?:please )?(?:(?:forget|ignore|disregard|scratch|delete|strike|undo) "
    r"(?:that|this|what i (?:just )?said|my last (?:message|sentence))|"
    r"(?:that's|that is|that was|this is|it's|it is) (?:all |actually )?"
    r"(?:wrong|not true|untrue|incorrect|not right|not correct|a mistake|a typo)|"
    r"i take (?:that|it) back)",
    re.IGNORECASE,
)
_MEANT: Final = re.compile(
    r"(?:(?:i meant(?: to say| to write)?|make (?:that|it)) (?P<right>.+?)"
    r"(?:,? not (?P<wrong>.+))?|"
    r"(?:it's|it is|that's|(?:it|that) should be)(?: actually)? (?P<right_two>.+?),? (?:and )?"
    r"(?:not|instead of|rather than) (?P<wrong_two>.+))$",
    re.IGNORECASE,
)


def is_taken_back(words: str) -> bool:
    """Whether a clause takes back what was said just before ("that's wrong", "forget that")."""
    return _TAKEN_BACK.fullmatch(words) is not None


def take_back(drafts: list[Draft]) -> None:
    """Drop what the last sentence that stated anything has stated."""
    if drafts:
        last = drafts[-1].sentence
        drafts[:] = [draft for draft in drafts if draft.sentence != last]


def corrected(
    words: str, clause: Clause, drafts: Sequence[Draft], known: Sequence[KnownMemory]
) -> list[Draft] | None:
    """Return the drafts after "I meant Pune" or "it's Pune, not Mumbai"; ``None`` if neither.

    What is corrected is the turn's own statement or, where the words name what is wrong, a memory
    that is known. If there is none, the correction is about something else and changes nothing.
    """
    found = _MEANT.match(words)
    if found is None:
        return None
    right = (found["right"] or found["right_two"]).strip(" .,!\"'")
    wrong = (found["wrong"] or found["wrong_two"] or "").strip(" .,!\"'")
    if not right or len(right.split()) > _CORRECTED_WORDS_MAX:
        return list(drafts)
    for index in range(len(drafts) - 1, -1, -1):
        draft = drafts[index]
        if not wrong or mentions(draft.finding.value, wrong):
            finding = _with_value(draft.finding, wrong or draft.finding.value, right)
            fixed = replace(draft, finding=finding, quote=clause.quote)
            return [*drafts[:index], fixed, *drafts[index + 1 :]]
    for item in known if wrong else ():
        if item.memory.about == ABOUT_USER and mentions(item.memory.content, wrong):
            return [*drafts, *_replacing(item, wrong, right, clause)]
    return list(drafts)


def _replacing(item: KnownMemory, wrong: str, right: str, clause: Clause) -> list[Draft]:
    memory = item.memory
    old = Finding(
        slot=memory.slot,
        content=memory.content,
        value=memory.content,
        importance=memory.importance,
        kind=memory.kind,
        mode=Mode.DENIED,
    )
    new = replace(_with_value(old, wrong, right), mode=Mode.HOLDS)
    return [
        Draft(about=memory.about, finding=finding, quote=clause.quote, sentence=clause.sentence)
        for finding in (old, new)
    ]


def _with_value(finding: Finding, wrong: str, right: str) -> Finding:
    pattern = re.compile(rf"(?<!\w){re.escape(wrong)}(?!\w)", re.IGNORECASE)
    return replace(
        finding,
        content=pattern.sub(lambda _: right, finding.content),
        value=pattern.sub(lambda _: right, finding.value),
    )


def note(words: str) -> Statement:
    """Return what a user asked to remember, in their own words."""
    if _WAS.search(words) is not None:
        return _in_own_words(words)
    bare = words[3:] if words.lower().startswith("my ") else words
    return _in_own_words(phrases.in_third_person(bare))


def claim(words: str) -> Statement | None:
    """Return what a user claims that the operator promised or owes, in their own words.

    It is proposed so that a person sees it: no such claim becomes true by being noted.
    """
    return _in_own_words(words) if _CLAIM.match(words) is not None else None


def _in_own_words(words: str) -> Statement:
    finding = Finding(slot=Slot.NOTE, content=words[0].upper() + words[1:], value=words)
    return Statement(about=ABOUT_USER, finding=finding)


_WAS: Final = re.compile(r"\b(?:i|we) (?:\w+ )?(?:was|wasn't|were|weren't)\b", re.IGNORECASE)
"""What stays in the user's words: "they was" would be none of English."""

_CLAIM: Final = re.compile(
    r"(?:you(?: guys| people)?|your (?:[\w-]+ ){1,2}?|the (?:agent|manager|company|shop|store) |"
    r"(?:customer )?(?:support|service) )\s?(?:have |has |had |already |still |once ){0,2}"
    r"(?:promised|guaranteed|assured|offered|granted|agreed|owes?)\b[^.!?]{0,120}?"
    r"(?:%|\d|\b(?:refund|discount|free|voucher|credit|coupon|compensat|money|waive|replacement|"
    r"upgrade)\w*)",
    re.IGNORECASE,
)
