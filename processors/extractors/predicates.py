"""Read what is said of a person: the predicate of "I ..." or of "my sister ...".

A predicate comes with its verb in any person ("live in Pune", "lives in Pune", "am vegan").
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from processors.extractors import tastes, whereabouts, work
from processors.extractors.findings import Finding, Mode
from schemas.slots import SINGLE_VALUED, Slot

GROUPS: Final = (whereabouts.READERS, tastes.READERS, work.READERS)
"""Each group reads at most one thing out of a predicate, so "a nurse from Leeds" can tell two."""

_CAN_END: Final = SINGLE_VALUED - {Slot.NAME, Slot.BIRTHDAY, Slot.ORIGIN} | {
    Slot.ALLERGY,
    Slot.DIET,
    Slot.PREFERENCE,
}

_ANY_MORE: Final = r"(?P<rest>.+?)[ ,]+(?:any ?more|any longer)\b"
_ENDED: Final = tuple(
    re.compile(expression, re.IGNORECASE)
    for expression in (
        r"(?:(?P<be>am|is|are) )?(?:also |now )?no longer (?P<rest>.+)",
        rf"(?:(?P<be>(?:am|is|are) not|isn't|aren't) )(?:really )?{_ANY_MORE}",
        rf"(?P<be>(?!))?(?:do not|don't|does not|doesn't) (?:really )?{_ANY_MORE}",
        r"(?:have |has )?(?P<be>(?:stopped|quit|gave up) being|used to be) (?P<rest>.+)",
        r"(?P<be>(?!))?(?:have |has )?stopped (?P<rest>(?:liking|working|living) .+)",
    )
)
_DENIED: Final = re.compile(
    r"(?:(?P<be>(?:am|is|are) (?:actually |really )?not|isn't|aren't) |"
    r"(?:do not|don't|does not|doesn't|have never|has never|never) (?:actually )?)(?P<rest>.+)",
    re.IGNORECASE,
)


def read(predicate: str) -> list[Finding]:
    """Return what a predicate states, ends or denies; nothing if no pattern fits."""
    for pattern in _ENDED:
        ended = pattern.match(predicate)
        findings = _stated(_positive(ended)) if ended is not None else []
        if findings:
            return [
                replace(finding, mode=Mode.ENDED)
                for finding in findings
                if finding.slot in _CAN_END
            ]
    found = _stated(predicate)
    if found:
        return found
    denied = _DENIED.match(predicate)
    if denied is None:
        return []
    return [replace(finding, mode=Mode.DENIED) for finding in _stated(_positive(denied))]


def _stated(predicate: str) -> list[Finding]:
    return [finding for group in GROUPS for finding in group.read(predicate)][:_FINDINGS_MAX]


_FINDINGS_MAX: Final = 12


def _positive(negative: re.Match[str]) -> str:
    """Return the predicate without its negation, with "living" as "live"."""
    if negative["be"]:
        return f"am {negative['rest']}"
    return _GERUND.sub(lambda found: _BARE[found[0].lower()], negative["rest"])


_BARE: Final = {"liking": "like", "working": "work", "living": "live"}
_GERUND: Final = re.compile(r"^(?:liking|working|living)\b", re.IGNORECASE)
