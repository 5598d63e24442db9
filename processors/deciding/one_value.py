"""Slots of one value: what may displace what.

Only a lasting fact *holds* such a slot. An episode ("visited Goa"), a rule and a fact that ceases
at a time that was told ("is in Goa this week") stand beside what holds, for as long as they last:
they neither close it nor are closed by it. Of those that hold:

- What was concluded never takes the place of what was stated, in whatever order the two arrive.
  While something stated holds, it is refused; one that began after a statement which only arrives
  later never held.
- What one turn states together stands side by side: "is a nurse, and a DJ at weekends" are two
  values. The next turn that states another one takes the place of both, an update of that one alone
  which it names.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from processors.expiry import expired
from processors.placement import Statement, beside, last_said, place
from processors.versions import covers, same_statement
from schemas.events import MemoryEnded, MemoryEvent, RejectionReason
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.ports import StoredMemory


def holds_slot(memory: Memory) -> bool:
    """Whether a memory is of a slot of one value, and such that a new value displaces it."""
    lasts = memory.expires_at is None or memory.confidence is Confidence.INFERRED
    return memory.single_valued and memory.kind is MemoryKind.SEMANTIC and lasts


def guessed(memory: Memory) -> bool:
    """Whether a memory was concluded alone: what was stated since then ceases no more."""
    return memory.confidence is Confidence.INFERRED and memory.expires_at is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Slotted:
    """A statement that is to hold a slot of one value, with what it meets there.

    Attributes:
        statement: what was said.
        versions: every version of the slot, of the same about.
        named: the live version that it updates, if it names one of this slot.
        told: the versions that its own turn brought forth or confirmed.
        alike: whether a memory states the same as the statement in other words.
        approved: whether a person approved it.
    """

    statement: Statement
    versions: Sequence[StoredMemory]
    named: StoredMemory | None
    told: Collection[UUID]
    alike: Callable[[Memory], bool]
    approved: bool


def place_in_slot(slotted: Slotted) -> Sequence[MemoryEvent] | RejectionReason:
    """Return the events that give a lasting fact its place, or why it has none."""
    statement, said_at = slotted.statement, slotted.statement.said_at
    repeated = None if slotted.named is not None else _lying_over(slotted)
    if repeated is not None:
        return statement.confirms(
            repeated.memory, last_said=last_said(repeated, _lineage(slotted.versions, repeated))
        )
    versions = [it for it in slotted.versions if holds_slot(it.memory)]
    later_guesses = [] if guessed(statement.memory) else _guesses_after(versions, said_at)
    versions = [it for it in versions if it not in later_guesses]
    if not guessed(statement.memory):
        versions = [_without_later_guesses(it, versions, said_at) for it in versions]
    holding = [it for it in versions if not it.retracted and covers(it.memory, said_at)]
    same = _same(slotted, holding)
    if same is not None and later_guesses and guessed(same.memory):
        # Confirmed, it would still be followed by what was only concluded.
        versions = [it for it in versions if it is not same]
        return _with_ended(slotted, place(statement, versions), (same,), later_guesses)
    if same is not None:
        return _again(statement, same, _lineage(versions, same))
    if guessed(statement.memory) and not slotted.approved:
        if any(not guessed(it.memory) for it in holding):
            return RejectionReason.CONTRADICTION
    elif any(it.memory.memory_id in slotted.told and not guessed(it.memory) for it in holding):
        others = [it for it in versions if it.memory.memory_id not in slotted.told]
        return _with_ended(slotted, beside(statement, others), (), later_guesses)
    return _displacing(slotted, versions, holding, later_guesses)


def _again(
    statement: Statement, held: StoredMemory, lineage: Sequence[StoredMemory]
) -> Sequence[MemoryEvent]:
    """Return the events for a statement that repeats what holds."""
    if guessed(statement.memory) and not guessed(held.memory):
        # That it is concluded again does not tell that it still holds: something else that was
        # stated in between, and only arrives later, counts.
        known = last_said(held, lineage, until=statement.said_at)
        return replace(statement, said_at=known).confirms(
            held.memory, last_said=last_said(held, lineage)
        )
    if not same_statement(held.memory, statement.memory):
        # A version in other words would say nothing new: it counts as the one that holds.
        statement = statement.in_words_of(held.memory)
    return place(statement, lineage)


def _displacing(
    slotted: Slotted,
    versions: Sequence[StoredMemory],
    holding: Sequence[StoredMemory],
    later_guesses: Sequence[StoredMemory],
) -> Sequence[MemoryEvent]:
    """Return the events by which a statement takes the place of what held, if anything did."""
    named = slotted.named
    if len(holding) > 1:
        first = named if named in holding and named is not None else holding[0]
        rest = () if first is named else holding[1:]
        return _with_ended(
            slotted, place(slotted.statement, _lineage(versions, first)), rest, later_guesses
        )
    over = (named,) if named is not None and _lies_over(named.memory) else ()
    return _with_ended(slotted, place(slotted.statement, versions), over, later_guesses)


def _with_ended(
    slotted: Slotted,
    events: Sequence[MemoryEvent],
    displaced: Sequence[StoredMemory],
    later_guesses: Sequence[StoredMemory],
) -> Sequence[MemoryEvent]:
    """Return events with those by which other versions end for what these opened."""
    statement = slotted.statement
    opened = next(
        memory
        for event in events
        if (memory := getattr(event, "memory", None)) is not None
        and memory.memory_id == statement.memory.memory_id
    )
    ended = [
        (stored, max(opened.valid_from, said))
        for stored in displaced
        if (said := _known_to_hold(slotted, stored)) <= statement.said_at
    ]
    ended.extend(
        (stored, stored.memory.valid_from)
        for stored in later_guesses
        if opened.valid_to is None or stored.memory.valid_from < opened.valid_to
    )
    return [
        *events,
        *(
            MemoryEnded(
                memory_id=stored.memory.memory_id,
                valid_to=at,
                because_of=opened.memory_id,
                ended_at=statement.memory.recorded_at,
            )
            for stored, at in ended
        ),
    ]


def _known_to_hold(slotted: Slotted, stored: StoredMemory) -> datetime:
    """Return the last time at which a version is known to hold: a conclusion when it began."""
    if guessed(stored.memory):
        return stored.memory.valid_from
    return last_said(stored, _lineage(slotted.versions, stored))


def _same(slotted: Slotted, holding: Sequence[StoredMemory]) -> StoredMemory | None:
    """Return the version among those that hold which states the same."""
    wanted = slotted.statement.memory
    exact = (it for it in holding if same_statement(it.memory, wanted))
    reworded = (it for it in holding if slotted.named is None and slotted.alike(it.memory))
    return next(exact, None) or next(reworded, None)


def _guesses_after(versions: Sequence[StoredMemory], moment: datetime) -> list[StoredMemory]:
    """Return what was concluded only after a moment, and follows nothing that was stated."""
    stated_until = {
        it.memory.valid_to for it in versions if not it.retracted and not guessed(it.memory)
    }
    return [
        it
        for it in versions
        if not it.retracted
        and guessed(it.memory)
        and it.memory.valid_from > moment
        and it.memory.valid_from != it.memory.valid_to
        and it.memory.valid_from not in stated_until
    ]


def _without_later_guesses(
    stored: StoredMemory, versions: Sequence[StoredMemory], moment: datetime
) -> StoredMemory:
    """Return a version as if nothing had been concluded after a moment.

    A conclusion that held then goes on until something was stated, whatever else was concluded.
    """
    if not guessed(stored.memory) or not covers(stored.memory, moment):
        return stored
    stated = (it.memory for it in versions if not it.retracted and not guessed(it.memory))
    ends = (memory.valid_from for memory in stated if memory.valid_from > moment)
    return replace(
        stored,
        memory=stored.memory.model_copy(update={"valid_to": min(ends, default=None)}),
        confirmed_at=tuple(time for time in stored.confirmed_at if time <= moment),
    )


def _lying_over(slotted: Slotted) -> StoredMemory | None:
    """Return what stands beside the slot's value for a time and states the same."""
    statement = slotted.statement
    return next(
        (
            it
            for it in slotted.versions
            if it.live
            and _lies_over(it.memory)
            and covers(it.memory, statement.said_at)
            and not expired(it.memory, statement.said_at)
            and same_statement(it.memory, statement.memory)
        ),
        None,
    )


def _lies_over(memory: Memory) -> bool:
    return memory.kind is MemoryKind.SEMANTIC and not holds_slot(memory)


def _lineage(versions: Sequence[StoredMemory], of: StoredMemory) -> list[StoredMemory]:
    return [it for it in versions if it.memory.lineage_id == of.memory.lineage_id]
