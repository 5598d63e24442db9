"""Whose words an operation rests on: the user's own, or the assistant's as exactly that."""

from __future__ import annotations

from typing import Final

from processors.about import ABOUT_ASSISTANT, canonical_about
from processors.gate.said import Basis, Said, normal
from processors.own_words import own_words
from schemas.events import RejectionReason
from schemas.memory import MemoryKind
from schemas.proposals import Action, Operation, Speaker
from schemas.slots import Slot

_FROM_MEMORIES: Final = frozenset({Action.MERGE, Action.CONTRADICT})


def evidence_in_own_words(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a quote that the user did not write: not the assistant's words, not pasted ones.

    Of what the assistant said the quote must be in its answer. What a consolidation proposes rests
    on memories, a fact of the operator's systems on those: neither needs a quote. An episode that
    keeps the whole turn is its own evidence.
    """
    if said.basis is Basis.SYSTEM or keeps_whole_turn(operation, said):
        return None
    if said.basis is Basis.MEMORIES and operation.action in _FROM_MEMORIES:
        return None
    if operation.said_by is Speaker.ASSISTANT:
        quote = normal(operation.quote)
        found = bool(quote) and quote in said.assistant_normal
    else:
        quote = own_words(operation.quote)
        found = bool(quote.strip()) and (quote in said.own or normal(quote) in said.own_normal)
    return None if found else RejectionReason.EVIDENCE_NOT_IN_USER_TEXT


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
