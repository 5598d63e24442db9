"""Whose words an operation rests on: the user's own, or the assistant's as exactly that.

A quote must stand in them as words and be long enough to say something. What it says must bear the
statement out, as far as that can be told without understanding it; of a memory that is withdrawn
the statement is not known here.
"""

from __future__ import annotations

from typing import Final

from processors.about import canonical_about
from processors.gate.said import Basis, Said, normal
from processors.gate.support import (
    bears_out,
    is_long_enough,
    is_repeated,
    says_something,
    stands_in,
)
from processors.own_words import own_words
from schemas.events import RejectionReason
from schemas.memory import ABOUT_ASSISTANT, MemoryKind
from schemas.proposals import Action, Operation, Speaker
from schemas.slots import Slot

_FROM_MEMORIES: Final = frozenset({Action.MERGE, Action.CONTRADICT})
_NAMES_MEMORIES: Final = frozenset({Action.RETRACT, Action.CONTRADICT})


def evidence_in_own_words(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a quote that the user did not write, or that does not bear the statement out.

    The assistant's words and pasted ones are not the user's. Of what the assistant said the quote
    must be in its answer. What a consolidation proposes rests on memories, a fact of the operator's
    systems on those, what a person decides on that decision: none needs a quote. An episode that
    keeps the whole turn is its own evidence.
    """
    if said.basis.without_words or keeps_whole_turn(operation, said):
        return None
    if said.basis is Basis.MEMORIES and operation.action in _FROM_MEMORIES:
        return None
    if _is_said(operation, said) and _is_evidence(operation, said):
        return None
    return RejectionReason.EVIDENCE_NOT_IN_USER_TEXT


def _is_said(operation: Operation, said: Said) -> bool:
    if operation.said_by is Speaker.ASSISTANT:
        return stands_in(normal(operation.quote), said.assistant_normal)
    if stands_in(normal(operation.quote), said.own_normal):
        return True
    # It may run over lines that are not the user's, which stand in its midst.
    return stands_in(normal(own_words(operation.quote)), said.own_normal)


def _is_evidence(operation: Operation, said: Said) -> bool:
    quote = said.reading(operation.quote)
    if not is_long_enough(quote):
        # What is all that the user wrote answers a question, however short it is.
        answers = said.basis is Basis.TURN and operation.quote.strip() == said.own.strip()
        return answers and is_repeated(quote, said.reading(operation.content))
    if operation.action in _NAMES_MEMORIES:
        return says_something(quote)
    return bears_out(quote, map(said.reading, (operation.content, operation.about)))


def assistant_words_attributed(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse the assistant's words as anything but an episode about the assistant."""
    if operation.said_by is not Speaker.ASSISTANT:
        return None
    attributed = (
        operation.action is Action.ADD
        and operation.kind is MemoryKind.EPISODIC
        and operation.slot is Slot.EPISODE
        and canonical_about(operation.about) == ABOUT_ASSISTANT
    )
    return None if attributed else RejectionReason.ASSISTANT_WORDS


def keeps_whole_turn(operation: Operation, said: Said) -> bool:
    """Tell whether an operation is the episode of the whole turn, in its own words."""
    return (
        operation.slot is Slot.EPISODE
        and operation.said_by is Speaker.USER
        and bool(operation.content.strip())
        and operation.content == operation.quote
        and operation.content.strip() == said.whole
    )
