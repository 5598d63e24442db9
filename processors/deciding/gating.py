"""What the gate says of an operation, given what the operation rests on."""

from __future__ import annotations

from typing import Final

from processors.deciding.occasions import STATING, Occasion, OccasionKind, Saying
from processors.gate import Said, refusals
from schemas.events import RejectionReason
from schemas.memory import MemoryKind
from schemas.proposals import Action, Operation, Speaker
from schemas.records import Origin, Turn
from schemas.slots import Slot

IMPOSSIBLE: Final = frozenset(
    {
        RejectionReason.CONTENT_EMPTY,
        RejectionReason.CONTENT_UNREADABLE,
        RejectionReason.INVALID_ITEM,
    }
)
"""What no approval makes possible: there is nothing that could be stored."""

_EVIDENCE: Final = frozenset(
    {RejectionReason.EVIDENCE_NOT_IN_USER_TEXT, RejectionReason.ASSISTANT_WORDS}
)


class Gate:
    """The gate before one decision: what was said is read once for all operations of a turn."""

    def __init__(self, occasion: Occasion) -> None:
        self._occasion = occasion
        self._said = {
            saying.turn_id: Said(saying.turn)
            for saying in occasion.sayings
            if saying.turn is not None
        }

    def refusals(self, operation: Operation, saying: Saying) -> tuple[RejectionReason, ...]:
        """Return every reason for which an operation must not be carried out.

        What a person approved is refused only for what makes it impossible.
        """
        return (*self._asked(operation, saying), *_assistants(operation))

    def _asked(self, operation: Operation, saying: Saying) -> tuple[RejectionReason, ...]:
        said = self._said.get(saying.turn_id)
        if said is not None:
            return refusals(operation, said)
        found = refusals(operation, _unspoken(saying))
        if self._occasion.kind is OccasionKind.FLAG:
            return tuple(reason for reason in found if reason in IMPOSSIBLE)
        return tuple(reason for reason in found if reason not in _EVIDENCE)


def _unspoken(saying: Saying) -> Said:
    """Return what the rules read where no text is behind an operation."""
    return Said(
        Turn(
            turn_id=saying.turn_id,
            conversation_id=saying.conversation_id,
            user_text="",
            assistant_text=None,
            occurred_at=saying.said_at,
            utc_offset_minutes=saying.utc_offset_minutes,
            received_at=saying.said_at,
            origin=Origin.HTTP,
        )
    )


def _assistants(operation: Operation) -> tuple[RejectionReason, ...]:
    """Refuse what the assistant said as anything but an episode: it knows nothing of the user."""
    if operation.said_by is Speaker.USER or operation.action not in STATING:
        return ()
    kept = (
        operation.action is Action.ADD
        and operation.kind is MemoryKind.EPISODIC
        and operation.slot is Slot.EPISODE
    )
    return () if kept else (RejectionReason.ASSISTANT_WORDS,)
