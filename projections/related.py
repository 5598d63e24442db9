"""Rows of memories, and the question for every version that a decision may touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from projections.vectors import HalfVectors, Halves, usable_halves
from schemas.memory import Embedding, Memory
from schemas.ports import SimilarTo, StoredMemory
from schemas.slots import Slot

_MEMORY_COLUMNS: Final = (
    "memory_id",
    "lineage_id",
    "kind",
    "content",
    "slot",
    "about",
    "importance",
    "confidence",
    "source",
    "turn_id",
    "conversation_id",
    "quote",
    "valid_from",
    "valid_from_precision",
    "valid_to",
    "recorded_at",
    "expires_at",
    "provenance",
    "merged_from",
    "curated_at",
)
"""What a query returns of a memory, in this order."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """One question.

    Attributes:
        subject: whose memories are meant.
        slots, statement_keys, memory_ids, similar, turn_ids, suppression_keys: as for
            ``Ledger.related``.
    """

    subject: UUID
    slots: tuple[tuple[Slot, str], ...]
    statement_keys: tuple[bytes, ...]
    memory_ids: tuple[UUID, ...]
    similar: tuple[SimilarTo, ...]
    turn_ids: tuple[UUID, ...] = ()
    suppression_keys: tuple[bytes, ...] = ()


def parameters(asked: Sequence[Named], *, model: str, dimension: int) -> dict[str, Any]:
    """Return the parameters of ``select_related``: each list with the question it belongs to.

    Args:
        asked: the questions.
        model: the model of the read model's vectors; with one of another model nothing is asked.
        dimension: their dimension.
    """
    slots = [(at, one.subject, slot) for at, one in enumerate(asked) for slot in one.slots]
    keys = [(at, one.subject, key) for at, one in enumerate(asked) for key in one.statement_keys]
    memories = [(at, one.subject, it) for at, one in enumerate(asked) for it in one.memory_ids]
    turns = [(at, one.subject, it) for at, one in enumerate(asked) for it in one.turn_ids]
    near = [
        (at, one.subject, similar, halves)
        for at, one in enumerate(asked)
        for similar in one.similar
        if (halves := usable_halves(similar.vector, model=model, dimension=dimension)) is not None
    ]
    return {
        "slot_places": [at for at, _, _ in slots],
        "slot_subjects": [subject for _, subject, _ in slots],
        "slots": [slot.value for _, _, (slot, _) in slots],
        "abouts": [about for _, _, (_, about) in slots],
        "key_places": [at for at, _, _ in keys],
        "key_subjects": [subject for _, subject, _ in keys],
        "keys": [key for _, _, key in keys],
        "memory_places": [at for at, _, _ in memories],
        "memory_subjects": [subject for _, subject, _ in memories],
        "memories": [memory_id for _, _, memory_id in memories],
        "turn_places": [at for at, _, _ in turns],
        "turn_subjects": [subject for _, subject, _ in turns],
        "turns": [turn_id for _, _, turn_id in turns],
        "near_places": [at for at, _, _, _ in near],
        "near_subjects": [subject for _, subject, _, _ in near],
        "near_slots": [similar.slot.value for _, _, similar, _ in near],
        "near_abouts": [similar.about for _, _, similar, _ in near],
        "near_kinds": [similar.kind.value for _, _, similar, _ in near],
        "near_vectors": HalfVectors([halves for _, _, _, halves in near]),
        "near_most": [similar.most for _, _, similar, _ in near],
    }


def suppression_parameters(asked: Sequence[Named]) -> dict[str, Any] | None:
    """Return the parameters of ``select_suppressed``; ``None`` where no key is asked about."""
    keys = [(at, one.subject, key) for at, one in enumerate(asked) for key in one.suppression_keys]
    if not keys:
        return None
    return {
        "places": [at for at, _, _ in keys],
        "subjects": [subject for _, subject, _ in keys],
        "keys": [key for _, _, key in keys],
    }


def only_memories(subject: UUID, memory_ids: Sequence[UUID]) -> Named:
    """Return the question for the lineages of some versions."""
    ids = tuple(memory_ids)
    return Named(subject=subject, slots=(), statement_keys=(), memory_ids=ids, similar=())


def tied(stored: Iterable[StoredMemory]) -> tuple[UUID, ...]:
    """Return the versions that merges tie to some and that are not among them."""
    held = {one.memory.memory_id: one for one in stored}
    behind = (
        memory_id
        for one in held.values()
        for memory_id in (one.merged_into, *one.memory.merged_from)
        if memory_id is not None and memory_id not in held
    )
    return tuple(dict.fromkeys(behind))


def memory_of(columns: Sequence[Any]) -> Memory:
    """Return the memory of a row of ``_MEMORY_COLUMNS``, without its vector."""
    return Memory(**dict(zip(_MEMORY_COLUMNS, columns, strict=True)))


def stored_of(columns: Sequence[Any], *, model: str, dimension: int) -> StoredMemory:
    """Return the version of a row of ``select_related``, but for the question it belongs to.

    Args:
        columns: the row.
        model: the model of its vector.
        dimension: the vector's dimension.
    """
    *told, retracted_at, last_confirmed_at, merged_into, pinned_at, halves = columns
    memory = memory_of(told)
    return StoredMemory(
        memory=memory if halves is None else _with_vector(memory, halves, model, dimension),
        retracted=retracted_at is not None,
        confirmed_at=(last_confirmed_at,),
        merged_into=merged_into,
        pinned_at=pinned_at,
    )


def _with_vector(memory: Memory, halves: Halves, model: str, dimension: int) -> Memory:
    embedding = Embedding(model=model, dimension=dimension, halves=halves)
    return memory.model_copy(update={"embedding": embedding})
