"""Cut a user's text into the clauses in which the user asserts something about the real world.

What is asked, supposed, imagined, joked, reported of others, quoted or pasted is left out here, so
that the patterns that read the clauses need not know of it. Every step looks at a bounded stretch
of text, so the whole is linear in the text's length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from processors.own_words import own_words

CLAUSE_CHARACTERS_MAX: Final = 400
"""A stretch that is longer without a boundary is no clause that a person wrote; it is not read."""

_BARE_JOKE_CHARACTERS: Final = 24
"""A sentence below it says no more than that something was a joke ("I was just kidding")."""

MASK: Final = "\ufffc"
"""Stands for each character of a quoted passage; no pattern accepts it within a value."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Clause:
    """A stretch of the user's text that asserts something.

    Attributes:
        words: the stretch with straight apostrophes, and with quoted passages masked.
        quote: the same stretch as the user wrote it.
        continues: whether its subject is that of the clause before it ("and work at ...").
        sentence: a number that the clauses of one sentence share.
    """

    words: str
    quote: str
    continues: bool
    sentence: int


def clauses(text: str) -> Iterator[Clause]:
    """Yield the clauses of a turn's text in which the user asserts something, in order."""
    sentence_number = 0
    for paragraph in _paragraphs(own_words(text)):
        kept: list[Clause] = []
        previous: list[Clause] = []
        for original, masked in paragraph:
            if _MATERIAL.search(masked):
                yield from kept
                return
            if _FICTION.search(masked):
                break
            joke = _JOKE.search(masked)
            if joke is not None:
                # "..., just kidding" takes back its own sentence, "Just kidding!" the one before.
                if not masked[: joke.start()].strip(" ,-") or len(masked) < _BARE_JOKE_CHARACTERS:
                    kept = [clause for clause in kept if clause not in previous]
                continue
            sentence_number += 1
            previous = list(_asserted(original, masked, sentence_number))
            kept += previous
        yield from kept


def _paragraphs(text: str) -> Iterator[Iterator[tuple[str, str]]]:
    """Yield each paragraph as its sentences: the text as it stands, and masked."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip():
            lines.append(line)
        elif lines:
            yield _sentences(lines)
            lines = []
    if lines:
        yield _sentences(lines)


def _sentences(lines: list[str]) -> Iterator[tuple[str, str]]:
    for line in lines:
        masked = _masked(line)
        if _transcript(masked) and not _MATERIAL.search(masked):
            continue
        start = 0
        for found in _SENTENCE_END.finditer(masked):
            if _ABBREVIATION.search(masked, max(start, found.start() - 12), found.start()):
                continue
            yield line[start : found.end()], masked[start : found.end()]
            start = found.end()
        yield line[start:], masked[start:]


def _masked(line: str) -> str:
    """Return the line, of the same length, with passages in quotation marks masked."""
    straight = line.translate(_STRAIGHT)
    out: list[str] = []
    at = 0
    opened: re.Match[str] | None = None
    for mark in _QUOTATION_MARK.finditer(straight):
        if opened is None:
            if mark["close"] is None:
                opened = mark
        elif _CLOSING[opened[0]] == mark[0] and mark["open"] is None:
            out.append(straight[at : opened.start()])
            out.append(MASK * (mark.end() - opened.start()))
            at = mark.end()
            opened = None
    out.append(straight[at:])
    return "".join(out)


def _transcript(masked: str) -> bool:
    """Whether the line is somebody's in a pasted conversation ("Tom: ...", "[10:02] Tom: ...")."""
    speaker = _SPEAKER.match(masked)
    if speaker is None:
        return False
    label = speaker[1].lower()
    return label not in _OWN_LABELS and label.split()[-1] not in _OWN_LABEL_ENDS


def _asserted(original: str, masked: str, sentence: int) -> Iterator[Clause]:
    if not _OWN.search(masked) or _LAUGH.search(masked) or _reported(masked):
        return
    for start, end, continues in _declared(masked):
        if end - start > CLAUSE_CHARACTERS_MAX:
            continue
        words = masked[start:end].strip()
        if words and not _CONDITION.search(words):
            offset = start + masked[start:end].index(words)
            quote = original[offset : offset + len(words)]
            yield Clause(words=words, quote=quote, continues=continues, sentence=sentence)


def _declared(masked: str) -> list[tuple[int, int, bool]]:
    """Return the spans in front of the first one that asks or supposes something.

    Of a sentence that ends in a question mark without one that asks, nothing is declared.
    """
    spans = list(_spans(masked))
    asked = masked.rstrip().endswith(("?", "\uff1f"))
    asking = _ASKING if asked else _ASKING_SURELY
    for index, (start, end, _) in enumerate(spans):
        if _REMEMBER_REQUEST.match(masked, start, end):
            asked = False
        elif asking.match(masked, start, end):
            return spans[:index]
        elif _HYPOTHETICAL.search(masked, start, end):
            return [] if asked else spans[:index]
    return [] if asked else spans


