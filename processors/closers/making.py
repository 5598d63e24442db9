"""Make what closes each kind of record out of a worker's parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from processors.appending import DecisionLog
from processors.asking import Asking
from processors.closers import Closers
from processors.closers.turns import ExtractionMode, TurnCloser, TurnParts
from processors.extraction import Proposer
from processors.lease import Lease
from processors.ports import Budget
from schemas.ports import Embedder, Ledger
from schemas.records import Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class CloserParts:
    """What the closers of one worker share.

    Attributes:
        ledger: the projection's progress and the subject's memories.
        log: appends what was proposed.
        proposer: asks the extractor.
        embedder: gives vectors.
        lease: tells whether our partitions are still ours.
        budget: tells whether a tenant may ask a model.
        mode: when the extractor is asked.
        wants_it_now: whether a turn asks for something to be remembered or forgotten.
        owner: the name of this worker instance.
        generation: the generation that is written.
        clock: the time, aware.
    """

    ledger: Ledger
    log: DecisionLog
    proposer: Proposer
    embedder: Embedder
    lease: Lease
    budget: Budget
    mode: ExtractionMode
    wants_it_now: Callable[[Turn], bool]
    owner: str
    generation: str
    clock: Callable[[], datetime]


def make_closers(parts: CloserParts) -> Closers:
    """Wire what closes each kind of record."""
    asking = Asking(
        ledger=parts.ledger,
        log=parts.log,
        embedder=parts.embedder,
        lease=parts.lease,
        owner=parts.owner,
        generation=parts.generation,
    )
    return Closers(
        turns=TurnCloser(
            TurnParts(
                asking=asking,
                proposer=parts.proposer,
                ledger=parts.ledger,
                embedder=parts.embedder,
                budget=parts.budget,
                mode=parts.mode,
                wants_it_now=parts.wants_it_now,
                generation=parts.generation,
                clock=parts.clock,
            )
        )
    )
