"""What a statement must be before its meaning matters: there, readable, short, of somebody."""

from __future__ import annotations

import unicodedata
from typing import Final

from processors.gate.evidence import keeps_whole_turn
from processors.gate.said import Said
from schemas.events import RejectionReason
from schemas.memory import CONTENT_CHARACTERS_MAX
from schemas.proposals import Action, Operation

IMPORTANCE_MIN: Final = 2
"""Below this a statement is trivia, which is not kept."""

_UNREADABLE_SHARE: Final = 0.2
"""From this share of replacement and control characters on a text was decoded wrongly."""

_SAMPLE: Final = 4_000
_BROKEN: Final = frozenset({"Cc", "Cs", "Co"})
_NAMES_MEMORIES: Final = frozenset({Action.RETRACT, Action.CONTRADICT})


def content_present(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse a statement without words, but for what speaks of a memory that it names."""
    if operation.action in _NAMES_MEMORIES and operation.reference is not None:
        return None
    return None if operation.content.strip() else RejectionReason.CONTENT_EMPTY


def content_within_limit(operation: Operation, said: Said) -> RejectionReason | None:
    """Refuse a statement that is longer than any single fact."""
    if len(operation.content) <= CONTENT_CHARACTERS_MAX or keeps_whole_turn(operation, said):
        return None
    return RejectionReason.CONTENT_TOO_LONG


def content_readable(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse a statement that shows no letter and no number, or is mostly broken characters.

    One without words at all is told as such by another rule.
    """
    content = operation.content
    if not content.strip() or (content.isascii() and content.isprintable() and _shows(content)):
        return None
    sample = content[:_SAMPLE]
    broken = sum(
        character == "\N{REPLACEMENT CHARACTER}"
        or (unicodedata.category(character) in _BROKEN and not character.isspace())
        for character in sample
    )
    if _shows(content) and broken < _UNREADABLE_SHARE * len(sample):
        return None
    return RejectionReason.CONTENT_UNREADABLE


def worth_keeping(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse trivia; what withdraws a memory or tells of a contradiction adds nothing anyway."""
    if operation.importance >= IMPORTANCE_MIN or operation.action in _NAMES_MEMORIES:
        return None
    return RejectionReason.NOT_WORTH_KEEPING


def about_named(operation: Operation, said: Said) -> RejectionReason | None:  # noqa: ARG001 - a rule's shape
    """Refuse a statement that does not say of whom it speaks."""
    return None if operation.about.strip() else RejectionReason.INVALID_ITEM


def _shows(content: str) -> bool:
    return any(map(str.isalnum, content))