def _spans(masked: str) -> Iterator[tuple[int, int, bool]]:
    """Yield start and end of each clause, and whether it takes its subject from the one before."""
    start, continues = 0, False
    for boundary in _BOUNDARY.finditer(masked):
        yield start, boundary.start(), continues
        start, continues = boundary.end(), boundary["elided"] is not None
    yield start, len(masked), continues


def _reported(masked: str) -> bool:
    """Whether somebody other than the user says, thinks or claims something in the sentence."""
    for verb in _REPORTING.finditer(masked):
        before = masked[max(0, verb.start() - 24) : verb.start()].lower().split()[-3:]
        if before[-1:] != ["as"] and not any(word in _SPEAKING_SELF for word in before):
            return True
    return False


_STRAIGHT: Final = str.maketrans({"\u2018": "'", "\u2019": "'", "\u02bc": "'", "\u00a0": " "})
_CLOSING: Final = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb"} | {
    "`": "`",
    "'": "'",
    "\u300c": "\u300d",
}
_QUOTATION_MARK: Final = re.compile(
    r"""["`]|(?P<open>(?<![\w'])'(?=\w)|[\u00ab\u300c\u201e])|(?P<close>(?<=[\w.,!?])'(?!\w)|[\u201d\u00bb\u300d])|\u201c"""
)
# One mark, not a run of them: a run would be tried again from each of its marks.
_SENTENCE_END: Final = re.compile(r"[.!?\u2026\u3002\uff01\uff1f](?=\s|$)")
_ABBREVIATION: Final = re.compile(
    r"(?:\b(?:st|dr|mr|mrs|ms|prof|jr|sr|vs|mt|ft|e\.g|i\.e|approx)|\b\w\.\w|\b[A-Z])$",
    re.IGNORECASE,
)
_SPEAKER: Final = re.compile(
    r"\s*(?:\[[^\]\n]{1,30}\]\s*)?([^\W\d_][\w' ]{0,24})\s*(?:\([^)\n]{1,20}\))?:(?=\s|$)"
)
_OWN_LABELS: Final = frozenset(
    {
        "note",
        "notes",
        "ps",
        "fyi",
        "btw",
        "context",
        "background",
        "me",
        "info",
        "update",
        "reminder",
        "correction",
        "also",
        "important",
        "remember",
        "question",
        "quick question",
        "edit",
        "hi",
        "hey",
        "hello",
        "diet",
        "allergies",
        "about me",
        "about myself",
        "please remember",
        "remember this",
        "for context",
        "some context",
        "a bit about me",
        "important note",
        "please note",
        "side note",
        "for the record",
        "one more thing",
        "keep in mind",
        "just so you know",
        "make a note",
        "note to self",
        "from now on",
        "the thing is",
        "one thing",
        "fun fact",
        "please",
        "actually",
        "sorry",
        "ok",
        "okay",
        "so",
        "well",
        "no",
        "yes",
    }
)
_OWN_LABEL_ENDS: Final = frozenset({"news", "update", "note", "reminder", "fact", "correction"})
"""Last words of labels that nobody is called by: "Big news: I moved"."""

_OWN: Final = re.compile(
    r"\b(?:hi|hello|hey|i|i'\w+|im|ive|my|me|we|we'\w+|our|born|been|moved|relocated|just|recently|finally|remember|forget|"
    r"call|always|never|from now on|actually|it's|that's|note|keep)\b",
    re.IGNORECASE,
)
_MATERIAL: Final = re.compile(
    r"\b(?:translate|proof-?read|rewrite|rephrase|reword|paraphrase|summari[sz]e|edit|polish|"
    r"improve|correct|fix|review|analy[sz]e|check|shorten|convert)\b[^.?!]{0,60}?"
    r"(?::|\b(?:this|these|the following|below)\b)|"
    r"\bhere(?:'s| is| are)\b[^.?!]{0,40}"
    r"\b(?:email|e-mail|text|message|letter|essay|article|post|transcript|chat|conversation|"
    r"lyrics|song|poem|bio|review|code|excerpt|paragraph|draft|quote|story)\b",
    re.IGNORECASE,
)
_FICTION: Final = re.compile(
    r"\b(?:(?<!can't )(?<!cannot )imagine|pretend|suppos(?:e|ing)|role-?play(?:ing)?|"
    r"hypothetically|(?:let'?s|let us) (?:say|assume)|picture this|act as|you(?:'re| are) now|"
    r"in (?:my|the|this|a) (?:story|novel|dream(?! job| house| home))|"
    r"(?:write|tell|compose|draft|create|generate|make up|give)\b[^.?!]{0,40}"
    r"\b(?:story|poem|song|lyrics|dialogue|script|scene|monologue|novel|haiku|speech|character|"
    r"persona|example sentences?|sample)|"
    r"my character|the (?:character|protagonist|narrator))\b",
    re.IGNORECASE,
)
_JOKE: Final = re.compile(
    r"\b(?:kidding|jk|j/k|joking|(?:as|for|is|was|'s|just) a joke|sarcasm|sarcastic)\b|"
    r"(?:^|\s)/s(?:\s|[.!]|$)",
    re.IGNORECASE,
)
_LAUGH: Final = re.compile(r"\b(?:lo+l|lmao|rofl|(?:ha){2,9})[\s.!]{0,3}$", re.IGNORECASE)
_HYPOTHETICAL: Final = re.compile(
    r"\b(?:(?:if|unless|whether|as though) (?:i|we|i'm|i've|my|we're|only|im)\b|what if|wish|"
    r"assum(?:e|ing)|in another life|in theory|theoretically)\b|"
    r"\b(?:for example|for instance)\W*$",
    re.IGNORECASE,
)
_CONDITION: Final = re.compile(
    r"\b(?:if|unless|provided)\b(?! (?:that|it|this) (?:helps|matters|is relevant)| you\b)",
    re.IGNORECASE,
)
_REPORTING: Final = re.compile(
    r"\b(?:says?|said|saying|tells|told|thinks|thought|claims?|claimed|believes|believed|insists?|"
    r"insisted|asks|asked|mentions|mentioned|wrote|writes|texted|replied|answered|assumes|"
    r"assumed|according to|swears|guess(?:es|ed)|accused)\b",
    re.IGNORECASE,
)
_SPEAKING_SELF: Final = frozenset({"i", "i've", "ive", "i'd", "we", "i'll"})

