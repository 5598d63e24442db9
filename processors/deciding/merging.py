"""Letting one memory stand for several: what a consolidation proposes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.deciding.considered import Item
from processors.deciding.founding import is_founded
from processors.expiry import expired
from processors.versions import Versions
from schemas.events import MemoriesMerged, RejectionReason
from schemas.memory import Confidence, Embedding, Memory, MemoryKind, Source
from schemas.slots import SINGLE_VALUED, Slot

SOURCES_MIN: Final = 2
"""A merge of fewer would only reword a memory."""

_KEPT_APART: Final = SINGLE_VALUED | {Slot.ALLERGY, Slot.NEED}
"""Slots whose memories are never merged: a value that is replaced by the next one, and what
somebody's safety hangs on, which no model rewords."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sources:
    """What a merged memory rests on.

    Attributes:
        memories: the live versions that were named, themselves or by what they stand for, in the
            order of their starts.
        originals: the versions that it stands for, none of them a merged one.
        replaces: the merged versions among them.
        texts: the contents and quotes of those that were named.
    """

    memories: tuple[Memory, ...]
    originals: tuple[UUID, ...]
    replaces: tuple[UUID, ...]
    texts: tuple[str, ...]


def merge(
    versions: Versions,
    item: Item,
    *,
    memory_id: UUID,
    embedding: Embedding | None,
    now: datetime,
) -> Sequence[MemoriesMerged] | RejectionReason:
    """Return the event by which a memory comes to stand for others, or why it must not.

    Each named memory must be live, of the same about, and of a sort that can be merged. A merged
    one gives way to its own sources, so that no merge hides behind another; who names its sources
    instead must name all of them. Turn, conversation and
    quote are those of the newest source, the start that of the oldest. A merge never states more
    surely than its sources do: of episodes, a fact is only concluded.

    Args:
        versions: what is known.
        item: the merge.
        memory_id: the id of the memory that it brings forth.
        embedding: the vector of its content, if there is one.
        now: the time of the decision.
    """
    found = _sources(versions, item)
    if isinstance(found, RejectionReason):
        return found
    if not _may_be_one(found, item) or not _founded(found, item):
        return RejectionReason.UNFOUNDED_MERGE
    memory = _merged(found, item, memory_id=memory_id, embedding=embedding, now=now)
    return (MemoriesMerged(memory=memory, replaces=found.replaces),)


def _sources(versions: Versions, item: Item) -> _Sources | RejectionReason:
    named = dict.fromkeys(item.operation.merges)
    memories: dict[UUID, Memory] = {}
    texts: list[str] = []
    for memory_id in named:
        stored = versions.get(memory_id)
        standing = None if stored is None else versions.standing_for(stored)
        if stored is None or standing is None or not standing.live:
            return RejectionReason.UNKNOWN_REFERENCE
        if expired(standing.memory, item.saying.said_at):
            return RejectionReason.UNKNOWN_REFERENCE
        memories[standing.memory.memory_id] = standing.memory
        texts.extend((stored.memory.content, stored.memory.quote))
    for memory in memories.values():
        if memory.memory_id not in named and not named.keys() >= set(memory.merged_from):
            # What it stands for besides would be served no more.
            return RejectionReason.UNFOUNDED_MERGE
    ordered = sorted(memories.values(), key=lambda memory: (memory.valid_from, memory.memory_id))
    originals = dict.fromkeys(
        original for memory in ordered for original in memory.merged_from or (memory.memory_id,)
    )
    return _Sources(
        memories=tuple(ordered),
        originals=tuple(originals),
        replaces=tuple(memory.memory_id for memory in ordered if memory.merged_from),
        texts=tuple(texts),
    )


def _may_be_one(sources: _Sources, item: Item) -> bool:
    """Whether memories of these sorts may become one of the proposed sort."""
    operation, memories = item.operation, sources.memories
    if len(memories) < SOURCES_MIN:
        return False
    if operation.slot in _KEPT_APART or any(memory.slot in _KEPT_APART for memory in memories):
        return False
    vouched = {(memory.source, memory.provenance) for memory in memories}
    if len(vouched) > 1 or any(memory.about != operation.about for memory in memories):
        return False
    kinds = {memory.kind for memory in memories}
    if operation.kind is MemoryKind.PROCEDURAL or MemoryKind.PROCEDURAL in kinds:
        return kinds == {operation.kind}
    if memories[0].source is Source.ASSISTANT:
        return operation.kind is MemoryKind.EPISODIC and operation.slot is Slot.EPISODE
    return all(
        memory.kind is MemoryKind.EPISODIC or memory.slot is operation.slot for memory in memories
    )


def _founded(sources: _Sources, item: Item) -> bool:
    """Whether nothing is told that no source told."""
    moments = (memory.valid_from for memory in sources.memories)
    return is_founded(item.operation.content, sources.texts, moments)


def _merged(
    sources: _Sources,
    item: Item,
    *,
    memory_id: UUID,
    embedding: Embedding | None,
    now: datetime,
) -> Memory:
    operation, memories = item.operation, sources.memories
    oldest, newest = memories[0], memories[-1]
    ends = [memory.expires_at for memory in memories if memory.expires_at is not None]
    return Memory(
        memory_id=memory_id,
        lineage_id=memory_id,
        kind=operation.kind,
        content=operation.content,
        slot=operation.slot,
        about=operation.about,
        importance=max(operation.importance, *(memory.importance for memory in memories)),
        confidence=_confidence(sources, item),
        source=newest.source,
        turn_id=newest.turn_id,
        conversation_id=newest.conversation_id,
        quote=newest.quote,
        valid_from=oldest.valid_from,
        valid_from_precision=oldest.valid_from_precision,
        recorded_at=now,
        # Its sources are served no more, so it must not cease before the last of them would have.
        expires_at=max(ends) if len(ends) == len(memories) else None,
        embedding=embedding,
        provenance=newest.provenance,
        merged_from=sources.originals,
    )


def _confidence(sources: _Sources, item: Item) -> Confidence:
    sure = all(
        memory.confidence is Confidence.STATED
        and (memory.kind is item.operation.kind or item.operation.kind is MemoryKind.EPISODIC)
        for memory in sources.memories
    )
    return item.operation.confidence if sure else Confidence.INFERRED
