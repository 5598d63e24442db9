"""An extractor that takes as long as a model does, for a bench to put into a worker."""

from __future__ import annotations

import asyncio
import os
from typing import Final

from processors.extractors.verbatim import VerbatimExtractor
from schemas.errors import ConfigurationError
from schemas.ports import Extraction, ExtractionRequest

SLOW: Final = f"{__name__}:slow_extractor"
"""What ``MEMLEDGER_EXTRACTOR`` names it by."""

LATENCY_VARIABLE: Final = "MEMLEDGER_BENCH_LATENCY_S"


class SlowExtractor(VerbatimExtractor):
    """Answers as ``verbatim`` does, after the time that a model would take."""

    def __init__(self, latency_s: float) -> None:
        self._latency_s = latency_s

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose the user's text as one episode, ``latency_s`` seconds after it was asked."""
        await asyncio.sleep(self._latency_s)
        return await super().extract(request)


def slow_extractor() -> SlowExtractor:
    """Return an extractor of the latency that the environment names.

    Raises:
        ConfigurationError: it names none, or not in seconds.
    """
    try:
        return SlowExtractor(float(os.environ[LATENCY_VARIABLE]))
    except (KeyError, ValueError):
        raise ConfigurationError(
            f"set {LATENCY_VARIABLE} to the seconds that an answer takes, such as 0.5"
        ) from None