_WH: Final = r"what(?:'s|s)?|where(?:'s)?|when(?:'s)?|who(?:'s)?|whom|whose|why|how(?:'s)?|which"
_AUXILIARY: Final = (
    r"(?:do|does|did|can|could|would|should|shall|will|is|are|am|was|were|have|has|may|might|"
    r"isn't|aren't|don't|doesn't|didn't|can't|couldn't|wouldn't|won't|shouldn't|haven't|ain't)"
)
_PERSON: Final = (
    r"(?:i|you|we|he|she|they|it|this|that|there|my|your|the|these|those|any|anyone|someone)"
)
_CONNECTIVE: Final = r"(?:(?:and|but|so|or|also|then|well|hey|hi|ok|okay|please|now)[\s,]+){0,3}"
_ASKING_SURELY: Final = re.compile(
    rf"[\s,]*{_CONNECTIVE}(?:{_AUXILIARY}\s+{_PERSON}\b|"
    rf"(?:{_WH})\s+(?:{_AUXILIARY}|\w+\s+{_AUXILIARY})\b)",
    re.IGNORECASE,
)
_ASKING: Final = re.compile(
    rf"[\s,]*{_CONNECTIVE}(?:{_AUXILIARY}|{_WH}|any|anything|got|recommend|suggest|give|help|tell|"
    r"show|find|explain|ideas?|thoughts|tips|suggestions|recommendations|know|guess|remember)\b",
    re.IGNORECASE,
)
_SUBJECT: Final = (
    rf"(?:i|i'\w+|im|ive|my|we|we'\w+|he|she|they|it|it's|you|this|that|that's|there|call|please|"
    rf"remember|forget|note|always|never|from now on|said|according|if|unless|any|anything|"
    rf"got|recommend|suggest|give|help|tell|show|find|explain|{_WH}|{_AUXILIARY})\b"
)
_ELIDED: Final = (
    r"(?:(?:i\s+)?(?:works?|lives?|loves?|likes?|hates?|prefers?|enjoys?|dislikes?|moved|grew|don't|"
    r"doesn't|can't|cannot|was|were|have|has|comes?|keep|keeps|eats?|follow|joined|left|quit|"
    r"stopped|am|is|are|based|living|working|allergic|vegan|vegetarian|pescatarian|lactose|"
    r"originally|from|hail|adore|adores|got|became|no\s+longer))\b"
)
# White space is bounded, so that a long run of it is not tried again from each of its blanks.
_BOUNDARY: Final = re.compile(
    rf"""(?:
        \s{{0,3}}[,;:().\u2013\u2014]{{1,3}}\s{{0,3}}(?:(?:and|but|so|because|since|as|although|
            though|while|also|then|plus|now|however|yet),?\s{{1,3}}){{0,2}}(?={_SUBJECT})
      | \s{{1,3}}-{{1,3}}\s{{1,3}}(?={_SUBJECT})
      | ;
      | \s{{1,3}}(?:and|but|so|because|since|although|though|while|plus|yet)\s{{1,3}}
            (?:(?:also|now|then|currently|so)\s{{1,3}}){{0,2}}(?={_SUBJECT})
      | (?P<elided>(?:\s{{0,3}},\s{{0,3}}|\s{{1,3}})(?:and|but)\s{{1,3}}
            (?:(?:also|now|currently|then)\s{{1,3}})?(?={_ELIDED}))
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_REMEMBER_REQUEST: Final = re.compile(
    r"[\s,]*(?:(?:hey|hi|ok|please|and|also)[\s,]+){0,3}(?:can|could|will|would) you (?:please )?"
    r"(?:remember|note|keep in mind|make a note|take note)(?: down)?"
    r"(?::| that\b| (?=i\b|i'm\b|i've\b|my\b))",
    re.IGNORECASE,
)
