"""Memories as recall serves them, like any other but for what is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from projections.recalled import EmptyReason, LeftOut, RecalledMemory, RecallResult, TokenUse
from schemas.memory import Confidence, MemoryKind, Precision, Source
from schemas.slots import Slot

WHEN = datetime(2026, 3, 1, 9, tzinfo=UTC)


def recalled(content: str, **changed: Any) -> RecalledMemory:
    """Return a memory that was served."""
    memory_id = uuid4()
    fields: dict[str, Any] = {
        "memory_id": memory_id,
        "lineage_id": memory_id,
        "score": 0.7,
        "kind": MemoryKind.SEMANTIC,
        "content": content,
        "slot": Slot.NOTE,
        "about": "user",
        "importance": 3,
        "confidence": Confidence.STATED,
        "source": Source.USER,
        "provenance": None,
        "quote": "quote",
        "turn_id": UUID(int=1),
        "valid_from": WHEN,
        "valid_from_precision": Precision.MOMENT,
        "valid_to": None,
        "recorded_at": WHEN,
    }
    return RecalledMemory(**(fields | changed))


def result_of(*memories: RecalledMemory, **changed: Any) -> RecallResult:
    """Return what a recall answers that served these memories."""
    fields: dict[str, Any] = {
        "recall_id": uuid4(),
        "memories": memories,
        "reason": None if memories else EmptyReason.NONE_STORED,
        "unsearchable": 0,
        "policy": "similarity-1",
        "generation": "g1",
        "position": None,
        "left_out": LeftOut(),
        "tokens": TokenUse(used=0, budget=600, counter="estimate", exact=False),
        "explanation": None,
    }
    return RecallResult(**(fields | changed))
