"""An embedder that is asked about each text once, however often an evaluation needs its vector."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from projections.embedders.around import AroundEmbedder
from schemas.ports import Embedder, Vectors

_BATCH: Final = 256


class KnownVectors(AroundEmbedder):
    """Remembers every vector.

    Args:
        embedder: gives them.
    """

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._known: dict[str, Vectors] = {}

    async def learn(self, texts: Iterable[str]) -> None:
        """Embed texts ahead of their use, many in one call.

        Raises:
            EmbedderUnavailable, EmbeddingFailed: as the embedder.
        """
        wanted = [text for text in dict.fromkeys(texts) if text not in self._known]
        for start in range(0, len(wanted), _BATCH):
            batch = wanted[start : start + _BATCH]
            self._known.update(zip(batch, await self.inner.embed(batch), strict=True))

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector of length 1 for each text.

        Raises:
            EmbedderUnavailable, EmbeddingFailed: as the embedder.
        """
        await self.learn(texts)
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])
