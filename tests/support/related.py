"""What the port's contract says that a ledger answers, out of a fold in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from uuid import UUID

import numpy as np

from projections.fold import MemoryRow
from schemas.memory import Embedding, Memory, statement_key
from schemas.ports import SimilarTo
from schemas.slots import Slot


def related_rows(
    rows: Iterable[MemoryRow],
    *,
    slots: Collection[tuple[Slot, str]],
    statement_keys: Collection[bytes],
    memory_ids: Collection[UUID],
    similar: Collection[SimilarTo],
    turn_ids: Collection[UUID] = (),
) -> list[MemoryRow]:
    """Return every row that a decision may touch; only what is similar keeps its vector."""
    held = list(rows)
    near = {row.memory.memory_id for asked in similar for row in _nearest(held, asked)}
    lineages = {
        row.memory.lineage_id
        for row in held
        if row.memory.memory_id in memory_ids
        or row.memory.memory_id in near
        or (row.memory.slot, row.memory.about) in slots
        or _key(row.memory) in statement_keys
        or row.memory.turn_id in turn_ids
    }
    lineages |= {
        row.memory.lineage_id
        for row in held
        if row.memory.memory_id
        in {it.merged_into for it in held if it.memory.lineage_id in lineages}
    }
    lineages |= {
        row.memory.lineage_id
        for row in held
        if row.memory.memory_id
        in {
            source
            for it in held
            if it.memory.lineage_id in lineages
            for source in it.memory.merged_from
        }
    }
    return [
        row if row.memory.memory_id in near else _without_vector(row)
        for row in held
        if row.memory.lineage_id in lineages
    ]


def cosine(one: Embedding, other: Embedding) -> float:
    """Return the cosine of two vectors of one model."""
    left, right = (np.frombuffer(it.halves, "<f2").astype(np.float32) for it in (one, other))
    return float(left @ right / (np.linalg.norm(left) * np.linalg.norm(right)))


def _nearest(rows: Iterable[MemoryRow], asked: SimilarTo) -> list[MemoryRow]:
    live = [
        (cosine(vector, asked.vector), row)
        for row, vector in _live(rows)
        if vector.model == asked.vector.model
        and (row.memory.slot, row.memory.about) == (asked.slot, asked.about)
        and row.memory.kind is asked.kind
    ]
    live.sort(key=lambda found: (-found[0], found[1].memory.memory_id))
    return [row for _, row in live[: asked.most]]


def _live(rows: Iterable[MemoryRow]) -> Iterator[tuple[MemoryRow, Embedding]]:
    for row in rows:
        held = row.retracted_at is None and row.memory.valid_to is None and row.merged is None
        if held and row.memory.embedding is not None:
            yield row, row.memory.embedding


def _without_vector(row: MemoryRow) -> MemoryRow:
    return replace(row, memory=row.memory.model_copy(update={"embedding": None}))


def _key(memory: Memory) -> bytes:
    return statement_key(memory.kind, memory.about, memory.content, memory.valid_from)
