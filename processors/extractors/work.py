"""Read for whom a person works, and as what."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from processors.extractors import phrases
from processors.extractors.findings import Finding, Mode
from processors.extractors.grammar import ADVERB, BE, END, HAVE, Readers
from processors.extractors.vocabulary import FIELDS, JOBS, STATUSES, STUDENTS
from processors.extractors.whereabouts import residence
from schemas.slots import Slot

READERS: Final = Readers()

_JOB_WORDS_MAX: Final = 6
_PUNCTUATION: Final = ".,;:!?()"


@READERS.reads(
    r"used to work (?:at|for) (?P<rest>.+)",
    r"worked (?:at|for) (?P<rest>.+)",
)
def _worked(found: re.Match[str]) -> Iterator[Finding]:
    name = phrases.organisation(found["rest"])
    if name is not None:
        yield Finding(slot=Slot.EVENT, content=f"Used to work at {name}", value=name, importance=2)


@READERS.reads(
    rf"(?:{ADVERB}works?|{BE}(?:working|employed)|(?:have|has) worked) (?:over |out )?"
    r"(?:at|for) (?P<rest>.+)",
    rf"{BE}employed (?:by|with) (?P<rest>.+)",
    rf"{HAVE}(?:started(?: working| work| an? (?:new )?(?:job|role|position))?|"
    r"(?:got|landed|took|accepted) an? (?:new )?(?:job|role|position)) (?:at|for|with) "
    r"(?P<rest>.+)",
    rf"{HAVE}joined (?P<rest>"
    rf"(?-i:[A-Z0-9][\w&'-]*(?: [A-Z][\w&'-]*){{0,4}})"
    r"(?:$| as (?:an?|the|head|lead)\b.*|[,.!].*| (?:last|this|in|yesterday|recently)\b.*))",
)
def _employer(found: re.Match[str]) -> Iterator[Finding]:
    rest = found["rest"]
    if re.match(r"(?:myself|ourselves)\b", rest, re.IGNORECASE):
        yield Finding(
            slot=Slot.EMPLOYER, content="Is self-employed", value="self-employed", dated=True
        )
        return
    name = phrases.organisation(rest)
    if name is not None:
        yield Finding(slot=Slot.EMPLOYER, content=f"Works at {name}", value=name, dated=True)
    job = re.search(r"\bas (?P<rest>(?:an?|the|head|chief|lead|senior)\b.+)", rest, re.IGNORECASE)
    if job is not None:
        yield from _occupation(job)


@READERS.reads(
    rf"{HAVE}(?:left|quit|lost) my (?:job|role|position) (?:at|with) (?P<rest>.+)",
    rf"{HAVE}resigned from (?P<rest>.+)",
    r"(?:was|got|have been|has been) (?:laid off|fired) (?:from|by) (?P<rest>(?-i:[A-Z]).+)",
)
def _left(found: re.Match[str]) -> Iterator[Finding]:
    name = phrases.proper_name(found["rest"])
    if name is not None:
        content = f"Works at {name}"
        yield Finding(slot=Slot.EMPLOYER, content=content, value=name, mode=Mode.ENDED, dated=True)


@READERS.reads(rf"{BE}(?P<value>{STATUSES}){END}")
def _status(found: re.Match[str]) -> Iterator[Finding]:
    value = found["value"]
    yield Finding(slot=Slot.OCCUPATION, content=f"Is {value}", value=value, dated=True)


@READERS.reads(rf"{BE}(?P<value>an? {STUDENTS})\b(?P<rest>.*)")
def _student(found: re.Match[str]) -> Iterator[Finding]:
    school = re.match(r" (?:at|of) (?:the )?(.+)", found["rest"], re.IGNORECASE)
    name = phrases.proper_name(school[1]) if school is not None else None
    value = found["value"] + (f" at {name}" if name else "")
    yield Finding(slot=Slot.OCCUPATION, content=f"Is {value}", value=value, dated=True)


@READERS.reads(
    rf"(?:{ADVERB}works?|{BE}(?:working|employed)|(?:have|has) worked) as (?P<rest>.+)",
    rf"{HAVE}started (?:working |work )?as (?P<rest>.+)",
    rf"(?:{HAVE}been|got|was|were) promoted to(?: be)? (?P<rest>.+)",
    rf"(?:{BE}|{HAVE}(?:became|become) )(?P<rest>an? .+)",
    rf"{BE}(?P<rest>(?:the |our )?(?:head|lead|director|owner|founder|co-founder|ceo|cto|cfo|"
    r"manager)\b.*)",
)
def _occupation(found: re.Match[str]) -> Iterator[Finding]:
    words = found["rest"].split()[: _JOB_WORDS_MAX + 1]
    for count, word in enumerate(words, 1):
        bare = word.strip(_PUNCTUATION).lower()
        following = words[count].strip(_PUNCTUATION).lower() if count < len(words) else ""
        if bare in JOBS and following not in JOBS:
            job = " ".join(words[:count])
            after = " ".join(found["rest"].split()[count:])
            if word[-1].isalnum() and after and not _AFTER_JOB.match(after):
                return
            value = job.strip(_PUNCTUATION)
            yield Finding(
                slot=Slot.OCCUPATION, content=f"Works as {value}", value=value, dated=True
            )
            yield from _where(after)
            return
        if word[-1] in _PUNCTUATION or bare in _NO_JOB:
            return


_AFTER_JOB: Final = re.compile(
    r"(?:at|for|with|in|by|and|from|based|living|who|since|but|so|now|of|on|working|speciali[sz]ing|"
    r"here|there|these|currently|too|myself|again|as|last|yesterday|this|ago)\b|[-\u2013(,]",
    re.IGNORECASE,
)
_NO_JOB: Final = frozenset({"of", "who", "and", "at", "in", "for", "fan", "to", "like", "not"})


def _where(after: str) -> Iterator[Finding]:
    """Read what follows a job: "at Acme", "based in Pune"."""
    at = re.match(r"(?:working )?(?:at|for|with) (?P<rest>.+)", after, re.IGNORECASE)
    if at is not None:
        yield from (finding for finding in _employer(at) if finding.slot is Slot.EMPLOYER)
    origin = re.match(r"(?:originally )?from (.+)", after, re.IGNORECASE)
    named = phrases.place(origin[1]) if origin is not None else None
    if named is not None and not phrases.is_time(named):
        yield Finding(slot=Slot.ORIGIN, content=f"Is from {named}", value=named)
    where = re.search(r"\b(?:based|living) in (?P<rest>.+)", after, re.IGNORECASE)
    if where is not None:
        yield from residence(where)


@READERS.reads(rf"(?:{ADVERB}works?|{BE}working) in (?P<rest>.+)")
def _field(found: re.Match[str]) -> Iterator[Finding]:
    value = re.split(r"[,.;!?]|\b(?:and|but|so|for|at|since|because)\b", found["rest"])[0].strip()
    if value.lower() in FIELDS:
        yield Finding(slot=Slot.OCCUPATION, content=f"Works in {value}", value=value, dated=True)
