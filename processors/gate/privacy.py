"""Private matters: what of the user is kept only when asked for, and what of others never is.

Sensitive are health, medication, orientation, religion, politics, union, ethnicity, record and
status. Allergies, diet and what safety or access asks for are kept; the diagnosis behind them is a
private matter as any other. Of other people it is also how to reach them, where exactly they live
and what they earn; their birthdays, which one wants to be reminded of, are not.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from processors.about import canonical_about
from processors.gate.conditions import CONDITIONS, HAVING, MEDICATION, MOODS, OCCASIONS, TOPICS
from processors.gate.evidence import keeps_whole_turn
from processors.gate.persons import speaks_of_other
from processors.gate.reading import Reading
from processors.gate.requests import asked_at, asked_to_remember
from processors.gate.said import Basis, Said
from processors.gate.traits import ABOUT, ANIMALS, BEING, NAMED, PHRASES, TRAIT_OF_THING, TRAITS
from schemas.events import RejectionReason
from schemas.memory import ABOUT_ASSISTANT, ABOUT_USER
from schemas.proposals import Action, Operation

_CLAUSE_END: Final = re.compile(
    r"[.!?;:,\n\u3001\u3002\uff0c\uff01\uff1f\uff1b\u0964]|\b(?:but|and|so|because|aber|und|"
    r"deshalb|weil|pero|y|"
    r"porque|mais|et|donc|car|और|लेकिन)\b"
)
_CLAUSE_CHARACTERS_MAX: Final = 300
_HITS_MAX: Final = 300
"""Words of each sort that are looked at in a text, so that a wall of them takes no second."""

_HAVING_WORDS: Final = 4
_BEING_WORDS: Final = 3
_BARE_WORDS: Final = 3
"""A statement of so few words that names a trait says that the user is it: "Catholic"."""

_ALLERGY: Final = re.compile(r"allerg|alergi|intoleran|unvertraglich|过敏|アレルギー|एलर्जी")

_EMAIL: Final = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_ROLE: Final = re.compile(
    r"^(?:info|support|sales|contact|hello|office|help|kontakt|service|mail|team|admin|press)@"
)
_PHONE: Final = re.compile(r"(?<![A-Za-z0-9_.])\+?\(?\d(?:[ ()/.-]{0,2}\d){6,14}(?![A-Za-z0-9_])")
_CALLED_PHONE: Final = re.compile(
    r"phone|number|mobile|cell|whatsapp|call|reach|tel\b|telefon|nummer|handy|numero|movil|celular|"
    r"portable|电话|手机|号码|電話|番号|फोन|नंबर|मोबाइल|\\+\\d"
)
_STREET: Final = re.compile(
    r"\b\d{1,5}[a-z]? (?:[\w']+ ){1,3}(?:street|st|road|rd|avenue|ave|lane|drive|boulevard|"
    r"blvd|court|"
    r"place|terrace|crescent|close|way)\b"
    r"|\b[\w-]{0,40}(?:strasse|str\.|weg|gasse|allee|platz) \d{1,4}[a-z]?\b"
    r"|\b(?:calle|avenida|plaza|paseo) (?:[\w]+ ){1,4}\d{1,4}\b"
    r"|\b\d{1,4}(?: bis)?,? (?:rue|avenue|boulevard|place|chemin|allee) "
    "|[路街巷]\\d{1,5}号|丁目\\s?\\d|\\d{1,4}番地"
)
_PAY: Final = re.compile(
    r"\b(?:earns?|makes?|salary|income|paid|pay is|gets paid|wage|verdient?|gehalt|lohn|gana|"
    r"sueldo|"
    r"salario|gagne|salaire)\b[^\n.!?]{0,40}?\d[\d.,]{2,}|\b(?:earns?|makes?|verdient|gana|gagne)\b"
    r"[^\n.!?]{0,20}?\d+ ?k\b"
    "|(?:工资|月薪|年薪|收入|月給|年収|給料|तनख्वाह|वेतन)[^\n]{0,12}\\d"
)
_ORGANISATION: Final = re.compile(
    r"\b(?:company|business|shop|store|clinic|restaurant|hotel|office|school|practice|bank|hotline|"
    r"helpline|salon|garage|pharmacy|university|firma|laden|praxis|hotel|schule|empresa|tienda|"
    r"entreprise|magasin)\b|公司|店|会社"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Matter:
    """A private matter that a text tells.

    Attributes:
        start, end: where its words stand in the folded text.
        of_other: whether it is somebody else's.
    """

    start: int
    end: int
    of_other: bool


def no_sensitive_category(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a sensitive matter of the user, unless the user asked for it to be remembered."""
    if operation.action is Action.RETRACT or not _own_matters(operation, said):
        return None
    if said.basis is Basis.MEMORIES and _known(operation, said):
        return None
    if said.basis is Basis.TURN and _asked(operation, said):
        return None
    return RejectionReason.SENSITIVE_CATEGORY


