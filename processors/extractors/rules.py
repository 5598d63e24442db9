"""The ``rules`` extractor: offline, deterministic, English.

It states only what a pattern reads out of the user's own assertion: a turn that it does not
understand, in English or in another language, gives nothing. It prefers to miss a fact over noting
one that nobody stated.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Final

from processors.extractors import corrections, statements
from processors.extractors.findings import Mode
from processors.extractors.fingerprint import fingerprint
from processors.extractors.proposals import Draft, operations_of
from processors.extractors.sentences import Clause, clauses
from processors.extractors.statements import Statement, Subject
from processors.moments import Moment, find_moment
from schemas.ports import Extraction, ExtractionRequest, KnownMemory
from schemas.proposals import InvalidItem
from schemas.records import Turn

NAME: Final = "rules"
KNOWN_MAX: Final = 8
"""Enough of the nearest memories for a correction to find what it corrects."""

OPERATIONS_MAX: Final = 200
"""Most operations of one turn. What is beyond is told as an item that could not be read."""

_FINGERPRINT: Final = fingerprint()

_AT_ONCE_CHARACTERS_MAX: Final = 4_000
"""A text of this length that is full of facts takes about 20 ms, measured; a longer one, which may
take seconds, is read in a thread, so that it holds up nobody else's turn."""


class RulesExtractor:
    """Reads facts out of English sentences with patterns.

    Args:
        known_max: how many of the user's nearest memories it asks to be shown. It needs them for
            corrections of what an earlier turn said; with 0, these are left out.
    """

    def __init__(self, *, known_max: int = KNOWN_MAX) -> None:
        self._known_max = known_max

    @property
    def name(self) -> str:
        """The extractor's name."""
        return NAME

    @property
    def model(self) -> str:
        """The extractor's own name: no model is behind it."""
        return NAME

    @property
    def prompt_hash(self) -> str:
        """Fingerprint of the code that decides what is found."""
        return _FINGERPRINT

    @property
    def known_max(self) -> int:
        """How many of the user's nearest memories it wants to be shown."""
        return self._known_max

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose what the turn's text states; it never fails."""
        if len(request.turn.user_text) > _AT_ONCE_CHARACTERS_MAX:
            return await asyncio.to_thread(self._extract, request)
        return self._extract(request)

    def _extract(self, request: ExtractionRequest) -> Extraction:
        operations = operations_of(_drafts(request.turn, request.known), request.known)
        if len(operations) <= OPERATIONS_MAX:
            return Extraction(operations=operations)
        problem = f"{len(operations) - OPERATIONS_MAX} statements beyond {OPERATIONS_MAX} of a turn"
        return Extraction(
            operations=operations[:OPERATIONS_MAX],
            invalid=(InvalidItem(position=OPERATIONS_MAX, problem=problem),),
        )


@dataclass(slots=True)
class _Context:
    """What a clause needs to know of those before it in its sentence."""

    sentence: int = 0
    subject: Subject | None = None
    moment: Moment | None = None
    remembering: bool = False
    greeted: bool = False


def _drafts(turn: Turn, known: tuple[KnownMemory, ...]) -> list[Draft]:
    drafts: list[Draft] = []
    context, greeted = _Context(), False
    for clause in clauses(turn.user_text):
        if clause.sentence != context.sentence:
            # "Hi!" is a sentence of its own, and the name follows in the next one.
            context = _Context(sentence=clause.sentence, greeted=greeted)
            greeted = statements.is_greeting(clause.words)
        words = statements.without_fillers(clause.words).rstrip(" .!?,;:")
        if corrections.is_taken_back(words):
            corrections.take_back(drafts)
            continue
        corrected = corrections.corrected(words, clause, drafts, known)
        if corrected is not None:
            drafts = corrected
            continue
        drafts += _read(words, clause, context, turn)
    return drafts


def _read(words: str, clause: Clause, context: _Context, turn: Turn) -> list[Draft]:
    moment = find_moment(
        words, said_at=turn.occurred_at, utc_offset_minutes=turn.utc_offset_minutes
    )
    if moment is not None and moment.span[0] == 0:
        context.moment = moment
        words = words[moment.span[1] :].lstrip(" ,")
        if not words:
            return []
    context.greeted = context.greeted or statements.is_greeting(clause.words)
    introduced = statements.introduction(words) if context.greeted else None
    if introduced is not None:
        named, words = introduced
        context.greeted = False
        return [
            _draft(named, clause, None, forgotten=False),
            *(_read(words, clause, context, turn) if words else ()),
        ]
    forget = corrections.FORGET.match(words)
    request = corrections.REMEMBER.match(words)
    if request is not None:
        context.remembering = True
        words = words[request.end() :].lstrip(" ,:")
    elif forget is not None:
        words = forget["rest"]
    words = statements.without_fillers(words)
    if not words:
        return []
    found, context.subject = statements.read(
        words, context.subject if clause.continues else None, goes_on=clause.continues
    )
    if not found:
        found = _noted(words, clause, context)
    if forget is not None:
        found = [replace(it, finding=replace(it.finding, mode=Mode.DENIED)) for it in found]
    return [
        _draft(it, clause, moment or context.moment, forgotten=forget is not None) for it in found
    ]


def _noted(words: str, clause: Clause, context: _Context) -> list[Statement]:
    """Return a note of what no pattern reads, where it was asked for or a person should see it."""
    claimed = corrections.claim(words)
    if claimed is not None:
        return [claimed]
    # What goes on without a subject of its own speaks of somebody who is not known here.
    if not context.remembering or clause.continues:
        return []
    return [corrections.note(words)]


def _draft(
    statement: Statement, clause: Clause, moment: Moment | None, *, forgotten: bool
) -> Draft:
    return Draft(
        about=statement.about,
        finding=statement.finding,
        quote=clause.quote,
        sentence=clause.sentence,
        moment=moment if statement.finding.dated else None,
        forgotten=forgotten,
    )
