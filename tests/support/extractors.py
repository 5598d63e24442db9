"""Extractors that a test holds in its hand."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable
from uuid import UUID

from schemas.memory import Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot

Step = Callable[[ExtractionRequest], Awaitable[None]]


def episode(text: str) -> Operation:
    """Return the operation that keeps a text as an episode."""
    return Operation(
        action=Action.ADD,
        kind=MemoryKind.EPISODIC,
        slot=Slot.EPISODE,
        about="user",
        content=text,
        importance=2,
        confidence=Confidence.STATED,
        quote=text,
    )


async def _at_once(_: ExtractionRequest) -> None:
    return


class NotingExtractor:
    """Keeps each user turn as an episode and notes the calls.

    Attributes:
        requests: every request, in the order in which the calls began.
        gates: by user text, an event that a call with that text waits for.
    """

    name = "noting"
    model = "noting"
    prompt_hash = "noting-1"

    def __init__(self, *, step: Step = _at_once, known_max: int = 0) -> None:
        self.known_max = known_max
        self.requests: list[ExtractionRequest] = []
        self.gates: dict[str, asyncio.Event] = {}
        self._step = step

    @property
    def calls(self) -> dict[UUID, int]:
        """How often each turn was asked about."""
        calls: dict[UUID, int] = defaultdict(int)
        for request in self.requests:
            calls[request.turn.turn_id] += 1
        return dict(calls)

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return one episode, after the step and the gate."""
        self.requests.append(request)
        await self._step(request)
        gate = self.gates.get(request.turn.user_text)
        if gate is not None:
            await gate.wait()
        return Extraction(operations=(episode(request.turn.user_text),))


class SentencesExtractor:
    """Keeps each sentence of a user turn as an episode."""

    name = "sentences"
    model = "sentences"
    prompt_hash = "sentences-1"
    known_max = 0

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Propose every sentence, whatever it says."""
        sentences = request.turn.user_text.split(". ")
        return Extraction(operations=tuple(map(episode, sentences)))
