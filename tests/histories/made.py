"""Memories and operations as golden logs hold them."""

from __future__ import annotations

from typing import Any

import numpy as np

from schemas.memory import Confidence, Embedding, Memory, MemoryKind, Source
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.histories.writing import Written, WrittenTurn


def operation(action: Action, slot: Slot, content: str, quote: str, **changed: Any) -> Operation:
    """Return a proposed operation, like any other but for what is told."""
    fields: dict[str, Any] = {
        "action": action,
        "kind": MemoryKind.SEMANTIC,
        "slot": slot,
        "about": "user",
        "content": content,
        "importance": 3,
        "confidence": Confidence.STATED,
        "quote": quote,
    }
    return Operation(**(fields | changed))


def memory_of(written: Written, index: int, slot: Slot, content: str, **changed: Any) -> Memory:
    """Return the memory that a record's event at ``index`` brings forth."""
    turn = written.turn if isinstance(written, WrittenTurn) else None
    fields: dict[str, Any] = {
        "memory_id": written.memory_id(index),
        "lineage_id": written.memory_id(index),
        "kind": MemoryKind.SEMANTIC,
        "content": content,
        "slot": slot,
        "about": "user",
        "importance": 3,
        "confidence": Confidence.STATED,
        "source": Source.USER,
        "turn_id": written.turn_id,
        "conversation_id": turn.conversation_id if turn is not None else "",
        "quote": turn.user_text if turn is not None else "",
        "valid_from": written.occurred_at,
        "recorded_at": written.received_at,
    }
    return Memory(**(fields | changed))


def embedding(seed: int) -> Embedding:
    """Return a vector of length 1 that follows from ``seed``."""
    vector = np.random.default_rng(seed).normal(size=8)
    halves = (vector / np.linalg.norm(vector)).astype("<f2").tobytes()
    return Embedding(model="model-1:8", dimension=8, halves=halves)
