"""Changes as columns: what one statement of the projector takes for many rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias
from uuid import UUID

from projections.changes import (
    Change,
    Close,
    Confirm,
    Insert,
    Merge,
    Pin,
    Retract,
    Update,
    Vouch,
)
from projections.fold import MemoryRow, new_row
from projections.vectors import HalfVectors, Halves
from projections.words.postings import packed_words
from schemas.memory import Record, statement_key

Columns: TypeAlias = dict[str, Any]
"""Parameters of a statement: for each name a list, or vectors, with one element a row."""


@dataclass(kw_only=True, slots=True)
class ChangeGroup:
    """Changes that may be carried out kind by kind: inserts first, then the others in any order.

    Kinds other than inserts touch different columns, and within a kind the order is kept. What is
    not kept is the order of an insert and an earlier change of the same version, so such changes
    are never in one group.
    """

    inserts: list[Insert] = field(default_factory=list)
    closes: list[Close] = field(default_factory=list)
    confirms: list[Confirm] = field(default_factory=list)
    retracts: list[Retract] = field(default_factory=list)
    merges: list[Merge] = field(default_factory=list)
    vouches: list[Vouch] = field(default_factory=list)
    pins: list[Pin] = field(default_factory=list)

    def add(self, change: Change) -> None:
        """Append a change to those of its kind."""
        match change:
            case Insert():
                self.inserts.append(change)
            case Close():
                self.closes.append(change)
            case Confirm():
                self.confirms.append(change)
            case Retract():
                self.retracts.append(change)
            case Merge():
                self.merges.append(change)
            case Vouch():
                self.vouches.append(change)
            case Pin():
                self.pins.append(change)


def grouped(changes: Iterable[Change]) -> Iterator[ChangeGroup]:
    """Yield changes in as few groups as keep their meaning; for what workers write, in one."""
    group = ChangeGroup()
    touched: set[tuple[UUID, UUID]] = set()
    empty = True
    for change in changes:
        version = (change.subject, change.memory_id)
        if isinstance(change, Insert):
            if version in touched:
                yield group
                group, touched = ChangeGroup(), set()
        else:
            touched.add(version)
        group.add(change)
        empty = False
    if not empty:
        yield group


Updates: TypeAlias = Sequence[Update]
"""Changes of one kind, of versions that are there."""


def distinct_versions(changes: Updates) -> int:
    """Return how many versions some changes name."""
    return len({(change.subject, change.memory_id) for change in changes})


def insert_columns(
    inserts: Sequence[Insert], vectors: Sequence[Halves | None], embedder: str, dimension: int
) -> Columns:
    """Return the parameters that insert versions.

    Args:
        inserts: the versions.
        vectors: the vector of each, or none.
        embedder: the name of the embedder that made the vectors.
        dimension: the components of the read model's vectors, which leave so much room for words.
    """
    rows = [new_row(insert) for insert in inserts]
    memories = [row.memory for row in rows]
    return {
        "subject": [row.subject for row in rows],
        "memory_id": [memory.memory_id for memory in memories],
        "lineage_id": [memory.lineage_id for memory in memories],
        "kind": [memory.kind.value for memory in memories],
        "content": [memory.content for memory in memories],
        "words": [packed_words(memory.content, dimension) for memory in memories],
        "statement_key": [_statement_key(row) for row in rows],
        "slot": [memory.slot.value for memory in memories],
        "about": [memory.about for memory in memories],
        "importance": [memory.importance for memory in memories],
        "confidence": [memory.confidence.value for memory in memories],
        "source": [memory.source.value for memory in memories],
        "turn_id": [memory.turn_id for memory in memories],
        "conversation_id": [memory.conversation_id for memory in memories],
        "quote": [memory.quote for memory in memories],
        "valid_from": [memory.valid_from for memory in memories],
        "valid_from_precision": [memory.valid_from_precision.value for memory in memories],
        "valid_to": [memory.valid_to for memory in memories],
        "recorded_at": [memory.recorded_at for memory in memories],
        "last_confirmed_at": [row.last_confirmed_at for row in rows],
        "expires_at": [memory.expires_at for memory in memories],
        "provenance": [_json(memory.provenance) for memory in memories],
        "merged_from": [array_text(memory.merged_from) for memory in memories],
        "curated_at": [memory.curated_at for memory in memories],
        "embedding_model": [None if vector is None else embedder for vector in vectors],
        "embedding": HalfVectors(vectors),
    }


def array_text(elements: Iterable[object]) -> str:
    """Return ids, or names without special characters, as the text of an array.

    Arrays of different lengths, one a row, cannot be elements of one parameter.
    """
    return "{" + ",".join(map(str, elements)) + "}"


def _json(record: Record | None) -> str | None:
    return None if record is None else record.model_dump_json()


def _statement_key(row: MemoryRow) -> bytes:
    memory = row.memory
    return statement_key(memory.kind, memory.about, memory.content, memory.valid_from)


def close_columns(closes: Sequence[Close]) -> Columns:
    """Return the parameters that close versions."""
    return _versions(closes) | {
        "valid_to": [close.valid_to for close in closes],
        "closed_recorded_at": [close.closed_recorded_at for close in closes],
    }


def confirm_columns(confirms: Sequence[Confirm]) -> Columns:
    """Return the parameters that count confirmations."""
    renewals = [confirm.renewal for confirm in confirms]
    return _versions(confirms) | {
        "confirmed_at": [confirm.confirmed_at for confirm in confirms],
        "renews": [renewal is not None for renewal in renewals],
        "expires_at": [None if renewal is None else renewal.expires_at for renewal in renewals],
    }


def retract_columns(retracts: Sequence[Retract]) -> Columns:
    """Return the parameters that withdraw versions."""
    return _versions(retracts) | {"retracted_at": [retract.retracted_at for retract in retracts]}


def merge_columns(merges: Sequence[Merge]) -> Columns:
    """Return the parameters that let other versions stand for some."""
    return _versions(merges) | {
        "merged_into": [merge.merged_into for merge in merges],
        "merged_valid_from": [merge.merged_valid_from for merge in merges],
        "merged_at": [merge.merged_at for merge in merges],
    }


def vouch_columns(vouches: Sequence[Vouch]) -> Columns:
    """Return the parameters that let versions stand as a person's own statements."""
    return _versions(vouches) | {"curated_at": [vouch.curated_at for vouch in vouches]}


def pin_columns(pins: Sequence[Pin]) -> Columns:
    """Return the parameters that pin versions, or pin them no longer."""
    return _versions(pins) | {"pinned_at": [pin.pinned_at for pin in pins]}


def _versions(changes: Updates) -> Columns:
    return {
        "subjects": [change.subject for change in changes],
        "memory_ids": [change.memory_id for change in changes],
    }
