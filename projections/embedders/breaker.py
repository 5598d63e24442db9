"""Leaving an embedder alone that does not answer: waiting for it must not cost every turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from schemas.errors import EmbedderUnavailable
from schemas.ports import Embedder, Vectors

FAILURES_MAX: Final = 3
"""Calls in a row for which the embedder was unavailable before it is left alone."""

PAUSE_FIRST_S: Final = 5.0
PAUSE_MAX_S: Final = 60.0
_ASKED_PAUSE_MAX_S: Final = 300.0


class BreakingEmbedder:
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
        self.inner: Final = inner
        self._clock = clock
        self._failures = 0
        self._pause_s = PAUSE_FIRST_S
        self._until = 0.0
        self._open = False
        self._trying = False
        self._problem = ""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.inner.name

    @property
    def dimension(self) -> int:
        """Number of components."""
        return self.inner.dimension

    @property
    def min_similarity(self) -> float:
        """The cosine from which the model's vectors count as related."""
        return self.inner.min_similarity

    @property
    def answered_as(self) -> str | None:
        """What the model called itself in the last answer."""
        return getattr(self.inner, "answered_as", None)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text.

        Raises:
            EmbedderUnavailable: the embedder does not answer, or did not shortly before.
            EmbeddingFailed: what the embedder raises.
        """
        trying = self._open
        if trying:
            left_s = self._until - self._clock()
            if left_s > 0 or self._trying:
                raise EmbedderUnavailable(
                    f"embedder {self.name} is left alone since it failed {self._failures} times in "
                    f"a row, the last time with: {self._problem}",
                    retry_after_s=max(left_s, 1.0),
                )
            self._trying = True
        try:
            vectors = await self.inner.embed(texts)
        except EmbedderUnavailable as error:
            self._failed(error, tried=trying)
            raise
        except Exception:
            self._answered()
            raise
        else:
            self._answered()
            return vectors
        finally:
            if trying:
                self._trying = False

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

    def _failed(self, error: EmbedderUnavailable, *, tried: bool) -> None:
        self._failures += 1
        self._problem = str(error)
        asked_s = min(error.retry_after_s or 0.0, _ASKED_PAUSE_MAX_S)
        if tried:
            self._pause_s = min(2 * self._pause_s, PAUSE_MAX_S)
        elif self._open or (self._failures < FAILURES_MAX and not asked_s):
            # What was asked before it was left alone changes nothing any more.
            return
        self._open = True
        self._until = self._clock() + max(self._pause_s, asked_s)

    def _answered(self) -> None:
        self._failures = 0
        self._open = False
        self._pause_s = PAUSE_FIRST_S
