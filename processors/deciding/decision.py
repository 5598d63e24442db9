"""Where the operations of one record lead: each sees the effects of those before it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final, assert_never
from uuid import UUID

from processors.deciding.considered import Item, left_to_a_person
from processors.deciding.contradicting import contradict, end_contradicted
from processors.deciding.gating import refusals_by_memories
from processors.deciding.likeness import states_the_same
from processors.deciding.merging import merge
from processors.deciding.occasions import CONSOLIDATING, Curator
from processors.deciding.one_value import Slotted, holds_slot, place_in_slot
from processors.deciding.outranking import outranked, pins_taken_over, with_expiry_kept
from processors.deciding.retracting import retract
from processors.expiry import expired
from processors.placement import Statement, last_said, place
from processors.versions import Versions
from schemas import ids
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemoryPinned,
    MemorySuperseded,
    MemoryVouched,
    ProposalFlagged,
    ProposalRejected,
    RejectionReason,
)
from schemas.memory import Embedding, Memory, Source
from schemas.ports import Related, StoredMemory
from schemas.proposals import Action, Operation, Speaker

CONTINUATION_INDEX: Final = 1 << 31
"""Added to an operation's index, it gives the id of the version that goes on after a split."""

Decided = Sequence[MemoryEvent] | RejectionReason


