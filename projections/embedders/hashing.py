"""An embedder without a model: a hashed bag of words, for tests and benches.

Two texts are near where they share words, nothing more. It costs next to nothing, so a bench that
uses it measures the pipeline and not a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from zlib import crc32

import numpy as np

from projections.embedders.checks import unit_rows
from schemas.memory import folded
from schemas.ports import Vectors

MIN_SIMILARITY: Final = 0.3
"""About every third word shared; unrelated short sentences share one function word at most."""


class HashEmbedder:
    """Counts words into ``dimension`` buckets, chosen by the CRC-32 of the folded word.

    Counts have no sign, so no two words cancel and a text with a word never gives a zero vector.
    """

    def __init__(self, *, dimension: int) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        """``hash-v1`` and the dimension."""
        return f"hash-v1:{self._dimension}"

    @property
    def dimension(self) -> int:
        """Number of buckets."""
        return self._dimension

    @property
    def min_similarity(self) -> float:
        """The cosine from which texts count as sharing words."""
        return MIN_SIMILARITY

    @property
    def same_statement_similarity(self) -> None:
        """``None``: counts of words tell nothing of what they mean."""
        return None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text: its word counts, brought to length 1."""
        counts = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in zip(counts, texts, strict=True):
            for word in folded(text).split():
                row[crc32(word.encode()) % self._dimension] += 1
        return unit_rows(counts)
