"""Reconcile: decide what becomes of a proposal, given what the ledger holds.

:func:`decide` is pure: the same turn, proposal, versions and time give the same outcome. The rules:

- The gate comes first; what it refuses is rejected with every reason.
- **Slots of one value.** A new value supersedes what held when it was said, in its lineage; where
  it belongs among older and newer ones is told in :mod:`processors.placement`.
- **Slots of many values.** A new value never displaces another. The same statement, live, confirms,
  in whatever slot it was filed. One that was replaced later than this turn was said is confirmed
  too, so that a late turn never revives it.
- **Update.** With a reference it supersedes within the lineage of that memory, which must be live
  and of the same slot and about; of another slot or about it counts as an addition, since facts of
  different attributes must not retire each other. A second update of the same memory in one
  proposal is an addition, so that neither is lost. Without a reference it is an addition.
- **Retract.** The memory that the reference names, or the latest one of that slot and about with
  the same words, is withdrawn, with the versions next to it in time that state the same. What was
  said again after this turn stays. After a retraction nothing is revived: the slot is empty, and
  the next value begins a new lineage, since what never was true is not replaced by anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.about import canonical_about
from processors.gate import Said, refusals
from processors.placement import Statement, expired, last_said, place
from processors.versions import RETRACTABLE_KINDS, Versions, key_of, same_statement
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryRetracted,
    MemorySuperseded,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Embedding, Memory, Source, folded, statement_key
from schemas.ports import StoredMemory
from schemas.proposals import Action, Operation, Proposal
from schemas.records import Closing, Outcome, Turn
from schemas.slots import SINGLE_VALUED, Slot

CONTINUATION_INDEX: Final = 1 << 31
"""Added to an operation's index, it gives the id of the version that goes on after a split."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Lookups:
    """What the ledger must be asked about before a proposal can be decided.

    Attributes:
        slots: the attributes of one value that are stated, each with its about.
        statement_keys: the keys of the statements that may be held already.
        memory_ids: the memories that the proposal refers to.
    """

    slots: frozenset[tuple[Slot, str]]
    statement_keys: frozenset[bytes]
    memory_ids: frozenset[UUID]


def lookups(proposal: Proposal, turn: Turn) -> Lookups:
    """Return what ``Ledger.related`` must be asked, at once, for every operation of a proposal."""
    operations = [_canonical(operation) for operation in proposal.operations]
    return Lookups(
        slots=frozenset(
            (operation.slot, operation.about)
            for operation in operations
            if operation.slot in SINGLE_VALUED
        ),
        statement_keys=frozenset(
            statement_key(kind, operation.about, operation.content, _valid_from(operation, turn))
            for operation in operations
            for kind in {operation.kind, *RETRACTABLE_KINDS}
            if kind is operation.kind or operation.action is Action.RETRACT
        ),
        memory_ids=frozenset(
            operation.reference for operation in operations if operation.reference is not None
        ),
    )


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
    """Decide what becomes of the proposal for a turn.

    Args:
        turn: the turn.
        subject_position: partition and offset of the turn in the log.
        generation: the generation that decides.
        proposal: what was proposed for the turn.
        proposal_offset: where the proposal stands in the proposals topic.
        proposals_floor: no turn that is still open has a proposal below this offset.
        related: every version of one subject that :func:`lookups` asks for.
        embeddings: the vectors of the operations' contents, by the operation's index; one that is
            missing gives a memory without a vector.
        now: the time of the decision, ``recorded_at`` of what it brings forth.

    Returns:
        The outcome. An item that could not be read is rejected as an operation that stands behind
        the readable ones, in the order of ``proposal.invalid``.
    """
    decision = _Decision(
        turn=turn, outcome_id=ids.outcome_id(generation, turn.turn_id), related=related, now=now
    )
    for index, operation in enumerate(proposal.operations):
        decision.take(index, _canonical(operation), embeddings.get(index))
    for index in range(len(proposal.invalid)):
        decision.reject(len(proposal.operations) + index, (RejectionReason.INVALID_ITEM,))
    partition, offset = subject_position
    return Outcome(
        turn_id=turn.turn_id,
        generation=generation,
        turn_partition=partition,
        turn_offset=offset,
        closing=_closing(decision.events),
        events=tuple(decision.events),
        proposal_offset=proposal_offset,
        proposals_floor=proposals_floor,
        decided_at=now,
    )


