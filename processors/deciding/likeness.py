"""Whether a memory states the same as another in other words."""

from __future__ import annotations

import numpy as np

from processors.deciding.wording import may_state_the_same
from schemas.memory import Embedding, Memory


def states_the_same(one: Memory, other: Memory, *, similarity_min: float | None) -> bool:
    """Whether two memories of one slot, about and kind are one statement in two wordings.

    Args:
        one: a memory with its vector.
        other: the other one.
        similarity_min: the cosine below which they never are; ``None`` where none was measured for
            the model of the vectors: then they never are.
    """
    if similarity_min is None or one.embedding is None or other.embedding is None:
        return False
    if one.embedding.model != other.embedding.model:
        return False
    return may_state_the_same(one.content, other.content) and (
        _cosine(one.embedding, other.embedding) >= similarity_min
    )


def _cosine(one: Embedding, other: Embedding) -> float:
    left, right = (np.frombuffer(it.halves, "<f2").astype(np.float32) for it in (one, other))
    length = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / length if length > 0 else 0.0
