"""An embedder whose rows a test writes, good and bad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from projections.canary import SENTENCE
from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors
from tests.support.stored import AngleEmbedder, near


class ScriptedEmbedder:
    """Gives each text the row that was written for it, or one that follows from its length.

    Attributes:
        rows: by text, its row, whatever is wrong with it.
        refused: texts with which every call fails.
        fatal: texts at which the embedder breaks down, for the length of the call.
        down: whether it cannot be asked at all.
        turned: whether it gives every text another direction: another model of the same dimension.
        answered_as: what the model calls itself.
        calls: the texts of each call, without those that only ask whether it is there.
    """

    name = AngleEmbedder.name
    dimension = AngleEmbedder.dimension
    min_similarity = AngleEmbedder.min_similarity
    same_statement_similarity = None

    def __init__(self) -> None:
        self.rows: dict[str, Vectors] = {}
        self.refused: set[str] = set()
        self.fatal: set[str] = set()
        self.down = False
        self.turned = False
        self.answered_as: str | None = None
        self.calls: list[tuple[str, ...]] = []
        self.probes = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the rows."""
        if list(texts) == [SENTENCE]:
            self.probes += 1
        else:
            self.calls.append(tuple(texts))
        if self.down or any(text in self.fatal for text in texts):
            raise EmbedderUnavailable("nobody there")
        if any(text in self.refused for text in texts):
            raise EmbeddingFailed("one of the texts is refused")
        rows = np.stack([self.rows.get(text, vector_of(text)) for text in texts])
        return np.roll(rows, 2, axis=1) if self.turned else rows


def vector_of(text: str) -> Vectors:
    """Return the row of a text for which none was written: near to every question."""
    return near(0.9 - len(text) / 1000)


BAD_ROWS = {
    "not_finite": np.array([np.nan, 1, 0, 0], dtype=np.float32),
    "zero": np.zeros(4, dtype=np.float32),
    "not_normalised": np.array([3, 4, 0, 0], dtype=np.float32),
}
"""One row for each fault that a row of the right dimension can have."""
