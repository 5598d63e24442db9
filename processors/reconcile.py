"""Deciding about single turns, for callers that ask the ledger and the embedder themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from processors.deciding.considered import consider
from processors.deciding.lookups import Lookups, lookups_for
from processors.deciding.occasions import occasion_of_turn
from processors.deciding.outcome import LogPlace
from processors.deciding.outcome import decide as decide_considered
from schemas.memory import Embedding
from schemas.ports import StoredMemory
from schemas.proposals import Proposal
from schemas.records import Outcome, Turn

__all__ = ["Lookups", "decide", "lookups"]


def lookups(proposal: Proposal, turn: Turn) -> Lookups:
    """Return what ``Ledger.related`` must be asked, at once, for every operation of a proposal."""
    return lookups_for(consider(occasion_of_turn(turn), proposal).items)


def decide(
    *,
    turn: Turn,
    subject_position: tuple[int, int],
    generation: str,
    proposal: Proposal,
    proposal_offset: int,
    proposals_floor: int,
    related: Sequence[StoredMemory],
    embeddings: Mapping[int, Embedding],
    now: datetime,
) -> Outcome:
    """Decide what becomes of the proposal for a turn; see :mod:`processors.deciding.outcome`."""
    partition, offset = subject_position
    return decide_considered(
        consider(occasion_of_turn(turn), proposal),
        LogPlace(
            generation=generation,
            partition=partition,
            offset=offset,
            proposal_offset=proposal_offset,
            proposals_floor=proposals_floor,
        ),
        related=related,
        embeddings=embeddings,
        now=now,
    )
