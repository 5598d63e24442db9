"""How turns close: at once, or after they waited."""

from __future__ import annotations

from dataclasses import dataclass, replace

from schemas.records import Closing, Outcome, Settled
from schemas.waiting import WaitingTurn


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedTurn:
    """How a turn closed.

    Attributes:
        closing: how; of one that was deferred and then settled, how it closed at last.
        offset: where the outcome that closed it, or deferred it, stands in the memories topic.
        settled_offset: where the outcome stands that settled it; ``None`` unless it was deferred.
        conversation_id: the turn's conversation; ``None`` for what is no turn, and where the
            outcome does not tell it.
    """

    closing: Closing
    offset: int
    settled_offset: int | None = None
    conversation_id: str | None = None

    def can_settle(self, settled: Settled, offset: int) -> bool:
        """Whether the outcome at an offset settles it.

        It does where the turn waits since an earlier one: nothing is settled twice, or by itself,
        and nothing goes back to waiting.
        """
        waits = self.closing is Closing.DEFERRED and self.offset < offset
        return waits and settled.closing is not Closing.DEFERRED

    def settled_by(self, settled: Settled, offset: int) -> ClosedTurn:
        """Return how it closed at last, by the outcome at an offset."""
        return replace(self, closing=settled.closing, settled_offset=offset)


def conversation_of(outcome: Outcome) -> str | None:
    """Return the conversation of the turn that an outcome closes; ``None`` for what is no turn."""
    return outcome.conversation_id if outcome.closes == "turn" else None


def waiting_turn(outcome: Outcome) -> WaitingTurn | None:
    """Return the turn that an outcome lets wait; ``None`` where it does not."""
    if outcome.closing is not Closing.DEFERRED or outcome.deferral is None:
        return None
    return WaitingTurn(
        turn_id=outcome.turn_id, turn_offset=outcome.turn_offset, deferral=outcome.deferral
    )
