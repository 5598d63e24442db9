"""One spelling of a row, whether it comes from the table or from a fold, and digests of those."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Final, TypeAlias
from uuid import UUID

from projections.flag_fold import FlagRow
from projections.fold import MemoryRow
from projections.rejection_fold import Rejection
from projections.summary_fold import SummaryRow
from projections.turn_fold import ClosedTurn
from projections.vectors import usable_halves
from projections.words.postings import packed_words
from schemas.memory import statement_key
from schemas.waiting import WaitingTurn

CanonicalRow: TypeAlias = str
"""JSON with sorted keys; times in UTC with microseconds; bytes in hexadecimal digits."""

MEMORY_COLUMNS: Final = (
    "memory_id",
    "lineage_id",
    "kind",
    "content",
    "words",
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
    "valid_from_precision",
    "valid_to",
    "recorded_at",
    "closed_recorded_at",
    "retracted_at",
    "last_confirmed_at",
    "confirmations",
    "expires_at",
    "expiry_confirmed_at",
    "provenance",
    "merged_from",
    "merged_into",
    "merged_valid_from",
    "merged_at",
    "curated_at",
    "pinned_at",
    "embedding_model",
    "embedding",
)
"""What a digest covers: everything that the log decides."""

WAITING_COLUMNS: Final = (
    "partition",
    "turn_offset",
    "conversation_id",
    "cause",
    "occurred_at",
    "received_at",
)
FLAG_COLUMNS: Final = (
    "flag_id",
    "tenant",
    "state",
    "turn_id",
    "conversation_id",
    "reasons",
    "proposed",
    "said_at",
    "utc_offset_minutes",
    "flagged_at",
    "actor",
    "reason",
    "decided_at",
    "decided_by_turn",
)
SUMMARY_COLUMNS: Final = (
    "record_id",
    "partition",
    "conversation_id",
    "turn_offset",
    "summary",
    "reason",
    "turn_ids",
    "refused",
    "cut",
    "shortened",
    "more",
    "first_said_at",
    "last_said_at",
    "extractor",
    "model",
    "prompt_hash",
    "made_at",
)
REJECTION_COLUMNS: Final = ("record_id", "place", "turn_id", "reasons", "rejected_at")


def row_of_columns(columns: Sequence[object], *, dimension: int) -> CanonicalRow:
    """Return the spelling of a row of the table, its columns in the order above.

    Words that were not made yet, of a row of an earlier release, are no difference.
    """
    values = dict(zip(MEMORY_COLUMNS, columns, strict=True))
    if values["words"] is None:
        values["words"] = packed_words(str(values["content"]), dimension)
    return spelled(values)


def row_of_fold(row: MemoryRow, *, embedder: str, dimension: int) -> CanonicalRow:
    """Return the spelling of a row of a fold, as a read model of that embedder holds it."""
    memory = row.memory
    halves = usable_halves(memory.embedding, model=embedder, dimension=dimension)
    values: dict[str, object] = memory.model_dump(exclude={"embedding"})
    values |= {
        "words": packed_words(memory.content, dimension),
        "statement_key": statement_key(
            memory.kind, memory.about, memory.content, memory.valid_from
        ),
        "closed_recorded_at": row.closed_recorded_at,
        "retracted_at": row.retracted_at,
        "last_confirmed_at": row.last_confirmed_at,
        "confirmations": row.confirmations,
        "expiry_confirmed_at": row.expiry_confirmed_at,
        "merged_into": None if row.merged is None else row.merged.merged_into,
        "merged_valid_from": None if row.merged is None else row.merged.merged_valid_from,
        "merged_at": None if row.merged is None else row.merged.merged_at,
        "pinned_at": row.pinned_at,
        "embedding_model": None if halves is None else embedder,
        "embedding": halves,
    }
    assert values.keys() == set(MEMORY_COLUMNS), "a memory has columns that no digest covers"  # noqa: S101 - a column left out would make every comparison worthless
    return spelled(values)


def closed_turn_row(
    turn_id: UUID,
    closing: str | None,
    offset: int | None,
    settled_offset: int | None,
    conversation_id: str | None,
) -> CanonicalRow:
    """Return the spelling of how a turn closed."""
    return spelled(
        {
            "turn_id": turn_id,
            "closing": closing,
            "outcome_offset": offset,
            "settled_offset": settled_offset,
            "conversation_id": conversation_id,
        }
    )


def closed_turn_rows(closed: Mapping[UUID, ClosedTurn]) -> dict[UUID, CanonicalRow]:
    """Return the spelling of how turns closed, by turn."""
    return {
        turn_id: closed_turn_row(
            turn_id, how.closing.value, how.offset, how.settled_offset, how.conversation_id
        )
        for turn_id, how in closed.items()
    }


def waiting_row_of_columns(columns: Sequence[object]) -> CanonicalRow:
    """Return the spelling of a turn that waits, its columns in the order above."""
    return spelled(dict(zip(WAITING_COLUMNS, columns, strict=True)))


def waiting_row_of_fold(waiting: WaitingTurn, *, partition: int) -> CanonicalRow:
    """Return the spelling of a turn that waits in a fold of a partition."""
    values: dict[str, object] = waiting.deferral.model_dump()
    values |= {"partition": partition, "turn_offset": waiting.turn_offset}
    assert values.keys() == set(WAITING_COLUMNS), "a deferral has fields that no digest covers"  # noqa: S101 - a field left out would make every comparison worthless
    return spelled(values)


def flag_row_of_columns(columns: Sequence[object]) -> CanonicalRow:
    """Return the spelling of a flag, its columns in the order above."""
    return spelled(dict(zip(FLAG_COLUMNS, columns, strict=True)))


def flag_row_of_fold(flag_id: UUID, row: FlagRow, *, tenant: str | None) -> CanonicalRow:
    """Return the spelling of a flag of a fold, of a subject of that tenant."""
    values: dict[str, object] = dict.fromkeys(FLAG_COLUMNS)
    values |= {"flag_id": flag_id, "tenant": tenant, "state": row.state}
    if row.raised is not None:
        values |= row.raised.model_dump(exclude={"event", "version", "operation"})
        # As the table holds it: JSON, in which a time is text.
        values["proposed"] = row.raised.proposed.model_dump(mode="json")
    if row.decided is not None:
        values |= row.decided.decision.model_dump(exclude={"event", "version"})
        values["decided_by_turn"] = row.decided.turn_id
    assert values.keys() == set(FLAG_COLUMNS), "a flag has fields that no digest covers"  # noqa: S101 - a field left out would make every comparison worthless
    return spelled(values)


def rejection_row_of_columns(columns: Sequence[object]) -> CanonicalRow:
    """Return the spelling of an operation that was refused, its columns in the order above."""
    return spelled(dict(zip(REJECTION_COLUMNS, columns, strict=True)))


def rejection_row_of_fold(rejection: Rejection) -> CanonicalRow:
    """Return the spelling of an operation that was refused in a fold."""
    values: dict[str, object] = asdict(rejection)
    assert values.keys() == set(REJECTION_COLUMNS), "a refusal has fields that no digest covers"  # noqa: S101 - a field left out would make every comparison worthless
    return spelled(values)


def summary_row_of_columns(columns: Sequence[object]) -> CanonicalRow:
    """Return the spelling of a session's summary, its columns in the order above."""
    return spelled(dict(zip(SUMMARY_COLUMNS, columns, strict=True)))


def summary_row_of_fold(row: SummaryRow, *, partition: int) -> CanonicalRow:
    """Return the spelling of a session's summary in a fold of a partition."""
    values: dict[str, object] = asdict(row)
    del values["source_ids"]  # they follow from the others
    values["refused"] = {one.reason.value: one.sentences for one in row.refused}
    values["partition"] = partition
    assert values.keys() == set(SUMMARY_COLUMNS), "a summary has fields that no digest covers"  # noqa: S101 - a field left out would make every comparison worthless
    return spelled(values)


def suppression_row(suppressed_at: datetime) -> CanonicalRow:
    """Return the spelling of a statement that is not stored again, without its key."""
    return spelled({"suppressed_at": suppressed_at})


def digest_of(rows: Iterable[CanonicalRow]) -> str:
    """Return 32 hexadecimal digits that stand for rows, in whatever order they come."""
    digest = blake2b(digest_size=16, person=b"ml-rows")
    for row in sorted(rows):
        encoded = row.encode()
        digest.update(len(encoded).to_bytes(4, "big"))
        digest.update(encoded)
    return digest.hexdigest()


def spelled(values: Mapping[str, object]) -> CanonicalRow:
    """Return the one spelling of a row's columns."""
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
