"""Leaving an embedder alone that does not answer: waiting for it must not cost every turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from projections.embedders.around import AroundEmbedder
from schemas.breaker import Breaker, LeftAlone, Pauses
from schemas.errors import EmbedderUnavailable
from schemas.ports import Embedder, Vectors

FAILURES_MAX: Final = 3
"""Calls in a row for which the embedder was unavailable before it is left alone."""

PAUSE_FIRST_S: Final = 5.0
PAUSE_MAX_S: Final = 60.0
_ASKED_PAUSE_MAX_S: Final = 300.0

_PAUSES: Final = Pauses(
    failures_max=FAILURES_MAX,
    first_s=PAUSE_FIRST_S,
    max_s=PAUSE_MAX_S,
    asked_max_s=_ASKED_PAUSE_MAX_S,
)


class BreakingEmbedder(AroundEmbedder):
    """A circuit breaker around an embedder behind a network.

    After ``FAILURES_MAX`` failures in a row nobody asks for 5 s; then one call tries, while the
    others still fail at once, and if it fails too the pause doubles, up to 60 s. A pause that the
    embedder asks for itself is kept, up to 300 s. Only :class:`EmbedderUnavailable` counts: a text
    that the embedder refuses says nothing of the next one.
    """

    def __init__(self, inner: Embedder, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Wrap an embedder.

        Args:
            inner: the embedder.
            clock: a time in seconds that never goes back.
        """
        super().__init__(inner)
        self._breaker = Breaker(_PAUSES, clock=clock)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text.

        Raises:
            EmbedderUnavailable: the embedder does not answer, or did not shortly before.
            EmbeddingFailed: what the embedder raises.
        """
        try:
            with self._breaker.attempt() as attempt:
                try:
                    vectors = await self.inner.embed(texts)
                except EmbedderUnavailable as error:
                    attempt.failed(str(error), asked_s=error.retry_after_s)
                    raise
                except Exception:
                    attempt.answered()
                    raise
                attempt.answered()
                return vectors
        except LeftAlone as alone:
            raise EmbedderUnavailable(
                f"embedder {self.name} is left alone since it {alone}",
                retry_after_s=max(alone.left_s, 1.0),
            ) from None

    async def warm_up(self) -> None:
        """Load what the embedder loads at its first text."""
        load = getattr(self.inner, "warm_up", None)
        if load is not None:
            await load()

    async def aclose(self) -> None:
        """Release what the embedder holds."""
        close = getattr(self.inner, "aclose", None)
        if close is not None:
            await close()
