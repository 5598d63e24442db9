"""Make what closes each kind of record out of a worker's parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from processors.appending import DecisionLog
from processors.asking import Asking
from processors.closers import Closers
from processors.closers.consolidations import ConsolidationCloser, ConsolidationParts
from processors.closers.curations import CurationCloser
from processors.closers.places import Places
from processors.closers.session_summaries import SessionSummaries, SummaryParts
from processors.closers.sessions import SessionCloser, SessionParts
from processors.closers.turns import ExtractionMode, TurnCloser, TurnParts
from processors.deciding.decider import Decider
from processors.extraction import Proposer
from processors.lease import Lease
from processors.ports import Budget, TurnRecords
from schemas.consolidation import Consolidating
from schemas.ports import Embedder, Ledger
from schemas.records import Turn
from schemas.summaries import SummaryWork
from schemas.waiting import WaitingTurns


@dataclass(frozen=True, kw_only=True, slots=True)
class CloserParts:
    """What the closers of one worker share.

    Attributes:
        ledger: the projection's progress and the subject's memories.
        log: appends what was proposed.
        proposer: asks the extractor.
        waiting: tells which turns wait.
        records: reads them again.
        consolidating: gives what a consolidation looks through.
        embedder: gives vectors.
        lease: tells whether our partitions are still ours.
        budget: tells whether a tenant may ask a model.
        summaries: tells which turns no summary tells of; ``None`` where none are to be made.
        mode: when the extractor is asked.
        wants_it_now: whether a turn asks for something to be remembered or forgotten.
        costs_nothing: whether the extractor finds by itself that a turn holds nothing to ask about.
        owner: the name of this worker instance.
        generation: the generation that is written.
        clock: the time, aware.
    """

    ledger: Ledger
    log: DecisionLog
    proposer: Proposer
    waiting: WaitingTurns
    records: TurnRecords
    consolidating: Consolidating
    embedder: Embedder
    lease: Lease
    budget: Budget
    mode: ExtractionMode
    wants_it_now: Callable[[Turn], bool]
    costs_nothing: Callable[[Turn], bool]
    owner: str
    generation: str
    clock: Callable[[], datetime]
    summaries: SummaryWork | None = None


def make_closers(parts: CloserParts) -> Closers:
    """Wire what closes each kind of record."""
    asking = Asking(
        ledger=parts.ledger,
        log=parts.log,
        embedder=parts.embedder,
        lease=parts.lease,
        budget=parts.budget,
        owner=parts.owner,
        generation=parts.generation,
    )
    decider = Decider(ledger=parts.ledger, embedder=parts.embedder, clock=parts.clock)
    places = Places(asking, generation=parts.generation)
    return Closers(
        turns=TurnCloser(
            TurnParts(
                asking=asking,
                decider=decider,
                places=places,
                proposer=parts.proposer,
                budget=parts.budget,
                mode=parts.mode,
                wants_it_now=parts.wants_it_now,
                costs_nothing=parts.costs_nothing,
                clock=parts.clock,
            )
        ),
        curations=CurationCloser(asking=asking, decider=decider, places=places),
        sessions=SessionCloser(
            SessionParts(
                asking=asking,
                decider=decider,
                places=places,
                proposer=parts.proposer,
                waiting=parts.waiting,
                records=parts.records,
                budget=parts.budget,
                summaries=SessionSummaries(
                    SummaryParts(
                        work=parts.summaries,
                        records=parts.records,
                        proposer=parts.proposer,
                        clock=parts.clock,
                    )
                ),
            )
        ),
        consolidations=ConsolidationCloser(
            ConsolidationParts(
                asking=asking,
                decider=decider,
                places=places,
                proposer=parts.proposer,
                consolidating=parts.consolidating,
                budget=parts.budget,
            )
        ),
    )
