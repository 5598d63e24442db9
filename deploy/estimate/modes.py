"""What each mode of extraction would have a model asked for some turns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from deploy.estimate.counting import Assumed, CountingProvider
from deploy.estimate.turns import sessions_of
from processors.closers.sessions import SESSION_TURNS_MAX
from processors.explicit_requests import wants_it_now
from processors.extraction import without_injection
from processors.extractors.model.extractor import ModelExtractor
from processors.extractors.model.making import extractor_around
from processors.small_talk import skip_reason
from schemas.clock import utc_now
from schemas.memory import Confidence, Memory, MemoryKind, Source
from schemas.ports import Extraction, ExtractionRequest, KnownMemory, SessionRequest
from schemas.proposals import Usage
from schemas.records import Turn
from schemas.settings import Settings
from schemas.slots import Slot

MODES: Final = ("turn", "session", "hybrid")


@dataclass(kw_only=True, slots=True)
class Estimate:
    """What one mode would have a model asked.

    Attributes:
        mode: the mode.
        turns: all turns.
        asked: turns that the model is shown to be asked about.
        kept_away: questions that code keeps from it, by reason: of turns, or of sessions of which
            each turn holds nothing.
        sessions: chat sessions that end with turns that waited.
        usage: what asking would cost.
    """

    mode: str
    turns: int = 0
    asked: int = 0
    kept_away: Counter[str] = field(default_factory=Counter)
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)


class Estimator:
    """Lets the real extractor ask a model that only counts.

    Args:
        settings: the deadlines and switches of the extractor, and the idle time of sessions.
        assumed: what is taken for granted.
    """

    def __init__(self, settings: Settings, assumed: Assumed) -> None:
        self._assumed = assumed
        self._idle_s = settings.session_idle_s
        self._extractor: ModelExtractor = extractor_around(CountingProvider(assumed), settings)
        self._known = tuple(_known(number, assumed) for number in range(assumed.known))

    async def estimate(self, mode: str, conversations: Sequence[Sequence[Turn]]) -> Estimate:
        """Return what a mode would have a model asked.

        Args:
            mode: one of ``MODES``.
            conversations: the turns of each conversation, in order.
        """
        found = Estimate(mode=mode, turns=sum(map(len, conversations)))
        for conversation in conversations:
            at_once, waiting = _parted(mode, conversation)
            for turn in at_once:
                await self._ask_turn(turn, found)
            ends = sessions_of(waiting, idle_s=self._idle_s, turns_max=SESSION_TURNS_MAX)
            for session in ends:
                await self._ask_session(session, found)
        return found

    async def _ask_turn(self, turn: Turn, found: Estimate) -> None:
        answer = await self._extractor.extract(ExtractionRequest(turn=turn, known=self._known))
        self._count(answer, found, [turn])

    async def _ask_session(self, session: Sequence[Turn], found: Estimate) -> None:
        found.sessions += 1
        request = SessionRequest(turns=tuple(session), known=self._known)
        answer = await self._extractor.extract_session(request)
        self._count(answer, found, session)

    def _count(self, answer: Extraction, found: Estimate, turns: Sequence[Turn]) -> None:
        if answer.skipped is not None:
            found.kept_away[answer.skipped] += 1
            return
        found.asked += len(turns)
        # The small talk of a session is shown with the rest and gives nothing.
        holding = sum(skip_reason(turn) is None for turn in turns)
        written = round(holding * self._assumed.memories_per_turn * self._assumed.memory_tokens)
        found.usage = found.usage + answer.usage + Usage(output_tokens=written)


def per_turn(usage: Usage, turns: int) -> Mapping[str, float]:
    """Return each count of a usage for one turn."""
    return {
        name: round(count / turns, 4) if turns else 0.0
        for name, count in usage.model_dump().items()
    }


def _parted(mode: str, conversation: Sequence[Turn]) -> tuple[list[Turn], list[Turn]]:
    """Return the turns that are asked about at once, and those that wait for their session."""
    at_once: list[Turn] = []
    waiting: list[Turn] = []
    for turn in map(without_injection, conversation):
        now = mode == "turn" or (mode == "hybrid" and wants_it_now(turn))
        (at_once if now else waiting).append(turn)
    return at_once, waiting


def _known(number: int, assumed: Assumed) -> KnownMemory:
    """Return a memory that stands for one that a question shows."""
    memory_id, now = uuid4(), utc_now()
    return KnownMemory(
        reference=f"m{number + 1}",
        memory=Memory(
            memory_id=memory_id,
            lineage_id=memory_id,
            kind=MemoryKind.SEMANTIC,
            content="a" * assumed.known_characters,
            slot=Slot.PREFERENCE,
            about="user",
            importance=3,
            confidence=Confidence.STATED,
            source=Source.USER,
            turn_id=memory_id,
            conversation_id="",
            quote="",
            valid_from=now,
            recorded_at=now,
        ),
    )
