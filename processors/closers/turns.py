"""How a turn comes to its outcome: at once, or by waiting for a session's end or for a budget."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from processors.asking import Allowed, Asking, Question
from processors.closers.places import Places
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_turn
from processors.extraction import Proposer, without_injection
from processors.opened import Opened
from processors.partition_state import PartitionState
from processors.ports import Budget
from schemas.memory import Memory
from schemas.proposals import Proposal
from schemas.records import Closing, Deferral, DeferralCause, Outcome, Turn


class ExtractionMode(StrEnum):
    """When an extractor is asked."""

    TURN = "turn"
    """For each turn, as it comes."""
    SESSION = "session"
    """For all turns of a chat session, once it is over."""
    HYBRID = "hybrid"
    """At once for what the user asks to be remembered or forgotten, else as ``session``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnParts:
    """What closing turns needs.

    Attributes:
        asking: gets proposals.
        proposer: asks the extractor.
        decider: decides about what was proposed.
        places: where outcomes belong.
        budget: tells whether a tenant may ask a model.
        mode: when the extractor is asked.
        wants_it_now: whether a turn asks for something to be remembered or forgotten.
        costs_nothing: whether the extractor finds by itself that a turn holds nothing to ask about.
        clock: the time, aware.
    """

    asking: Asking
    proposer: Proposer
    decider: Decider
    places: Places
    budget: Budget
    mode: ExtractionMode
    wants_it_now: Callable[[Turn], bool]
    costs_nothing: Callable[[Turn], bool]
    clock: Callable[[], datetime]


class TurnCloser:
    """Closes turns."""

    def __init__(self, parts: TurnParts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def outcome(self, turn: Turn, opened: Opened, state: PartitionState) -> Outcome | None:
        """Return what becomes of a turn; see :class:`~processors.closers.closer.Closer`."""
        outcome = await self._outcome(turn, opened, state)
        if outcome is None:
            return None
        return outcome.model_copy(
            update={"recall_id": turn.recall_id, "conversation_id": turn.conversation_id}
        )

    async def _outcome(self, turn: Turn, opened: Opened, state: PartitionState) -> Outcome | None:
        asking = self._parts.asking
        if not asking.stands(opened, state):
            cause = await self._waits_for(turn, opened.keys.tenant)
            if cause is not None:
                still_open = await asking.is_open(opened, state)
                return self._deferred(turn, opened, state, cause) if still_open else None
        return await self._decided(turn, opened, state)

    async def _waits_for(self, turn: Turn, tenant: str | None) -> DeferralCause | None:
        parts = self._parts
        if parts.mode is ExtractionMode.SESSION:
            return DeferralCause.SESSION
        bare = without_injection(turn)
        if parts.mode is ExtractionMode.HYBRID and not parts.wants_it_now(bare):
            return DeferralCause.SESSION
        if parts.costs_nothing(bare) or await parts.budget.exhausted(tenant) is None:
            return None
        return DeferralCause.BUDGET

    def _deferred(
        self, turn: Turn, opened: Opened, state: PartitionState, cause: DeferralCause
    ) -> Outcome:
        place = self._parts.places.of(opened, state)
        return Outcome(
            turn_id=turn.turn_id,
            generation=place.generation,
            turn_partition=place.partition,
            turn_offset=place.offset,
            closing=Closing.DEFERRED,
            proposals_floor=place.proposals_floor,
            decided_at=self._parts.clock(),
            deferral=Deferral(
                conversation_id=turn.conversation_id,
                cause=cause,
                occurred_at=turn.occurred_at,
                received_at=turn.received_at,
            ),
        )

    async def _decided(self, turn: Turn, opened: Opened, state: PartitionState) -> Outcome | None:
        parts = self._parts

        async def propose(known: Sequence[Memory], allowed: Allowed) -> Proposal:
            return await parts.proposer.propose(turn, known, allowed=allowed)

        proposed = await parts.asking.proposal(
            opened,
            state,
            Question(
                texts=(without_injection(turn).user_text,),
                known_max=parts.proposer.known_max,
                extractor=parts.proposer.extractor,
                model=parts.proposer.model,
                propose=propose,
            ),
        )
        if proposed is None:
            return None
        proposal, offset = proposed
        return await parts.decider.outcome(
            occasion_of_turn(turn),
            proposal,
            subject=opened.keys.subject,
            keying=opened.keying,
            place=parts.places.of(opened, state, proposal_offset=offset),
        )
