"""Every embedder that ships, against what all of them owe."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from projections.embedders import CheckedEmbedder, HashEmbedder, MiniLmEmbedder, OpenAIEmbedder
from schemas.ports import Embedder
from tests.contracts.embedders import EmbedderContract, Opened, shared
from tests.support.embeddings_server import DIMENSION, embeddings_server


@functools.cache
def _minilm() -> Embedder:
    # Loading takes half a second and 200 MB.
    return CheckedEmbedder(MiniLmEmbedder())


class TestHash(EmbedderContract):
    def opened(self) -> Opened:
        return shared(CheckedEmbedder(HashEmbedder(dimension=64)))


class TestMiniLm(EmbedderContract):
    def opened(self) -> Opened:
        return shared(_minilm())


class TestOpenAI(EmbedderContract):
    def opened(self) -> Opened:
        return _openai()


@asynccontextmanager
async def _openai() -> AsyncIterator[Embedder]:
    async with embeddings_server() as server:
        embedder = CheckedEmbedder(
            OpenAIEmbedder(
                model="model", dimension=DIMENSION, min_similarity=0.4, base_url=server.base_url
            )
        )
        try:
            yield embedder
        finally:
            await embedder.aclose()
