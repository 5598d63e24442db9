"""What the gate says of an operation, given what the operation rests on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from processors.deciding.occasions import Occasion, OccasionKind, Saying
from processors.gate import Said, narrowed, refusals
from schemas.events import RejectionReason
from schemas.memory import Memory, Provenance
from schemas.proposals import Operation

IMPOSSIBLE: Final = frozenset(
    {
        RejectionReason.CONTENT_EMPTY,
        RejectionReason.CONTENT_UNREADABLE,
        RejectionReason.INVALID_ITEM,
    }
)
"""What no approval makes possible: there is nothing that could be stored."""

UNASKED: Final = frozenset(
    {
        RejectionReason.NOT_WORTH_KEEPING,
        RejectionReason.SENSITIVE_CATEGORY,
        RejectionReason.THIRD_PERSON_PRIVATE,
    }
)
"""What a person may have remembered who asks for it."""

_UNSPOKEN: Final = Said.by_system()


class Gate:
    """The gate before one decision: what was said is read once for all operations of a turn."""

    def __init__(self, occasion: Occasion) -> None:
        self._approved = occasion.kind is OccasionKind.FLAG
        self._by_person = occasion.kind is OccasionKind.PERSON
        self._said = {
            saying.turn_id: Said(saying.turn)
            for saying in occasion.sayings
            if saying.turn is not None
        }
        for saying in occasion.sayings:
            if saying.provenance is not None:
                self._said[saying.turn_id] = Said.by_system(_texts(saying.provenance))

    def narrowed(self, operation: Operation, saying: Saying) -> Operation:
        """Return an operation without the part of its quote that must not be kept."""
        said = self._said.get(saying.turn_id)
        return operation if said is None else narrowed(operation, said)

    def refusals(self, operation: Operation, saying: Saying) -> tuple[RejectionReason, ...]:
        """Return every reason for which an operation must not be carried out.

        What a person approved is refused only for what makes it impossible.
        """
        if self._by_person:
            return refusals_of_person(operation)
        reasons = refusals(operation, self._said.get(saying.turn_id, _UNSPOKEN))
        return _impossible(reasons) if self._approved else reasons


def refusals_of_person(operation: Operation) -> tuple[RejectionReason, ...]:
    """Return every reason for which what a person states must not be held.

    It needs no words of a turn as evidence, and it may tell what a person must ask for.
    """
    reasons = refusals(operation, Said.by_person())
    return tuple(reason for reason in reasons if reason not in UNASKED)


def refusals_by_memories(
    operation: Operation, memories: Iterable[Memory], *, approved: bool
) -> tuple[RejectionReason, ...]:
    """Return every reason for which what a consolidation proposes must not be carried out.

    Args:
        operation: a merge or a contradiction.
        memories: those that it names, as far as they are known.
        approved: whether a person approved it.
    """
    reasons = refusals(operation, Said.in_memories([memory.content for memory in memories]))
    return _impossible(reasons) if approved else reasons


def _texts(provenance: Provenance) -> tuple[str, ...]:
    told = (provenance.system, provenance.type, provenance.reference)
    return tuple(text for text in told if text is not None)


def _impossible(reasons: Iterable[RejectionReason]) -> tuple[RejectionReason, ...]:
    return tuple(reason for reason in reasons if reason in IMPOSSIBLE)
