"""Reconcile: decide what becomes of a record, given what was proposed and what the ledger holds.

:func:`decide` is pure: the same record, proposal, versions and time give the same outcome. The
rules:

- The gate comes first; what it refuses is rejected with every reason, and what nothing speaks
  against but that a person must decide is flagged.
- **Slots of one value.** A new lasting value supersedes what held when it was said, in its lineage;
  what may take the place of what is told in :mod:`processors.deciding.one_value`, where it belongs
  among older and newer ones in :mod:`processors.placement`. What does not hold such a slot is
  treated as in one of many values.
- **Slots of many values.** A new value never displaces another. The same statement, live, confirms,
  in whatever slot it was filed. One that was replaced later than this turn was said is confirmed
  too, so that a late turn never revives it.
- **Update.** With a reference it supersedes within the lineage of that memory, which must be live
  and of the same slot and about; of another slot or about it counts as an addition, since facts of
  different attributes must not retire each other. A second update of the same memory in one
  proposal is an addition, so that neither is lost. Without a reference it is an addition.
- **Retract.** The memory that the reference names, if it is of that slot and about, or the latest
  one of these with the same words, is withdrawn, with the versions next to it in time that state
  the same. What was said again after this turn stays. After a retraction nothing is revived: the
  slot is empty, and the next value begins a new lineage, since what never was true is not replaced
  by anything.
- **A session's turns** are decided in the order in which they were said, each operation with the
  words, time and zone of the turn that it quotes.
- **What a person approved** is carried out as of the time of the flagged words.
- **A consolidation** merges (:mod:`processors.deciding.merging`) and tells of contradictions
  (:mod:`processors.deciding.contradicting`), and states nothing of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.deciding.considered import Considered
from processors.deciding.decision import Decision, reject
from processors.deciding.occasions import Occasion, OccasionKind
from schemas import ids
from schemas.events import (
    FlagApproved,
    FlagRefused,
    MemoryEvent,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Embedding
from schemas.ports import Related
from schemas.records import Closes, Closing, Outcome, Settled

_CLOSES: Final[Mapping[OccasionKind, Closes]] = {
    OccasionKind.TURN: "turn",
    OccasionKind.SESSION: "session-end",
    OccasionKind.SYSTEM_FACT: "curation",
    OccasionKind.PERSON: "curation",
    OccasionKind.FLAG: "curation",
    OccasionKind.CONSOLIDATION: "consolidation",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class LogPlace:
    """Where an outcome belongs in the log.

    Attributes:
        generation: the generation that decides.
        partition, offset: where the record stands that it closes.
        proposal_offset: where the proposal stands; ``None`` where nobody was asked.
        proposals_floor: no turn that is still open has a proposal below this offset.
    """

    generation: str
    partition: int
    offset: int
    proposal_offset: int | None = None
    proposals_floor: int


@dataclass(kw_only=True, slots=True)
class _Events:
    """The events of an outcome, and by turn those that its own words caused."""

    all: list[MemoryEvent] = field(default_factory=list)
    of_turn: dict[UUID, list[MemoryEvent]] = field(default_factory=dict)

    def add(self, events: Iterable[MemoryEvent], turn_id: UUID) -> None:
        caused = list(events)
        self.all.extend(caused)
        self.of_turn.setdefault(turn_id, []).extend(caused)


def decide(
    considered: Considered,
    place: LogPlace,
    *,
    related: Related,
    embeddings: Mapping[int, Embedding],
    similarity_min: float | None = None,
    now: datetime,
) -> Outcome:
    """Decide what becomes of a record.

    Args:
        considered: what is decided, as the gate leaves it.
        place: where the outcome belongs in the log.
        related: every version of one subject, and all that is suppressed, that
            :func:`~processors.deciding.lookups.lookups_for` asks for.
        embeddings: the vectors of the operations' contents, by the operation's index; one that is
            missing gives a memory without a vector.
        similarity_min: the cosine below which two statements are never the same in other words;
            ``None`` where none was measured: then they never are.
        now: the time of the decision, ``recorded_at`` of what it brings forth.

    Returns:
        The outcome. An item that could not be read is rejected as an operation that stands behind
        the readable ones, in the order of ``proposal.invalid``.
    """
    occasion = considered.occasion
    outcome_id = ids.outcome_id(place.generation, occasion.record_id)
    approved = occasion.ruling is not None
    decision = Decision(
        outcome_id=outcome_id,
        related=related,
        similarity_min=similarity_min,
        approved=approved,
        curator=occasion.curator,
        now=now,
    )
    events = _Events(all=_ruled(occasion))
    for item in considered.items:
        events.add(decision.take(item, embeddings.get(item.index)), item.saying.turn_id)
    events.all.extend(
        reject(index, (RejectionReason.INVALID_ITEM,)) for index in considered.unplaced
    )
    return Outcome(
        turn_id=occasion.record_id,
        generation=place.generation,
        turn_partition=place.partition,
        turn_offset=place.offset,
        closing=closing_of(events.all),
        events=tuple(events.all),
        proposal_offset=place.proposal_offset,
        proposals_floor=place.proposals_floor,
        decided_at=now,
        settled=_settled(considered, events),
        closes=_CLOSES[occasion.kind],
        **_asked(considered),
    )


def _asked(considered: Considered) -> dict[str, object]:
    """Return who proposed and what that cost, as an outcome tells it."""
    proposal = considered.proposal
    if proposal is None:
        return {}
    return {"extractor": proposal.extractor, "model": proposal.model, "usage": proposal.usage}


def _ruled(occasion: Occasion) -> list[MemoryEvent]:
    """Return the event of a person's decision, which comes before what it causes."""
    ruling = occasion.ruling
    if ruling is None:
        return []
    event = FlagApproved if ruling.decision.approved else FlagRefused
    return [
        event(
            flag_id=ruling.decision.flag_id,
            actor=ruling.actor,
            reason=ruling.decision.reason,
            decided_at=ruling.decided_at,
        )
    ]


def _settled(considered: Considered, events: _Events) -> tuple[Settled, ...]:
    """Return how each deferred turn closes.

    Where something was refused of which nobody can tell which turn it is of, no turn counts as one
    in which nothing was found: an answer that could not be read is not an empty one.
    """
    occasion = considered.occasion
    if occasion.kind is not OccasionKind.SESSION:
        return ()
    unfound = Closing.REJECTED if considered.unplaced else Closing.NOTHING_FOUND
    decided = [
        Settled(
            turn_id=waiting.turn.turn_id,
            turn_offset=waiting.turn_offset,
            closing=closing_of(events.of_turn.get(waiting.turn.turn_id, ()), unfound),
        )
        for waiting in occasion.waiting
    ]
    return tuple(sorted((*decided, *occasion.settled), key=lambda one: one.turn_offset))


def closing_of(
    events: Sequence[MemoryEvent], without_any: Closing = Closing.NOTHING_FOUND
) -> Closing:
    """Return how a record closes by its events."""
    if not events:
        return without_any
    refused = (ProposalRejected, ProposalFlagged, FlagApproved, FlagRefused)
    if any(not isinstance(event, refused) for event in events):
        return Closing.STORED
    if any(isinstance(event, ProposalFlagged) for event in events):
        return Closing.FLAGGED
    return Closing.REJECTED
