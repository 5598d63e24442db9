"""What an outcome is decided for, and whose words, when and where, its operations rest on.

A turn, the end of a session, a curation and a consolidation differ in what they are; to a decision
they are alike: a :class:`Occasion` with the :class:`Saying` that each operation rests on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from schemas.commands import (
    ConsolidationStart,
    Curation,
    FlagDecision,
    PersonRemembers,
    SessionEnd,
    SystemFact,
)
from schemas.memory import Confidence, Provenance, Source
from schemas.proposals import Action, Operation
from schemas.records import Settled, Turn


class OccasionKind(StrEnum):
    """What sort of record an outcome is decided for."""

    TURN = "turn"
    SESSION = "session"
    SYSTEM_FACT = "system_fact"
    PERSON = "person"
    """A person states something."""
    FLAG = "flag"
    CONSOLIDATION = "consolidation"


STATING: Final = frozenset({Action.ADD, Action.UPDATE, Action.RETRACT})
"""The actions that rest on somebody's words."""

CONSOLIDATING: Final = frozenset({Action.MERGE, Action.CONTRADICT})
"""The actions that rest on what the ledger holds."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Saying:
    """Whose words, when and where.

    Attributes:
        turn_id: the turn that holds them, or the record that stands in for one.
        conversation_id: its conversation; empty without one.
        said_at: when they were said, which decides where a statement belongs in time.
        utc_offset_minutes: the zone that they were said in.
        source: who vouches for what a user's operation states.
        turn: the turn itself; ``None`` where no text is behind it.
        provenance: the operator's system that it comes from, if it does.
        curated_at: when a person decided that what it states is to be held; ``None`` where a model
            proposes it.
    """

    turn_id: UUID
    conversation_id: str
    said_at: datetime
    utc_offset_minutes: int
    source: Source
    turn: Turn | None = None
    provenance: Provenance | None = None
    curated_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingText:
    """A deferred turn that a session's end settles.

    Attributes:
        turn: the turn, as it was accepted.
        turn_offset: where it stands in the log.
    """

    turn: Turn
    turn_offset: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Occasion:
    """What an outcome is decided for. Made by one of the functions below.

    Attributes:
        kind: what sort of record it is.
        record_id: the record's own id, which is the outcome's ``turn_id``.
        sayings: what operations may rest on, in the order in which it was said.
        actions: what may be done for such a record.
        operations: what is to be done, where no model is asked; ``None`` where a proposal tells.
        waiting: the deferred turns that this settles.
        settled: deferred turns that were closed otherwise: erased, or dead letters.
        ruling: a person's decision about a flag, with who decided and when.
        curator: the person who states something, or approved it.
    """

    kind: OccasionKind
    record_id: UUID
    sayings: tuple[Saying, ...]
    actions: frozenset[Action]
    operations: tuple[Operation, ...] | None = None
    waiting: tuple[WaitingText, ...] = ()
    settled: tuple[Settled, ...] = ()
    ruling: Ruling | None = None
    curator: Curator | None = None

    def saying_of(self, operation: Operation) -> Saying | None:
        """Return what an operation rests on; ``None`` where it names no turn of this occasion.

        With a session's turns before it, an operation must say which one it quotes.
        """
        if operation.turn_id is None:
            return None if self.kind is OccasionKind.SESSION else self.sayings[0]
        named = (saying for saying in self.sayings if saying.turn_id == operation.turn_id)
        return next(named, None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Ruling:
    """A person's decision about a flag.

    Attributes:
        decision: what was decided.
        actor: who decided.
        decided_at: when.
    """

    decision: FlagDecision
    actor: str
    decided_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Curator:
    """A person who states something, or approved what a model proposed.

    Attributes:
        actor: who it is.
        turn_id: the curation.
        pins: whether it is to be served whatever is asked.
    """

    actor: str
    turn_id: UUID
    pins: bool = False


def occasion_of_turn(turn: Turn) -> Occasion:
    """Return the occasion that a turn is."""
    return Occasion(
        kind=OccasionKind.TURN,
        record_id=turn.turn_id,
        sayings=(_saying_of_turn(turn),),
        actions=STATING,
    )


def occasion_of_session(
    end: SessionEnd, waiting: Sequence[WaitingText], settled: Sequence[Settled] = ()
) -> Occasion:
    """Return the occasion that the end of a session is.

    Args:
        end: the record.
        waiting: the deferred turns that were read for it, in any order.
        settled: the deferred turns that were not read, with how they close.
    """
    ordered = sorted(waiting, key=lambda one: (one.turn.occurred_at, one.turn_offset))
    return Occasion(
        kind=OccasionKind.SESSION,
        record_id=end.turn_id,
        sayings=tuple(_saying_of_turn(one.turn) for one in ordered),
        actions=STATING,
        waiting=tuple(ordered),
        settled=tuple(settled),
    )


def occasion_of_curation(curation: Curation) -> Occasion:
    """Return the occasion that a curation is; it needs no proposal.

    Raises:
        ValueError: it is about a memory that is held: :mod:`processors.deciding.curating` decides.
    """
    match curation.decision:
        case SystemFact() as fact:
            return _occasion_of_system_fact(curation, fact)
        case FlagDecision() as decision:
            return _occasion_of_flag_decision(curation, decision)
        case PersonRemembers() as remembers:
            return _occasion_of_person(curation, remembers)
        case decision:
            raise ValueError(f"a {decision.decision} states nothing of its own")


def occasion_of_consolidation(start: ConsolidationStart) -> Occasion:
    """Return the occasion that a consolidation is."""
    saying = Saying(
        turn_id=start.turn_id,
        conversation_id="",
        said_at=start.occurred_at,
        utc_offset_minutes=0,
        source=Source.USER,
    )
    return Occasion(
        kind=OccasionKind.CONSOLIDATION,
        record_id=start.turn_id,
        sayings=(saying,),
        actions=CONSOLIDATING,
    )


def unasked(occasion: Occasion) -> Occasion:
    """Return an occasion for which no model is asked, so that nothing is to be done for it."""
    return replace(occasion, operations=())


def _occasion_of_system_fact(curation: Curation, fact: SystemFact) -> Occasion:
    saying = Saying(
        turn_id=curation.turn_id,
        conversation_id="",
        said_at=curation.occurred_at,
        utc_offset_minutes=curation.utc_offset_minutes,
        source=Source.SYSTEM,
        provenance=fact.provenance,
    )
    return Occasion(
        kind=OccasionKind.SYSTEM_FACT,
        record_id=curation.turn_id,
        sayings=(saying,),
        actions=frozenset({Action.ADD}),
        operations=(_addition(fact),),
    )


def _occasion_of_person(curation: Curation, remembers: PersonRemembers) -> Occasion:
    saying = Saying(
        turn_id=curation.turn_id,
        conversation_id="",
        said_at=curation.occurred_at,
        utc_offset_minutes=curation.utc_offset_minutes,
        source=Source.CURATION,
        curated_at=curation.occurred_at,
    )
    return Occasion(
        kind=OccasionKind.PERSON,
        record_id=curation.turn_id,
        sayings=(saying,),
        actions=frozenset({Action.ADD}),
        operations=(_addition(remembers),),
        curator=Curator(actor=curation.actor, turn_id=curation.turn_id, pins=remembers.pinned),
    )


def _addition(told: SystemFact | PersonRemembers) -> Operation:
    return Operation(
        action=Action.ADD,
        kind=told.kind,
        slot=told.slot,
        about=told.about,
        content=told.content,
        importance=told.importance,
        confidence=Confidence.STATED,
        quote="",
        valid_from=told.valid_from,
        expires_at=told.expires_at,
    )


def _occasion_of_flag_decision(curation: Curation, decision: FlagDecision) -> Occasion:
    saying = Saying(
        turn_id=decision.source_turn_id,
        conversation_id=decision.conversation_id,
        said_at=decision.said_at,
        utc_offset_minutes=decision.utc_offset_minutes,
        source=Source.CURATION,
        curated_at=curation.occurred_at,
    )
    # The saying is that of the turn whose words were flagged, whatever the operation named then.
    operation = decision.operation.model_copy(update={"turn_id": None})
    return Occasion(
        kind=OccasionKind.FLAG,
        record_id=curation.turn_id,
        sayings=(saying,),
        actions=STATING | CONSOLIDATING,
        operations=(operation,) if decision.approved else (),
        ruling=Ruling(decision=decision, actor=curation.actor, decided_at=curation.occurred_at),
        curator=Curator(actor=curation.actor, turn_id=curation.turn_id),
    )


def _saying_of_turn(turn: Turn) -> Saying:
    return Saying(
        turn_id=turn.turn_id,
        conversation_id=turn.conversation_id,
        said_at=turn.occurred_at,
        utc_offset_minutes=turn.utc_offset_minutes,
        source=Source.USER,
        turn=turn,
    )
