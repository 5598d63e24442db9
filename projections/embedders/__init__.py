"""Embedders: what turns a text into a vector, each behind :class:`schemas.ports.Embedder`."""

from __future__ import annotations

from typing import Final

from projections.embedders.breaker import BreakingEmbedder
from projections.embedders.checks import CheckedEmbedder, checked_vectors
from projections.embedders.hashing import HashEmbedder
from projections.embedders.minilm import MiniLmEmbedder
from projections.embedders.openai import DEFAULT_BASE_URL, OpenAIEmbedder
from schemas.errors import ConfigurationError
from schemas.ports import Embedder
from schemas.settings import Settings

__all__ = [
    "BreakingEmbedder",
    "CheckedEmbedder",
    "HashEmbedder",
    "MiniLmEmbedder",
    "OpenAIEmbedder",
    "checked_vectors",
    "make_embedder",
]

_SHORTENING: Final = "text-embedding-3-"
"""Models whose names begin so give vectors of any shorter dimension that is asked for."""

_SHORTENING_MIN_SIMILARITY: Final = 0.3
"""An assumption for those models, not a measurement: the setting overrides it."""


def make_embedder(settings: Settings) -> CheckedEmbedder:
    """Return the embedder that the settings name, its answers checked.

    Raises:
        ConfigurationError: no such embedder, an extra is missing, or a setting that it needs.
    """
    return CheckedEmbedder(_embedder(settings))


def _embedder(settings: Settings) -> Embedder:
    match settings.embedder:
        case "minilm":
            return MiniLmEmbedder()
        case "hash":
            return HashEmbedder(dimension=settings.embedder_dimension)
        case "openai":
            return BreakingEmbedder(_openai(settings))
        case other:
            raise ConfigurationError(
                f"MEMLEDGER_EMBEDDER is {other!r}: set it to minilm, openai or hash"
            )


def _openai(settings: Settings) -> OpenAIEmbedder:
    if settings.embedder_base_url is None and settings.embedder_api_key is None:
        raise ConfigurationError(
            "the embedder openai needs MEMLEDGER_EMBEDDER_API_KEY, or MEMLEDGER_EMBEDDER_BASE_URL "
            "of a server of your own"
        )
    shortens = settings.embedder_model.startswith(_SHORTENING)
    min_similarity = settings.recall_min_similarity
    if min_similarity is None and not shortens:
        raise ConfigurationError(
            f"no similarity threshold is known for the model {settings.embedder_model!r}: measure "
            "which cosine its related texts reach and set MEMLEDGER_RECALL_MIN_SIMILARITY"
        )
    return OpenAIEmbedder(
        model=settings.embedder_model,
        dimension=settings.embedder_dimension,
        min_similarity=_SHORTENING_MIN_SIMILARITY if min_similarity is None else min_similarity,
        same_statement_similarity=settings.embedder_same_statement_similarity,
        base_url=settings.embedder_base_url or DEFAULT_BASE_URL,
        api_key=settings.embedder_api_key,
        ask_dimension=shortens,
        deadline_s=settings.embedder_timeout_s,
    )
