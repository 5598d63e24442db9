"""Where in the history of an attribute a statement belongs, and which events put it there.

A lineage's versions follow each other in time. What decides is when a statement was *said*, not
when it arrived: a turn that arrives late gives a version of the past, and what was said after it
stays live.

A version is *known to hold* at its start and at each of its confirmations. If something else was
said between two of these, the version ends there and the same statement opens a version anew at
the next confirmation, with the words and the source turn that it had.

Given every confirmation, the history comes out the same in whatever order turns arrive. A ledger
may tell the last one alone, as the read model does: what is live then still comes out the same,
and a stretch of the past between two confirmations may be given to the wrong one of two values,
where turns arrive out of order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from processors.expiry import expired, renewal_of
from processors.versions import covers, same_statement
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemorySuperseded,
)
from schemas.memory import Memory, Precision
from schemas.ports import StoredMemory

_Opening = MemoryAdded | MemorySuperseded | MemoryBackfilled


@dataclass(frozen=True, kw_only=True, slots=True)
class Statement:
    """A statement that looks for its place.

    Attributes:
        memory: what becomes of it, as the first version of a new lineage; its ``valid_from`` is at
            or before ``said_at``.
        said_at: when it was said.
        expiry_told: when the words say that it ceases by itself, if they do.
        continuation_id: id for the version that goes on after it, where it falls into one.
    """

    memory: Memory
    said_at: datetime
    continuation_id: UUID
    expiry_told: datetime | None = None

    def confirms(self, held: Memory, *, last_said: datetime) -> tuple[MemoryConfirmed, ...]:
        """Return the events by which this statement confirms a version.

        One that arrives late moves no expiry, since what was said later counts. Only what makes a
        version last for ever holds from then on: it is told a second time, as of the last time that
        the version was said.

        Args:
            held: the version.
            last_said: when it is known to have been said last.
        """
        renewal = renewal_of(
            held,
            confidence=self.memory.confidence,
            told=self.expiry_told,
            said_at=self.said_at,
        )
        late = self.said_at < last_said
        confirmed = MemoryConfirmed(
            memory_id=held.memory_id,
            turn_id=self.memory.turn_id,
            quote=self.memory.quote,
            confirmed_at=self.said_at,
            renewal=None if late else renewal,
        )
        if not late or renewal is None or renewal.expires_at is not None:
            return (confirmed,)
        lasting = {"confirmed_at": last_said, "renewal": renewal}
        return (confirmed, confirmed.model_copy(update=lasting))

    def in_words_of(self, held: Memory) -> Statement:
        """Return the same statement as an earlier one worded it, with that one's vector."""
        wording = {"content": held.content, "embedding": held.embedding}
        return replace(self, memory=self.memory.model_copy(update=wording))


def place(statement: Statement, siblings: Sequence[StoredMemory]) -> tuple[MemoryEvent, ...]:
    """Return the events that give a statement its place among the versions it competes with.

    - The version that held when it was said states the same: it is confirmed.
    - Another one held: it ends, or its history is split, and the statement follows it.
    - None held, but a later one is known: the statement goes before it in that one's lineage, also
      if both state the same, since it was true earlier than was known.
    - None held and none is later (all were retracted, or there is none): a new lineage begins.

    Two statements of one time count in the order of the log. A start that lies before the turn
    ("since March") is kept where it does not reach into what is known to have held otherwise; the
    turn's own time is then recorded as the first confirmation.

    Args:
        statement: what was said.
        siblings: all versions of the attribute, or of the lineage that is updated.
    """
    held = holding(siblings, statement.said_at)
    if held is None:
        events = _outside(statement, siblings)
    elif same_statement(held, statement.memory) and not expired(held, statement.said_at):
        return statement.confirms(held, last_said=max(_times_said(held, siblings)))
    else:
        events = _after(statement, held, _times_said(held, siblings))
    placed = events[-1].memory
    if placed.valid_from < statement.said_at:
        return (*events, *statement.confirms(placed, last_said=statement.said_at))
    return events


def beside(statement: Statement, siblings: Sequence[StoredMemory]) -> tuple[MemoryEvent, ...]:
    """Return the events that give a statement a lineage of its own, beside what holds with it.

    It lasts until the next of the others begins.

    Args:
        statement: what was said.
        siblings: all versions of the attribute but those that it stands beside.
    """
    held = [sibling.memory for sibling in siblings if not sibling.retracted]
    start = statement.memory.valid_from
    if any(start < (memory.valid_to or statement.said_at) for memory in _begun(held, statement)):
        start = statement.said_at
    later = (memory.valid_from for memory in held if memory.valid_from > statement.said_at)
    memory = statement.memory
    added = _version(memory, memory.lineage_id, start, min(later, default=None))
    opened = MemoryAdded(memory=added)
    if start < statement.said_at:
        return (opened, *statement.confirms(added, last_said=statement.said_at))
    return (opened,)


