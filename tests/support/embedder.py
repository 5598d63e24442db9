"""An embedder that fails when a test wants it to."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from schemas.errors import EmbedderUnavailable, EmbeddingFailed
from schemas.ports import Vectors


class CountingEmbedder:
    """Gives each text a vector that tells its length.

    Attributes:
        texts: every text that was asked about, by call.
        failures: how many calls from now on fail.
        refused: texts with which every call fails.
        unavailable: whether it cannot be asked at all.
    """

    name = "counting"
    dimension = 2
    min_similarity = 0.5
    same_statement_similarity = None

    def __init__(
        self,
        *,
        failures: int = 0,
        refused: Collection[str] = (),
        unavailable: bool = False,
    ) -> None:
        self.failures = failures
        self.refused = refused
        self.unavailable = unavailable
        self.texts: list[list[str]] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        self.texts.append(list(texts))
        if self.failures > 0:
            self.failures -= 1
            raise EmbeddingFailed("no answer")
        if self.unavailable:
            raise EmbedderUnavailable("nobody there")
        if any(text in self.refused for text in texts):
            raise EmbeddingFailed("one of the texts is refused")
        angles = np.array([len(text) / 100 for text in texts], dtype=np.float32)
        return np.stack([np.cos(angles), np.sin(angles)], axis=1)