class Decision:
    """One record being decided.

    Args:
        outcome_id: the outcome, from which every id follows.
        related: every version that is to be known, and what is suppressed.
        similarity_min: the cosine below which two statements are never the same in other words.
        approved: whether a person approved what is decided: nothing is flagged again.
        curator: the person who states or approved it; ``None`` where a model proposes it.
        now: the time of the decision.
    """

    def __init__(
        self,
        *,
        outcome_id: UUID,
        related: Related,
        similarity_min: float | None,
        approved: bool = False,
        curator: Curator | None = None,
        now: datetime,
    ) -> None:
        self._outcome_id = outcome_id
        self._versions = Versions(related.versions)
        self._suppressed: Mapping[bytes, datetime] = related.suppressed
        self._curator = curator
        self._live_before = {it.memory.memory_id for it in related.versions if it.live}
        self._similarity_min = similarity_min
        self._approved = approved
        self._now = now
        self._opened: set[UUID] = set()
        self._confirmed: set[UUID] = set()
        self._told: defaultdict[UUID, set[UUID]] = defaultdict(set)

    def take(self, item: Item, embedding: Embedding | None) -> tuple[MemoryEvent, ...]:
        """Decide one operation and return its events.

        Args:
            item: the operation.
            embedding: the vector of its content, if there is one.
        """
        reasons = item.reasons or self._reasons_by_memories(item)
        if self._is_suppressed(item):
            reasons = (*reasons, RejectionReason.SUPPRESSED)
        left = () if self._approved else left_to_a_person(reasons)
        if left:
            return (self._flagged(item, item.operation, left),)
        if reasons:
            return (_rejected(item, reasons),)
        decided = self._decided(item, embedding)
        if not isinstance(decided, RejectionReason):
            decided = self._ranked(decided, item)
        if isinstance(decided, RejectionReason):
            return (_rejected(item, (decided,)),)
        for event in decided:
            self.note(event)
        return tuple(decided)

    def _is_suppressed(self, item: Item) -> bool:
        """Whether a person deleted or corrected after it was said what an operation states.

        Of what persons state, the order in the log counts; of what one approved, the time of that.
        """
        states = item.states or item.operation.action is Action.MERGE
        if not self._suppressed or not states:
            return False
        if self._curator is not None and not self._approved:
            return False
        said_at = item.saying.curated_at or self._said_last(item)
        decided = (self._suppressed.get(key) for key in item.suppression_keys)
        return any(moment is not None and said_at <= moment for moment in decided)

    def _said_last(self, item: Item) -> datetime:
        """Return when the words were said that an operation rests on."""
        sources = (self._versions.get(memory_id) for memory_id in item.operation.merges)
        times = [
            last_said(stored, self._versions.of_lineage(stored.memory.lineage_id))
            for stored in sources
            if stored is not None
        ]
        return max(times, default=item.saying.said_at)

    def _ranked(self, events: Sequence[MemoryEvent], item: Item) -> Decided:
        """Return events with what follows of persons' decisions, or why these forbid them."""
        if self._curator is not None:
            decided = [*events, *self._vouched(events, item, self._curator)]
        elif outranked(events, item, self._versions):
            return RejectionReason.CURATED
        else:
            decided = list(with_expiry_kept(events, item, self._versions))
        turn_id = item.saying.turn_id
        return [*decided, *pins_taken_over(events, self._versions, turn_id=turn_id)]

    def _vouched(
        self, events: Sequence[MemoryEvent], item: Item, curator: Curator
    ) -> list[MemoryEvent]:
        """Return what a person's own statement means for what was held already."""
        decided_at = item.saying.curated_at or item.saying.said_at
        mine = ids.memory_id(self._outcome_id, item.index)
        confirmed = [event.memory_id for event in events if isinstance(event, MemoryConfirmed)]
        held = list(dict.fromkeys(it for it in confirmed if it != mine))
        vouched: list[MemoryEvent] = [
            MemoryVouched(
                memory_id=memory_id,
                turn_id=curator.turn_id,
                actor=curator.actor,
                vouched_at=decided_at,
            )
            for memory_id in held
        ]
        opened = any(getattr(event, "memory", None) is not None for event in events)
        vouched.extend(
            MemoryPinned(
                memory_id=memory_id,
                pinned=True,
                turn_id=curator.turn_id,
                actor=curator.actor,
                pinned_at=decided_at,
            )
            for memory_id in (([mine] if opened else held) if curator.pins else ())
        )
        return vouched

    def _reasons_by_memories(self, item: Item) -> tuple[RejectionReason, ...]:
        """Return what the gate says of a consolidation's proposal, given the memories it names."""
        if item.operation.action not in CONSOLIDATING:
            return ()
        named = (self._versions.get(memory_id) for memory_id in item.named)
        memories = [stored.memory for stored in named if stored is not None]
        return refusals_by_memories(item.operation, memories, approved=self._approved)

    def _decided(self, item: Item, embedding: Embedding | None) -> Decided:
        memory_id = ids.memory_id(self._outcome_id, item.index)
        match item.operation.action:
            case Action.ADD | Action.UPDATE:
                return self._state(item.operation, self._statement(item, embedding))
            case Action.RETRACT:
                return retract(self._versions, item, operation_id=memory_id, now=self._now)
            case Action.MERGE:
                return merge(
                    self._versions, item, memory_id=memory_id, embedding=embedding, now=self._now
                )
            case Action.CONTRADICT:
                return self._contradict(item)
        assert_never(item.operation.action)

    def _contradict(self, item: Item) -> Decided:
        if self._approved:
            return end_contradicted(self._versions, item, now=self._now)
        found = contradict(self._versions, item)
        if isinstance(found, RejectionReason):
            return found
        flagged = self._flagged(item, found.operation, (RejectionReason.CONTRADICTION,))
        return (flagged.model_copy(update={"flag_id": found.flag_id}),)

    def _flagged(
        self, item: Item, proposed: Operation, reasons: tuple[RejectionReason, ...]
    ) -> ProposalFlagged:
        saying = item.saying
        return ProposalFlagged(
            flag_id=ids.flag_id(self._outcome_id, item.index),
            operation=item.index,
            reasons=reasons,
            proposed=proposed,
            turn_id=saying.turn_id,
            conversation_id=saying.conversation_id,
            said_at=saying.said_at,
            utc_offset_minutes=saying.utc_offset_minutes,
            flagged_at=self._now,
        )

    def note(self, event: MemoryEvent) -> None:
        """Let what is decided next see an event."""
        self._versions.apply(event)
        match event:
            case MemoryAdded() | MemorySuperseded() | MemoryBackfilled():
                self._opened.add(event.memory.memory_id)
                self._told[event.memory.turn_id].add(event.memory.memory_id)
            case MemoryConfirmed():
                self._confirmed.add(event.memory_id)
                self._told[event.turn_id].add(event.memory_id)

    def _statement(self, item: Item, embedding: Embedding | None) -> Statement:
        operation, saying = item.operation, item.saying
        memory_id = ids.memory_id(self._outcome_id, item.index)
        assistants = operation.said_by is Speaker.ASSISTANT and saying.source is Source.USER
        return Statement(
            said_at=saying.said_at,
            expiry_told=operation.expires_at,
            continuation_id=ids.memory_id(self._outcome_id, item.index + CONTINUATION_INDEX),
            memory=Memory(
                memory_id=memory_id,
                lineage_id=memory_id,
                kind=operation.kind,
                content=operation.content,
                slot=operation.slot,
                about=operation.about,
                importance=operation.importance,
                confidence=operation.confidence,
                source=Source.ASSISTANT if assistants else saying.source,
                turn_id=saying.turn_id,
                conversation_id=saying.conversation_id,
                quote=operation.quote,
                valid_from=item.valid_from,
                valid_from_precision=item.valid_from_precision,
                recorded_at=self._now,
                expires_at=item.expires_at,
                embedding=embedding,
                provenance=saying.provenance,
                curated_at=saying.curated_at,
            ),
        )

    def _state(self, operation: Operation, statement: Statement) -> Decided:
        """Return the events for an addition or an update."""
        named = None
        if operation.action is Action.UPDATE and operation.reference is not None:
            if operation.reference not in self._live_before:
                return RejectionReason.UNKNOWN_REFERENCE
            named = self._versions.get(operation.reference)
        if holds_slot(statement.memory):
            return self._hold(operation, statement, named)
        twin = self._twin(statement)
        if twin is not None and not expired(twin.memory, statement.said_at):
            return self._unless_repeated(self._confirmed_by(statement, twin))
        alike = None if named is not None or twin is not None else self._reworded(statement)
        if alike is not None:
            return self._unless_repeated(self._confirmed_by(statement, alike))
        displaced = twin or named
        if displaced is None or not displaced.live or not _same_attribute(displaced, operation):
            return place(statement, ())
        # What does not hold a slot of one value never ends what does.
        siblings = self._versions.of_lineage(displaced.memory.lineage_id)
        return place(statement, () if holds_slot(displaced.memory) else siblings)

    def _hold(
        self, operation: Operation, statement: Statement, named: StoredMemory | None
    ) -> Decided:
        """Return the events for a lasting fact of a slot of one value."""
        if named is not None and not (named.live and _same_attribute(named, operation)):
            named = None
        decided = place_in_slot(
            Slotted(
                statement=statement,
                versions=self._versions.of_slot(operation.slot, operation.about),
                named=named,
                told=self._told.get(statement.memory.turn_id, frozenset()),
                alike=lambda held: self._alike(held, statement),
                approved=self._approved,
            )
        )
        return decided if isinstance(decided, RejectionReason) else self._unless_repeated(decided)

    def _twin(self, statement: Statement) -> StoredMemory | None:
        """Return the version that states the same and was not replaced before this was said."""
        standing = map(self._versions.standing_for, self._versions.stating(statement.memory))
        twins = [
            stored
            for stored in standing
            if stored is not None
            and (stored.memory.valid_to is None or statement.said_at < stored.memory.valid_to)
        ]
        slot = statement.memory.slot
        return max(twins, key=lambda it: (it.live, it.memory.slot is slot), default=None)

    def _confirmed_by(
        self, statement: Statement, held: StoredMemory
    ) -> tuple[MemoryConfirmed, ...]:
        siblings = self._versions.of_lineage(held.memory.lineage_id)
        return statement.confirms(held.memory, last_said=last_said(held, siblings))

    def _reworded(self, statement: Statement) -> StoredMemory | None:
        """Return the live version of the same attribute that states the same in other words."""
        wanted = statement.memory
        return next(
            (
                stored
                for stored in self._versions.of_slot(wanted.slot, wanted.about)
                if stored.live
                and stored.memory.kind is wanted.kind
                and not expired(stored.memory, statement.said_at)
                and self._alike(stored.memory, statement)
            ),
            None,
        )

    def _alike(self, held: Memory, statement: Statement) -> bool:
        return states_the_same(held, statement.memory, similarity_min=self._similarity_min)

    def _unless_repeated(self, events: Sequence[MemoryEvent]) -> Sequence[MemoryEvent]:
        """Return nothing where this record did already what the events would do.

        A statement that a proposal makes twice neither confirms what it brought forth itself, nor
        confirms anything twice.
        """
        done = self._opened | self._confirmed
        repeats = all(
            isinstance(event, MemoryConfirmed) and event.memory_id in done for event in events
        )
        return () if repeats else events


def reject(
    place: int, reasons: tuple[RejectionReason, ...], *, turn_id: UUID | None = None
) -> ProposalRejected:
    """Return the event by which the operation at a place, of a turn if one is known, is refused."""
    return ProposalRejected(operation=place, reasons=reasons, turn_id=turn_id)


def _rejected(item: Item, reasons: tuple[RejectionReason, ...]) -> ProposalRejected:
    return reject(item.index, reasons, turn_id=item.saying.turn_id)


def _same_attribute(stored: StoredMemory, operation: Operation) -> bool:
    return stored.memory.slot is operation.slot and stored.memory.about == operation.about