def _begun(held: Sequence[Memory], statement: Statement) -> list[Memory]:
    return [memory for memory in held if memory.valid_from <= statement.said_at]


def last_said(
    version: StoredMemory, siblings: Sequence[StoredMemory], *, until: datetime | None = None
) -> datetime:
    """Return the last time at which a version is known to hold.

    Args:
        version: the version.
        siblings: the versions of its lineage.
        until: only times up to this one count, which is no earlier than the version's start.
    """
    times = _times_said(version.memory, siblings)
    return max(time for time in times if until is None or time <= until)


def holding(siblings: Sequence[StoredMemory], moment: datetime) -> Memory | None:
    """Return the version that held at a moment, or ``None``."""
    for sibling in siblings:
        if not sibling.retracted and covers(sibling.memory, moment):
            return sibling.memory
    return None


def _times_said(memory: Memory, siblings: Sequence[StoredMemory]) -> list[datetime]:
    """Return when a version is known to hold: its start and the confirmations within it.

    A confirmation is recorded on the version that stood then; since that may have been split, the
    confirmations of every version of the lineage that states the same are looked at.
    """
    confirmed = (
        moment
        for sibling in siblings
        if sibling.memory.lineage_id == memory.lineage_id and same_statement(sibling.memory, memory)
        for moment in sibling.confirmed_at
    )
    return [memory.valid_from, *(moment for moment in confirmed if covers(memory, moment))]


def _after(
    statement: Statement, holding: Memory, times_said: Sequence[datetime]
) -> tuple[_Opening, ...]:
    """Return the events for a statement that was said while another version held."""
    said_at, start = statement.said_at, statement.memory.valid_from
    if start <= max(moment for moment in times_said if moment <= said_at):
        start = said_at
    again = min((moment for moment in times_said if moment > said_at), default=None)
    if again is None and holding.valid_to is None:
        opened = _version(statement.memory, holding.lineage_id, start, None)
        return (MemorySuperseded(closes=holding.memory_id, memory=opened),)
    split: tuple[_Opening, ...] = ()
    if again is not None:
        continued = holding.model_copy(
            update={
                "memory_id": statement.continuation_id,
                "valid_from": again,
                "valid_from_precision": Precision.MOMENT,
                "recorded_at": statement.memory.recorded_at,
            }
        )
        split = (
            MemorySuperseded(closes=holding.memory_id, memory=continued)
            if holding.valid_to is None
            else MemoryBackfilled(after=holding.memory_id, memory=continued),
        )
    past = _version(statement.memory, holding.lineage_id, start, again or holding.valid_to)
    return (*split, MemoryBackfilled(after=holding.memory_id, memory=past))


def _outside(statement: Statement, siblings: Sequence[StoredMemory]) -> tuple[_Opening, ...]:
    """Return the events for a statement that was said while no version held."""
    held = [sibling.memory for sibling in siblings if not sibling.retracted]
    ends = [
        memory.valid_to
        for memory in held
        if memory.valid_to is not None and memory.valid_to <= statement.said_at
    ]
    start = statement.memory.valid_from
    if ends and start < max(ends):
        start = statement.said_at
    later = [memory for memory in held if memory.valid_from > statement.said_at]
    if not later:
        memory = statement.memory
        return (MemoryAdded(memory=_version(memory, memory.lineage_id, start, None)),)
    following = min(later, key=lambda memory: memory.valid_from)
    before = (
        sibling.memory.memory_id
        for sibling in siblings
        if sibling.memory.lineage_id == following.lineage_id
        and sibling.memory.valid_to is not None
        and covers(sibling.memory, start)
    )
    past = _version(statement.memory, following.lineage_id, start, following.valid_from)
    return (MemoryBackfilled(after=next(before, None), memory=past),)


def _version(
    memory: Memory, lineage_id: UUID, valid_from: datetime, valid_to: datetime | None
) -> Memory:
    return memory.model_copy(
        update={
            "lineage_id": lineage_id,
            "valid_from": valid_from,
            "valid_from_precision": (
                memory.valid_from_precision if valid_from == memory.valid_from else Precision.MOMENT
            ),
            "valid_to": valid_to,
        }
    )
