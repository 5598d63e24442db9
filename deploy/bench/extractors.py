"""An extractor that takes as long as a model does, for a bench to put into a worker."""

from __future__ import annotations

import asyncio
from typing import Final

from processors.extractors.verbatim import VerbatimExtractor
from schemas.ports import Extraction, ExtractionRequest

SLOW: Final = f"{__name__}:SlowExtractor"
"""What ``MEMLEDGER_EXTRACTOR`` names it by."""

LATENCY_S: Final = 0.5


class SlowExtractor(VerbatimExtractor):
    """Answers as ``verbatim`` does, after the time that a model would take."""

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose the user's text as one episode, ``LATENCY_S`` seconds after it was asked."""
        await asyncio.sleep(LATENCY_S)
        return await super().extract(request)