def no_third_person_data(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse private matters of other people: they did not ask for any of it to be remembered."""
    if operation.action is Action.RETRACT:
        return None
    told = any(matter.of_other for matter in said.once_read(matters, operation.quote))
    if _is_of_other(operation):
        content = said.reading(operation.content)
        if ANIMALS.occur(content):
            return None
        told = told or any(said.once_read(matters, operation.content)) or _reaches(content)
    else:
        told = told or any(
            any(matter.of_other for matter in said.once_read(matters, text))
            or said.once_read(_reaches_other, text)
            for text in (operation.content, operation.quote)
        )
    return RejectionReason.THIRD_PERSON_PRIVATE if told else None


def matters(reading: Reading) -> tuple[Matter, ...]:
    """Return the sensitive matters of a person that a text tells."""
    return tuple(_matters(reading))


def _matters(reading: Reading) -> Iterator[Matter]:
    for start, end in islice(CONDITIONS.found(reading), _HITS_MAX):
        if _is_had(reading, start) and not _is_mood(reading, start, end):
            yield _matter(reading, start, end)
    for start, end in islice(MEDICATION.found(reading), _HITS_MAX):
        clause = _clause(reading.folded, start)
        if not _ALLERGY.search(reading.folded, *clause) and not _is_topic(reading, clause):
            yield _matter(reading, start, end)
    for start, end in islice(TRAITS.found(reading), _HITS_MAX):
        if _is_trait(reading, start, end):
            yield _matter(reading, start, end)
    for start, end in islice(PHRASES.found(reading), _HITS_MAX):
        if not _is_animals(reading, start):
            yield _matter(reading, start, end)


def _own_matters(operation: Operation, said: Said) -> bool:
    if _is_of_other(operation):
        return False
    texts = dict.fromkeys((operation.content, operation.quote))
    return any(not matter.of_other for text in texts for matter in said.once_read(matters, text))


def _known(operation: Operation, said: Said) -> bool:
    """Tell whether the memories that are merged hold the matter already: it was let in before."""
    known = said.reading(said.own).folded
    content = said.reading(operation.content).folded
    return all(
        content[matter.start : matter.end] in known
        for matter in said.once_read(matters, operation.content)
    )


def _asked(operation: Operation, said: Said) -> bool:
    if not keeps_whole_turn(operation, said):
        return asked_to_remember(said, operation.quote)
    told = said.once_read(matters, said.own)
    return len(told) < _HITS_MAX and all(asked_at(said, matter.start) for matter in told)


def _is_of_other(operation: Operation) -> bool:
    return canonical_about(operation.about) not in {ABOUT_USER, ABOUT_ASSISTANT, ""}


def _matter(reading: Reading, start: int, end: int) -> Matter:
    begin, _ = _clause(reading.folded, start)
    return Matter(start=start, end=end, of_other=speaks_of_other(reading, begin, start))


def _clause(folded: str, place: int) -> tuple[int, int]:
    """Return where the clause around a place begins and ends."""
    window = max(0, place - _CLAUSE_CHARACTERS_MAX)
    start = window
    for mark in _CLAUSE_END.finditer(folded, window, place):
        start = mark.end()
    following = _CLAUSE_END.search(folded, place, place + _CLAUSE_CHARACTERS_MAX)
    return start, following.start() if following else min(
        len(folded), place + _CLAUSE_CHARACTERS_MAX
    )


def _is_had(reading: Reading, start: int) -> bool:
    """Tell whether a condition is somebody's, and not the topic of a course or a book."""
    if _is_animals(reading, start):
        return False
    clause = _clause(reading.folded, start)
    if not _is_topic(reading, clause):
        return True
    place = _place(reading, start)
    near = [
        word
        for word in reading.words[max(0, place - _HAVING_WORDS) : place]
        if word.start >= clause[0]
    ]
    if not near:
        return False
    return HAVING.occur(reading, near[0].start, start) and not TOPICS.occur(
        reading, near[0].start, start
    )


def _is_mood(reading: Reading, start: int, end: int) -> bool:
    if reading.folded[start:end] not in MOODS:
        return False
    behind = _place(reading, end)
    return behind < len(reading.words) and reading.words[behind].text in OCCASIONS


def _is_topic(reading: Reading, clause: tuple[int, int]) -> bool:
    return TOPICS.occur(reading, *clause)


def _is_animals(reading: Reading, start: int) -> bool:
    begin, _ = _clause(reading.folded, start)
    return ANIMALS.occur(reading, begin, start)


def _is_trait(reading: Reading, start: int, end: int) -> bool:
    """Tell whether somebody is said to be it."""
    if _is_animals(reading, start):
        return False
    if not reading.folded[start:end].isascii() and reading.unspaced:
        return not _is_topic(reading, _clause(reading.folded, start))
    place, behind = _place(reading, start), _place(reading, end)
    following = reading.words[behind].text if behind < len(reading.words) else ""
    clause = _clause(reading.folded, start)
    before = [word.text for word in reading.words[max(0, place - _BEING_WORDS) : place]]
    if following in TRAIT_OF_THING or not (NAMED | ABOUT).isdisjoint(before):
        return False
    if not reading.folded[start:end].isascii():
        return True
    inside = [
        word.text
        for word in reading.words[max(0, place - _BEING_WORDS) : place]
        if word.start >= clause[0]
    ]
    if not BEING.isdisjoint(inside):
        return True
    return not following and len(reading.words) <= _BARE_WORDS


def _place(reading: Reading, position: int) -> int:
    """Return the number of the first word that begins at or behind a position."""
    return bisect_left(reading.words, position, key=lambda word: word.start)


def _reaches(reading: Reading) -> bool:
    """Tell whether a text says how to reach somebody, where they live or what they earn."""
    return next(_contacts(reading), None) is not None


def _reaches_other(reading: Reading) -> bool:
    """Tell whether a text says so of somebody else than the user."""
    return any(
        speaks_of_other(reading, _sentence(reading.folded, place), place)
        for place in _contacts(reading)
    )


def _contacts(reading: Reading) -> Iterator[int]:
    """Yield where an address, a telephone number or an income of a person is told."""
    folded = reading.folded
    if not reading.has_digit and "@" not in folded:
        return
    if _ORGANISATION.search(folded) is not None:
        return
    for found in _EMAIL.finditer(folded):
        if _ROLE.match(found[0]) is None:
            yield found.start()
    if _CALLED_PHONE.search(folded) is not None:
        for found in _PHONE.finditer(folded):
            yield found.start()
    for pattern in (_STREET, _PAY):
        for found in pattern.finditer(folded):
            yield found.start() + 1 if found[0][0].isdigit() else found.end()


def _sentence(folded: str, place: int) -> int:
    window = max(0, place - _CLAUSE_CHARACTERS_MAX)
    return max(folded.rfind(mark, window, place) for mark in ".!?\n\u3002\u0964") + 1 or window
