"""How a consolidation comes to its outcome: a model looks through what a subject's ledger holds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from processors.asking import Allowed, Asking, Question
from processors.closers.places import Places
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_consolidation, unasked
from processors.extraction import Proposer
from processors.opened import Opened
from processors.partition_state import PartitionState
from processors.ports import Budget
from schemas.commands import ConsolidationStart
from schemas.consolidation import Consolidating
from schemas.memory import Memory
from schemas.proposals import Proposal
from schemas.records import Closing, Outcome

logger = logging.getLogger(__name__)

EPISODES_MAX: Final = 80
"""Most episodes of one consolidation, those behind merged ones included: about 8,000 characters."""

FACTS_MAX: Final = 45
"""Most facts and rules that it is shown, for contradictions, those behind merged ones included.

With the episodes they fit into one question to a model, in which each is compared with each."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidationParts:
    """What closing consolidations needs.

    Attributes:
        asking: gets proposals.
        decider: decides about them.
        places: where outcomes belong.
        proposer: asks the extractor.
        consolidating: gives the memories to look through.
        budget: tells whether a tenant may ask a model.
    """

    asking: Asking
    decider: Decider
    places: Places
    proposer: Proposer
    consolidating: Consolidating
    budget: Budget


class ConsolidationCloser:
    """Closes consolidations."""

    def __init__(self, parts: ConsolidationParts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def outcome(
        self, start: ConsolidationStart, opened: Opened, state: PartitionState
    ) -> Outcome | None:
        """Return what becomes of it; see :class:`~processors.closers.closer.Closer`."""
        parts = self._parts
        if not await parts.asking.is_open(opened, state):
            return None
        occasion, subject = occasion_of_consolidation(start), opened.keys.subject
        if not parts.asking.stands(opened, state) and not await self._allowed(opened):
            outcome = await parts.decider.outcome(
                unasked(occasion),
                None,
                subject=subject,
                keying=opened.keying,
                place=parts.places.of(opened, state),
            )
            # Told apart from one that found nothing: another one has to follow.
            return outcome.model_copy(update={"closing": Closing.DEFERRED})
        proposed = await self._proposal(start, opened, state)
        if proposed is None:
            return None
        proposal, offset = proposed
        return await parts.decider.outcome(
            occasion,
            proposal,
            subject=subject,
            keying=opened.keying,
            place=parts.places.of(opened, state, proposal_offset=offset),
        )

    async def _allowed(self, opened: Opened) -> bool:
        if not self._parts.proposer.consolidates:
            logger.warning("a consolidation is left to another worker: this extractor does none")
            return False
        return await self._parts.budget.exhausted(opened.keys.tenant) is None

    async def _proposal(
        self, start: ConsolidationStart, opened: Opened, state: PartitionState
    ) -> tuple[Proposal, int] | None:
        parts = self._parts
        memories = await parts.consolidating.memories(
            subject=opened.keys.subject, episodes_max=EPISODES_MAX, facts_max=FACTS_MAX
        )

        async def propose(_: Sequence[Memory], allowed: Allowed) -> Proposal:
            return await parts.proposer.propose_consolidation(
                start.turn_id, memories, start.occurred_at, allowed=allowed
            )

        return await parts.asking.proposal(
            opened,
            state,
            Question(
                texts=(),
                known_max=0,
                extractor=parts.proposer.extractor,
                model=parts.proposer.model,
                propose=propose,
            ),
        )
