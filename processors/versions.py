"""A working copy of the versions that a decision may touch, to which its own events are applied.

The operations of one proposal see each other's effects through it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from schemas.events import (
    MemoriesDeleted,
    MemoriesMerged,
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryCorrected,
    MemoryEnded,
    MemoryEvent,
    MemoryPinned,
    MemoryRetracted,
    MemorySuperseded,
    MemoryVouched,
)
from schemas.memory import Memory, MemoryKind, folded, statement_key
from schemas.ports import StoredMemory
from schemas.slots import Slot


class Versions:
    """Versions by id, as they stand after the events that were applied so far."""

    def __init__(self, related: Iterable[StoredMemory]) -> None:
        # In an order of our own: a decision must not depend on that of the store's answer.
        ordered = sorted(related, key=lambda it: (it.memory.valid_from, it.memory.memory_id))
        self._by_id = {stored.memory.memory_id: stored for stored in ordered}
        self._keys: dict[UUID, bytes] = {}

    def get(self, memory_id: UUID) -> StoredMemory | None:
        """Return the version of that id, or ``None``."""
        return self._by_id.get(memory_id)

    def all(self) -> tuple[StoredMemory, ...]:
        """Return every version, retracted ones too."""
        return tuple(self._by_id.values())

    def held(self) -> tuple[StoredMemory, ...]:
        """Return every version that was not retracted."""
        return tuple(stored for stored in self._by_id.values() if not stored.retracted)

    def stating(self, memory: Memory) -> tuple[StoredMemory, ...]:
        """Return every version that states the same as a memory and was not retracted."""
        held = self.held()
        if not held:
            return ()
        key = key_of(memory)
        return tuple(stored for stored in held if self._key(stored.memory) == key)

    def of_slot(self, slot: Slot, about: str) -> tuple[StoredMemory, ...]:
        """Return all versions of an attribute, of whatever lineage, retracted ones too."""
        return tuple(
            stored
            for stored in self._by_id.values()
            if stored.memory.slot is slot and stored.memory.about == about
        )

    def of_lineage(self, lineage_id: UUID) -> tuple[StoredMemory, ...]:
        """Return all versions of a lineage, retracted ones too."""
        return tuple(
            stored for stored in self._by_id.values() if stored.memory.lineage_id == lineage_id
        )

    def standing_for(self, stored: StoredMemory) -> StoredMemory | None:
        """Return the version that stands for one: itself, where no merged one does.

        ``None`` where the merged one was withdrawn: then nothing of it is served any more.
        """
        seen = set()
        while stored.merged_into is not None and stored.memory.memory_id not in seen:
            seen.add(stored.memory.memory_id)
            merged = self._by_id.get(stored.merged_into)
            if merged is None or merged.retracted:
                return None
            stored = merged
        return stored

    def apply(self, event: MemoryEvent) -> None:
        """Change the copy as the projection will change its rows."""
        match event:
            case MemoryAdded() | MemorySuperseded() | MemoryBackfilled() | MemoriesMerged():
                self._open_by(event)
            case MemoryConfirmed():
                self._by_id[event.memory_id] = _confirmed(self._by_id[event.memory_id], event)
            case MemoryEnded():
                self._close(event.memory_id, event.valid_to)
            case MemoryRetracted():
                self._retract(event.memory_id)
            case _:
                self._curate(event)

    def _curate(self, event: MemoryEvent) -> None:
        match event:
            case MemoryVouched():
                stored = self._by_id[event.memory_id]
                curated = stored.memory.model_copy(update={"curated_at": event.vouched_at})
                self._by_id[event.memory_id] = replace(stored, memory=curated)
            case MemoryPinned():
                pinned_at = event.pinned_at if event.pinned else None
                stored = self._by_id[event.memory_id]
                self._by_id[event.memory_id] = replace(stored, pinned_at=pinned_at)
            case MemoryCorrected():
                if event.corrects is not None:
                    self._retract(event.corrects)
                self._stand_for(event.memory.memory_id, event.memory.merged_from)
                self._open(event.memory)
            case MemoriesDeleted():
                for memory_id in event.memory_ids:
                    self._by_id.pop(memory_id, None)
            case _:
                return

    def _open_by(
        self, event: MemoryAdded | MemorySuperseded | MemoryBackfilled | MemoriesMerged
    ) -> None:
        memory = event.memory
        match event:
            case MemorySuperseded():
                self._close(event.closes, memory.valid_from)
            case MemoryBackfilled() if event.after is not None:
                self._close(event.after, memory.valid_from)
            case MemoriesMerged():
                self._stand_for(memory.memory_id, (*memory.merged_from, *event.replaces))
        self._open(memory)

    def _open(self, memory: Memory) -> None:
        self._by_id[memory.memory_id] = StoredMemory(memory=memory, retracted=False)

    def _retract(self, memory_id: UUID) -> None:
        self._by_id[memory_id] = replace(self._by_id[memory_id], retracted=True)

    def _stand_for(self, merged_into: UUID, versions: Iterable[UUID]) -> None:
        for memory_id in versions:
            stored = self._by_id.get(memory_id)
            if stored is not None:
                self._by_id[memory_id] = replace(stored, merged_into=merged_into)

    def _key(self, memory: Memory) -> bytes:
        # What a version states never changes, and each operation asks for all of them.
        key = self._keys.get(memory.memory_id)
        if key is None:
            key = self._keys[memory.memory_id] = key_of(memory)
        return key

    def _close(self, memory_id: UUID, valid_to: datetime) -> None:
        stored = self._by_id[memory_id]
        closed = stored.memory.model_copy(update={"valid_to": valid_to})
        self._by_id[memory_id] = replace(stored, memory=closed)


def _confirmed(stored: StoredMemory, event: MemoryConfirmed) -> StoredMemory:
    latest = all(moment <= event.confirmed_at for moment in stored.confirmed_at)
    memory = stored.memory
    if event.renewal is not None and latest:
        memory = memory.model_copy(update={"expires_at": event.renewal.expires_at})
    times = (*stored.confirmed_at, event.confirmed_at)
    return replace(stored, memory=memory, confirmed_at=times)


def covers(memory: Memory, moment: datetime) -> bool:
    """Whether ``memory`` was true at ``moment``: from its start on, until before its end."""
    return memory.valid_from <= moment and (memory.valid_to is None or moment < memory.valid_to)


def same_statement(one: Memory, other: Memory) -> bool:
    """Whether two memories state the same.

    In a slot of one value the content alone tells: whether a value is filed as a fact or as an
    episode does not make it another value.
    """
    if one.single_valued and one.slot is other.slot and one.about == other.about:
        return folded(one.content) == folded(other.content)
    return key_of(one) == key_of(other)


def key_of(memory: Memory) -> bytes:
    """Return the key under which a memory counts as the same statement as another."""
    return statement_key(memory.kind, memory.about, memory.content, memory.valid_from)


RETRACTABLE_KINDS = (MemoryKind.SEMANTIC, MemoryKind.PROCEDURAL)
"""The kinds whose statements are found by their words alone; an episode's key needs its time."""
