"""The gate: the model proposes, code decides what may be kept.

Each rule is a pure function of one operation and its turn, and all of them run, so that one hit
never hides another and their order does not matter.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import Final

from processors.own_words import own_words
from schemas.events import RejectionReason
from schemas.injection import cut_injection
from schemas.proposals import Action, Operation
from schemas.records import Turn
from schemas.slots import Slot

CONTENT_CHARACTERS_MAX: Final = 2_000
"""Most characters of a statement: about 500 tokens, a page's third, which no single fact needs.

The whole of a turn, which the ``verbatim`` extractor keeps, may be as long as the turn is.
"""


class Said:
    """What the user said in a turn, read as the rules need it, once for all operations.

    Args:
        turn: the turn.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn

    @cached_property
    def own(self) -> str:
        """The user's own words."""
        return own_words(self._turn.user_text)

    @cached_property
    def own_normal(self) -> str:
        """The user's own words in the form in which quotes are compared."""
        return _normal(self.own)

    @cached_property
    def whole(self) -> str:
        """The whole text of the turn but for our block of notes."""
        return cut_injection(self._turn.user_text).strip()


Rule = Callable[[Operation, Said], RejectionReason | None]

# Typographic and ASCII forms of a mark count as one: models often change them when they quote.
_MARKS: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    }
)


def refusals(operation: Operation, said: Said) -> tuple[RejectionReason, ...]:
    """Return every reason for which ``operation`` must not be kept; none means that it may be."""
    found = (rule(operation, said) for rule in RULES)
    return tuple(reason for reason in found if reason is not None)


def evidence_in_own_words(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a quote that the user did not write: not the assistant's words, not pasted ones.

    Unicode form, white space and the shape of quotation marks and dashes do not matter; letters
    and their case do. An episode that keeps the whole turn is its own evidence.
    """
    if _keeps_whole_turn(operation, said):
        return None
    quote = own_words(operation.quote)
    if quote.strip() and (quote in said.own or _normal(quote) in said.own_normal):
        return None
    return RejectionReason.EVIDENCE_NOT_IN_USER_TEXT


def content_present(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse a statement without words; a retraction that names a memory needs none."""
    if operation.action is Action.RETRACT and operation.reference is not None:
        return None
    return None if operation.content.strip() else RejectionReason.CONTENT_EMPTY


def content_within_limit(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a statement that is longer than any single fact."""
    if len(operation.content) <= CONTENT_CHARACTERS_MAX or _keeps_whole_turn(operation, said):
        return None
    return RejectionReason.CONTENT_TOO_LONG


def about_named(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse a statement that does not say of whom it speaks."""
    return None if operation.about.strip() else RejectionReason.INVALID_ITEM


RULES: Final[tuple[Rule, ...]] = (
    evidence_in_own_words,
    content_present,
    content_within_limit,
    about_named,
)
"""Every rule of the gate."""


def _keeps_whole_turn(operation: Operation, said: Said) -> bool:
    return (
        operation.slot is Slot.EPISODE
        and bool(operation.content.strip())
        and operation.content == operation.quote
        and operation.content.strip() == said.whole
    )


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_MARKS).split())
