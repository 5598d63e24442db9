"""Memories that say the same twice: what is served once.

Two statements that are alike may differ in a digit or a "not", and vectors see little of it. So two
count as one only where all their words are equal, in their order, but for the few that change
nothing, and their vectors agree.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from projections.recalled import RecalledMemory
from projections.vectors import Halves
from schemas.memory import MemoryKind, folded

SAME_COSINE_MIN: Final = 0.9
"""Statements of equal words lie above it under every embedder; what looks alike need not."""

_CHANGE_NOTHING: Final = frozenset(
    [
        *("a", "an", "the", "user", "i", "i'm", "am", "is", "are", "my"),
        *("der", "die", "das", "ein", "eine", "ich", "bin", "ist", "mein", "meine"),
        *("le", "la", "les", "un", "une", "je", "suis", "est", "mon", "ma"),
        *("el", "los", "las", "una", "yo", "soy", "mi"),
    ]
)
"""Articles, and how a statement names the one it is about: "I am vegan", "The user is vegan"."""


@dataclass(frozen=True, kw_only=True)
class Saying:
    """What decides whether two memories say the same.

    Attributes:
        memory: the memory.
        vector: its vector; ``None`` without one.
    """

    memory: RecalledMemory
    vector: Halves | None

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Its words but for those that change nothing."""
        words = folded(self.memory.content).split()
        return tuple([word for word in words if word not in _CHANGE_NOTHING])

    @cached_property
    def direction(self) -> NDArray[np.float32] | None:
        """Its vector at length 1; ``None`` without one that has a direction."""
        if self.vector is None:
            return None
        vector = np.frombuffer(self.vector, "<f2").astype(np.float32)
        length = float(np.sqrt(vector @ vector))
        return vector / np.float32(length) if length else None

    def same_as(self, other: Saying) -> bool:
        """Tell whether two memories say the same."""
        return (
            bool(self.words)
            and self.words == other.words
            and self._one_time(other)
            and folded(self.memory.about) == folded(other.memory.about)
            and self._alike(other)
        )

    def _one_time(self, other: Saying) -> bool:
        """Two episodes of different days are two, whatever their words."""
        mine, theirs = self.memory, other.memory
        if not mine.kind is theirs.kind is MemoryKind.EPISODIC:
            return True
        return mine.valid_from.date() == theirs.valid_from.date()

    def _alike(self, other: Saying) -> bool:
        mine, theirs = self.direction, other.direction
        return mine is None or theirs is None or float(mine @ theirs) >= SAME_COSINE_MIN
