"""The ``verbatim`` extractor: each user turn is an episode, kept in the user's own words."""

from __future__ import annotations

from typing import Final

from schemas.injection import cut_injection
from schemas.memory import ABOUT_USER, Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot

NAME: Final = "verbatim"
_VERSION: Final = "verbatim-1"
_IMPORTANCE: Final = 2


class VerbatimExtractor:
    """Keeps what the user said, whole; nothing is concluded, so nothing can be wrong."""

    @property
    def name(self) -> str:
        """The extractor's name."""
        return NAME

    @property
    def model(self) -> str:
        """The extractor's own name: no model is behind it."""
        return NAME

    @property
    def prompt_hash(self) -> str:
        """Its version: nothing else shapes its answers."""
        return _VERSION

    @property
    def known_max(self) -> int:
        """It looks at no memories."""
        return 0

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose the user's text as one episode; of a blank one, nothing."""
        text = cut_injection(request.turn.user_text)
        if not text.strip():
            return Extraction(operations=())
        episode = Operation(
            action=Action.ADD,
            kind=MemoryKind.EPISODIC,
            slot=Slot.EPISODE,
            about=ABOUT_USER,
            content=text,
            importance=_IMPORTANCE,
            confidence=Confidence.STATED,
            quote=text,
        )
        return Extraction(operations=(episode,))