class _Decision:
    """One proposal being decided: its operations see the effects of those before them."""

    def __init__(
        self, *, turn: Turn, outcome_id: UUID, related: Sequence[StoredMemory], now: datetime
    ) -> None:
        self.events: list[MemoryEvent] = []
        self._turn = turn
        self._said = Said(turn)
        self._outcome_id = outcome_id
        self._versions = Versions(related)
        self._live_before = {stored.memory.memory_id for stored in related if stored.live}
        self._now = now

    def take(self, index: int, operation: Operation, embedding: Embedding | None) -> None:
        """Decide one operation."""
        reasons = refusals(operation, self._said)
        if reasons:
            self.reject(index, reasons)
            return
        if operation.action is Action.RETRACT:
            decided = self._retract(operation)
        else:
            decided = self._state(operation, self._statement(index, operation, embedding))
        if isinstance(decided, RejectionReason):
            self.reject(index, (decided,))
            return
        for event in decided:
            self._versions.apply(event)
            self.events.append(event)

    def reject(self, index: int, reasons: tuple[RejectionReason, ...]) -> None:
        """Record that an operation was refused."""
        self.events.append(ProposalRejected(operation=index, reasons=reasons))

    def _statement(
        self, index: int, operation: Operation, embedding: Embedding | None
    ) -> Statement:
        memory_id = ids.memory_id(self._outcome_id, index)
        return Statement(
            said_at=self._turn.occurred_at,
            continuation_id=ids.memory_id(self._outcome_id, index + CONTINUATION_INDEX),
            memory=Memory(
                memory_id=memory_id,
                lineage_id=memory_id,
                kind=operation.kind,
                content=operation.content,
                slot=operation.slot,
                about=operation.about,
                importance=operation.importance,
                confidence=operation.confidence,
                source=Source.USER,
                turn_id=self._turn.turn_id,
                conversation_id=self._turn.conversation_id,
                quote=operation.quote,
                valid_from=_valid_from(operation, self._turn),
                recorded_at=self._now,
                expires_at=operation.expires_at,
                embedding=embedding,
            ),
        )

    def _state(
        self, operation: Operation, statement: Statement
    ) -> Sequence[MemoryEvent] | RejectionReason:
        """Return the events for an addition or an update."""
        named = None
        if operation.action is Action.UPDATE and operation.reference is not None:
            if operation.reference not in self._live_before:
                return RejectionReason.UNKNOWN_REFERENCE
            named = self._versions.get(operation.reference)
        if operation.slot in SINGLE_VALUED:
            siblings = self._versions.of_slot(operation.slot, operation.about)
            return self._unless_repeated(place(statement, siblings))
        twin = self._twin(statement)
        if twin is not None and not expired(twin.memory, statement.said_at):
            return self._unless_repeated((statement.confirms(twin.memory.memory_id),))
        displaced = twin or named
        if displaced is None or not displaced.live or not _same_attribute(displaced, operation):
            return place(statement, ())
        return place(statement, self._versions.of_lineage(displaced.memory.lineage_id))

    def _twin(self, statement: Statement) -> StoredMemory | None:
        """Return the version that states the same and was not replaced before this was said."""
        twins = [
            stored
            for stored in self._versions.held()
            if key_of(stored.memory) == key_of(statement.memory)
            and (stored.memory.valid_to is None or statement.said_at < stored.memory.valid_to)
        ]
        return max(twins, key=lambda stored: stored.live, default=None)

    def _unless_repeated(self, events: Sequence[MemoryEvent]) -> Sequence[MemoryEvent]:
        """Return nothing where this proposal did already what the events would do.

        A statement that a proposal makes twice neither confirms what it brought forth itself, nor
        confirms anything twice.
        """
        match events:
            case (MemoryConfirmed(memory_id=memory_id),) if memory_id in self._settled():
                return ()
            case _:
                return events

    def _settled(self) -> set[UUID]:
        opened = {
            event.memory.memory_id
            for event in self.events
            if isinstance(event, MemoryAdded | MemorySuperseded | MemoryBackfilled)
        }
        return opened | {
            event.memory_id for event in self.events if isinstance(event, MemoryConfirmed)
        }

    def _retract(self, operation: Operation) -> Sequence[MemoryEvent] | RejectionReason:
        """Return the events for a retraction."""
        if operation.reference is not None:
            target = self._versions.get(operation.reference)
            if target is None:
                return RejectionReason.UNKNOWN_REFERENCE
        else:
            target = self._stated(operation)
        if target is None or target.retracted:
            return RejectionReason.NOTHING_TO_RETRACT
        siblings = self._versions.of_lineage(target.memory.lineage_id)
        stretch = _stretch(target, siblings)
        if any(last_said(version, siblings) > self._turn.occurred_at for version in stretch):
            return RejectionReason.NOTHING_TO_RETRACT
        return [
            MemoryRetracted(
                memory_id=version.memory.memory_id,
                turn_id=self._turn.turn_id,
                quote=operation.quote,
                retracted_at=self._now,
            )
            for version in stretch
        ]

    def _stated(self, operation: Operation) -> StoredMemory | None:
        """Return the latest version with the words of the operation that this turn may withdraw."""
        stated = [
            stored
            for stored in self._versions.of_slot(operation.slot, operation.about)
            if not stored.retracted
            and folded(stored.memory.content) == folded(operation.content)
            and stored.memory.valid_from <= self._turn.occurred_at
        ]
        return max(stated, key=lambda stored: stored.memory.valid_from, default=None)


def _stretch(target: StoredMemory, siblings: Sequence[StoredMemory]) -> list[StoredMemory]:
    """Return the versions that state what ``target`` states, without a break in time around it."""
    alike = sorted(
        (
            sibling
            for sibling in siblings
            if not sibling.retracted and same_statement(sibling.memory, target.memory)
        ),
        key=lambda sibling: sibling.memory.valid_from,
    )
    stretch: list[StoredMemory] = []
    for version in alike:
        if stretch and stretch[-1].memory.valid_to != version.memory.valid_from:
            if target in stretch:
                break
            stretch = []
        stretch.append(version)
    return stretch


def _same_attribute(stored: StoredMemory, operation: Operation) -> bool:
    return stored.memory.slot is operation.slot and stored.memory.about == operation.about


def _canonical(operation: Operation) -> Operation:
    return operation.model_copy(update={"about": canonical_about(operation.about)})


def _valid_from(operation: Operation, turn: Turn) -> datetime:
    """Return since when it is true: never after it was said, whatever was proposed."""
    return min(operation.valid_from or turn.occurred_at, turn.occurred_at)


def _closing(events: Sequence[MemoryEvent]) -> Closing:
    if not events:
        return Closing.NOTHING_FOUND
    if all(isinstance(event, ProposalRejected) for event in events):
        return Closing.REJECTED
    return Closing.STORED
