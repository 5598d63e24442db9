"""What a worker knows of a partition that it holds."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from uuid import UUID

from processors.known_proposals import KnownProposals
from schemas.log.sealed import LogRecord
from schemas.ports import PartitionProgress
from schemas.proposals import Proposal


@dataclass(kw_only=True, slots=True, eq=False)
class PartitionState:
    """What a worker knows of a partition that it holds.

    Attributes:
        partition: its number.
        progress: how far the ledger had come when the partition was taken over.
        standing: proposals that stood then, by record id, each the append of the lowest offset.
        paid: proposals that this worker appended and whose turns are open, with their offsets.
        known: tells the floor of an outcome.
        ready: set once the projection has caught up and the standing proposals are read.
        claims: how often the partition was claimed; a claim that was lost is told apart by it.
        claiming: held while the partition is claimed again.
    """

    partition: int
    progress: PartitionProgress
    standing: dict[UUID, LogRecord] = field(default_factory=dict)
    paid: dict[UUID, tuple[Proposal, int]] = field(default_factory=dict)
    known: KnownProposals = field(default_factory=KnownProposals)
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    claims: int = 1
    claiming: asyncio.Lock = field(default_factory=asyncio.Lock)

    def appended(self, proposal_id: UUID, proposal: Proposal, offset: int) -> None:
        """Note that a proposal stands at ``offset`` and waits for its outcome."""
        self.paid[proposal_id] = (proposal, offset)
        self.known.appended(proposal_id, offset)

    def closed(self, proposal_id: UUID) -> None:
        """Note that the outcome of the proposal's turn is delivered."""
        self.standing.pop(proposal_id, None)
        self.paid.pop(proposal_id, None)
        self.known.closed(proposal_id)

    def turns_closed_below(self, head: int) -> None:
        """Note that every turn below ``head`` is closed."""
        for proposal_id in self.known.turns_closed_below(head):
            self.standing.pop(proposal_id, None)
            self.paid.pop(proposal_id, None)
