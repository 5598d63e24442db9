"""Asking recall what a filled read model is known to hold, and timing it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from deploy.bench.filling import DIMENSION, EMBEDDER, FilledSite
from deploy.bench.rows import MATCH_COSINE, MATCHES, BenchUser
from projections.recall import Recall
from schemas.ports import Vectors

_PARTITIONS: Final = 8
_LIMIT: Final = 3 * MATCHES  # what is found by words comes beside, and may come first
_SEED: Final = 7


class GivenEmbedder:
    """Answers with a vector that it was given: what an embedder takes is not measured here."""

    name = EMBEDDER
    dimension = DIMENSION
    min_similarity = MATCH_COSINE - 0.1  # halves round a little
    same_statement_similarity = None

    def __init__(self) -> None:
        self.vector: Vectors = np.zeros(DIMENSION, dtype=np.float32)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vector for each text."""
        return np.tile(self.vector, (len(texts), 1))


@dataclass(kw_only=True, slots=True)
class Asked:
    """What some recalls took and found.

    Attributes:
        seconds: what each took.
        found: how many matches were served.
        wanted: how many there are.
    """

    seconds: list[float]
    found: int = 0
    wanted: int = 0

    def add(self, other: Asked) -> None:
        """Count what others took and found too."""
        self.seconds.extend(other.seconds)
        self.found += other.found
        self.wanted += other.wanted


class RecallClient:
    """Asks the questions of users that are drawn by lot.

    Args:
        site: whose users ask.
        seed: of the lot.
    """

    def __init__(self, site: FilledSite, *, seed: int = _SEED) -> None:
        self._users = site.users
        self._random = np.random.default_rng(seed)
        self._embedder = GivenEmbedder()
        self._recall = Recall(site.read_model, self._embedder, partitions=_PARTITIONS)

    def next_user(self) -> BenchUser:
        """Return whose turn it is."""
        return self._users[int(self._random.integers(len(self._users)))]

    async def ask(self, recalls: int) -> Asked:
        """Recall for one user after the other, drawn by lot."""
        return await self._ask(self.next_user() for _ in range(recalls))

    async def ask_all(self) -> Asked:
        """Recall for each user once, in an order drawn by lot."""
        return await self._ask(
            self._users[place] for place in self._random.permutation(len(self._users))
        )

    async def _ask(self, users: Iterable[BenchUser]) -> Asked:
        asked = Asked(seconds=[])
        for user in users:
            self._embedder.vector = user.question
            began = time.perf_counter()
            result = await self._recall.recall(user.subject, user.asks, limit=_LIMIT)
            asked.seconds.append(time.perf_counter() - began)
            asked.wanted += len(user.matches)
            asked.found += len(user.matches & {memory.memory_id for memory in result.memories})
        return asked
