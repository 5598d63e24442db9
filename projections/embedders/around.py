"""What every embedder that stands around another one tells of it."""

from __future__ import annotations

from typing import Final

from schemas.ports import Embedder


class AroundEmbedder:
    """An embedder that is the one inside, but for how it embeds.

    Args:
        inner: the embedder inside.
    """

    def __init__(self, inner: Embedder) -> None:
        self.inner: Final = inner

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
        """The cosine at and above which two of the model's vectors count as related."""
        return self.inner.min_similarity

    @property
    def same_statement_similarity(self) -> float | None:
        """The cosine below which two statements are never the same in other words, or ``None``."""
        return self.inner.same_statement_similarity

    @property
    def answered_as(self) -> str | None:
        """What the model called itself in the last answer; ``None`` where it does not say."""
        return getattr(self.inner, "answered_as", None)
