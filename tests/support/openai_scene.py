"""An embeddings server with the OpenAI embedder that asks it, for the length of one test."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from projections.embedders import CheckedEmbedder, OpenAIEmbedder
from tests.support.embeddings_server import DIMENSION, EmbeddingsServer, embeddings_server

Result = TypeVar("Result")


class OpenAIScene:
    """A server, an embedder that asks it, and the pauses the embedder made."""

    def __init__(
        self, server: EmbeddingsServer, *, ask_dimension: bool = False, deadline_s: float = 30.0
    ) -> None:
        self.server = server
        self.pauses_s: list[float] = []
        self.embedder = CheckedEmbedder(
            OpenAIEmbedder(
                model="model",
                dimension=DIMENSION,
                min_similarity=0.4,
                base_url=server.base_url + "/",
                api_key="key-1",
                ask_dimension=ask_dimension,
                deadline_s=deadline_s,
                sleep=self.sleep,
            )
        )

    async def sleep(self, seconds: float) -> None:
        """Note a pause, and make none."""
        self.pauses_s.append(seconds)


def play(
    act: Callable[[OpenAIScene], Awaitable[Result]],
    *,
    ask_dimension: bool = False,
    deadline_s: float = 30.0,
) -> Result:
    """Run a scene against a server of its own, with the embedder's settings as given."""

    async def playing() -> Result:
        async with embeddings_server() as server:
            scene = OpenAIScene(server, ask_dimension=ask_dimension, deadline_s=deadline_s)
            try:
                return await act(scene)
            finally:
                await scene.embedder.aclose()

    return asyncio.run(playing())
