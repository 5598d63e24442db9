"""One user's memories, in this process alone: what the workers ask of the read model."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn
from uuid import UUID

import numpy as np

from projections.fold import LoggedOutcome, MemoryRow, SubjectState
from schemas.memory import Embedding, Memory, statement_key
from schemas.ports import PartitionProgress, Related, SimilarTo, StoredMemory, TurnContext, Vectors
from schemas.records import Outcome
from schemas.slots import Slot


class SubjectLedger:
    """Folds a user's outcomes, and answers about them as the read model's ledger does.

    There are no partitions here: whatever is asked about one is refused.

    Args:
        subject: the user.
    """

    def __init__(self, subject: UUID) -> None:
        self._state = SubjectState(subject=subject)
        self._applied = 0

    def apply(self, outcome: Outcome) -> None:
        """Fold one more outcome."""
        self._state.apply(LoggedOutcome(offset=self._applied, outcome=outcome))
        self._applied += 1

    def memory(self, memory_id: UUID) -> Memory:
        """Return a version."""
        return self._state.memories[memory_id].memory

    def live(self) -> list[Memory]:
        """Return what is held to be true now."""
        return [row.memory for row in self._live()]

    def nearest(self, vectors: Sequence[Vectors], most: int) -> list[Memory]:
        """Return the live memories nearest to any of some vectors, each of shape (1, dimension)."""
        ranked: dict[UUID, tuple[float, Memory]] = {}
        for row in self._live():
            held = row.memory.embedding
            near = max((_cosine(held, vector) for vector in vectors), default=-1.0) if held else -1
            ranked[row.memory.memory_id] = (near, row.memory)
        by_distance = sorted(ranked.items(), key=lambda item: (-item[1][0], item[0]))
        return [memory for _, (_, memory) in by_distance[:most]]

    async def related(
        self,
        *,
        subject: UUID,  # noqa: ARG002 - the port's signature
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo] = (),
        turn_ids: Collection[UUID] = (),
        suppression_keys: Collection[bytes] = (),
    ) -> Related:
        """Return every version of the lineages that hold any of what is named."""
        rows = self._state.memories.values()
        near = {memory_id for asked in similar for memory_id in self._most_similar(asked)}
        lineages = {
            row.memory.lineage_id
            for row in rows
            if row.memory.memory_id in near
            or row.memory.memory_id in memory_ids
            or (row.memory.slot, row.memory.about) in slots
            or _key(row.memory) in statement_keys
            or row.memory.turn_id in turn_ids
        }
        told = self._state.suppressed
        return Related(
            versions=tuple(_stored(row) for row in rows if row.memory.lineage_id in lineages),
            suppressed={key: told[key] for key in suppression_keys if key in told},
        )

    async def claim(self, partition: int, owner: str) -> NoReturn:
        """Refuse."""
        raise NotImplementedError(f"{owner} claims partition {partition} of a single user")

    async def progress(self, partition: int) -> PartitionProgress:
        """Refuse."""
        raise NotImplementedError(f"no partition {partition} of a single user")

    async def wait_applied(self, partition: int, memories_offset: int) -> NoReturn:
        """Refuse."""
        raise NotImplementedError(f"no offset {memories_offset} of partition {partition}")

    async def context(
        self,
        *,
        subject: UUID,
        turn_id: UUID,
        partition: int,
        vector: Vectors | None,
        known_max: int,
    ) -> TurnContext:
        """Refuse."""
        del subject, vector, known_max
        raise NotImplementedError(f"turn {turn_id} lies in no partition {partition}")

    def _live(self) -> Iterator[MemoryRow]:
        for row in self._state.memories.values():
            if _stored(row).live:
                yield row

    def _most_similar(self, asked: SimilarTo) -> list[UUID]:
        alike = [
            (-_cosine(held, _components(asked.vector)), row.memory.memory_id)
            for row in self._live()
            if (held := row.memory.embedding) is not None
            and held.model == asked.vector.model
            and (row.memory.slot, row.memory.about) == (asked.slot, asked.about)
            and row.memory.kind is asked.kind
        ]
        return [memory_id for _, memory_id in sorted(alike)[: asked.most]]


def _components(vector: Embedding) -> Vectors:
    return np.frombuffer(vector.halves, "<f2").astype(np.float32)


def _cosine(held: Embedding, other: Vectors) -> float:
    one = _components(held)
    return float(one @ other.reshape(-1) / (np.linalg.norm(one) * np.linalg.norm(other)))


def _key(memory: Memory) -> bytes:
    return statement_key(memory.kind, memory.about, memory.content, memory.valid_from)


def _stored(row: MemoryRow) -> StoredMemory:
    return StoredMemory(
        memory=row.memory,
        retracted=row.retracted_at is not None,
        confirmed_at=(row.last_confirmed_at,),
        merged_into=row.merged_into,
        pinned_at=row.pinned_at,
    )
