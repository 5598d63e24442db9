"""One spelling of a row, whether it comes from the table or from a fold, and digests of those."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, TypeAlias
from uuid import UUID

from projections.fold import ClosedTurn, MemoryRow
from projections.vectors import usable_halves
from schemas.memory import statement_key

CanonicalRow: TypeAlias = str
"""JSON with sorted keys; times in UTC with microseconds; bytes in hexadecimal digits."""

MEMORY_COLUMNS: Final = (
    "memory_id",
    "lineage_id",
    "kind",
    "content",
    "statement_key",
    "slot",
    "about",
    "importance",
    "confidence",
    "source",
    "turn_id",
    "conversation_id",
    "quote",
    "valid_from",
    "valid_to",
    "recorded_at",
    "closed_recorded_at",
    "retracted_at",
    "last_confirmed_at",
    "confirmations",
    "expires_at",
    "embedding_model",
    "embedding",
)
"""What a digest covers: everything that the log decides."""


def row_of_columns(columns: Sequence[object]) -> CanonicalRow:
    """Return the spelling of a row of the table, its columns in the order above."""
    return _spelled(dict(zip(MEMORY_COLUMNS, columns, strict=True)))


def row_of_fold(row: MemoryRow, *, embedder: str, dimension: int) -> CanonicalRow:
    """Return the spelling of a row of a fold, as a read model of that embedder holds it."""
    memory = row.memory
    halves = usable_halves(memory.embedding, model=embedder, dimension=dimension)
    values: dict[str, object] = memory.model_dump(exclude={"embedding"})
    values |= {
        "statement_key": statement_key(
            memory.kind, memory.about, memory.content, memory.valid_from
        ),
        "closed_recorded_at": row.closed_recorded_at,
        "retracted_at": row.retracted_at,
        "last_confirmed_at": row.last_confirmed_at,
        "confirmations": row.confirmations,
        "embedding_model": None if halves is None else embedder,
        "embedding": halves,
    }
    assert values.keys() == set(MEMORY_COLUMNS), "a memory has columns that no digest covers"  # noqa: S101 - a column left out would make every comparison worthless
    return _spelled(values)


def closed_turn_row(turn_id: UUID, closing: str, offset: int) -> CanonicalRow:
    """Return the spelling of how a turn closed."""
    return _spelled({"turn_id": turn_id, "closing": closing, "outcome_offset": offset})


def closed_turn_rows(closed: Mapping[UUID, ClosedTurn]) -> dict[UUID, CanonicalRow]:
    """Return the spelling of how turns closed, by turn."""
    return {
        turn_id: closed_turn_row(turn_id, how.closing.value, how.offset)
        for turn_id, how in closed.items()
    }


def digest_of(rows: Iterable[CanonicalRow]) -> str:
    """Return 32 hexadecimal digits that stand for rows, in whatever order they come."""
    digest = blake2b(digest_size=16, person=b"ml-rows")
    for row in sorted(rows):
        encoded = row.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def _spelled(values: Mapping[str, object]) -> CanonicalRow:
    return json.dumps(values, sort_keys=True, ensure_ascii=False, default=_plain)


def _plain(value: object) -> str:
    match value:
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds")
        case UUID():
            return str(value)
        case bytes() | memoryview():
            return bytes(value).hex()
    raise TypeError(f"a row holds a {type(value).__name__}, which has no canonical spelling")
