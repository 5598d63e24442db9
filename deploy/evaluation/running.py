"""Let conversations run through extraction, gate and reconciliation, in this process alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal
from uuid import uuid5

from deploy.evaluation.conversations import LabelledConversation
from deploy.evaluation.subject_ledger import SubjectLedger
from processors.deciding.decider import Decider
from processors.deciding.occasions import (
    Occasion,
    WaitingText,
    occasion_of_session,
    occasion_of_turn,
)
from processors.deciding.outcome import LogPlace
from processors.extraction import Proposer
from schemas.commands import SessionEnd, SessionEndCause
from schemas.embedding import embed_each
from schemas.errors import ExtractionFailed
from schemas.events import (
    MemoryAdded,
    MemoryBackfilled,
    MemoryConfirmed,
    MemoryEvent,
    MemorySuperseded,
    ProposalFlagged,
    ProposalRejected,
)
from schemas.memory import Memory
from schemas.ports import Embedder, Extractor
from schemas.proposals import Proposal, Usage
from schemas.records import Outcome, Turn
from schemas.suppression import SuppressionKeying

Mode = Literal["turn", "session"]

GENERATION: Final = "evaluation"
AT_ONCE_MAX: Final = 8
"""Conversations that run at the same time: a model's provider may not allow many more calls."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Held:
    """A memory that a turn gave or confirmed.

    Attributes:
        turn: the turn's place in its conversation.
        memory: the memory.
    """

    turn: int
    memory: Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class Ran:
    """What became of one conversation.

    Attributes:
        conversation: the conversation.
        held: what its turns gave.
        live: what is held to be true at its end.
        refused: operations that code refused, by reason.
        flagged: operations that were left to a person.
        skipped: how many questions code kept from the extractor.
        failed: the errors' classes, of the turns (or the session) without a usable answer.
        usage: what asking cost.
    """

    conversation: LabelledConversation
    held: tuple[Held, ...]
    live: tuple[Memory, ...]
    refused: tuple[str, ...]
    flagged: int
    skipped: int
    failed: tuple[str, ...]
    usage: Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What an evaluation needs.

    Attributes:
        extractor: proposes memories.
        embedder: gives vectors.
        attempts_max: most calls for one turn.
        timeout_s: deadline of one call.
        mode: whether each turn is asked about, or each conversation at its end.
    """

    extractor: Extractor
    embedder: Embedder
    attempts_max: int
    timeout_s: float
    mode: Mode = "turn"


async def run_all(parts: Parts, conversations: Sequence[LabelledConversation]) -> list[Ran]:
    """Return what became of each conversation."""
    room = asyncio.Semaphore(AT_ONCE_MAX)

    async def one(conversation: LabelledConversation) -> Ran:
        async with room:
            return await _Run(parts, conversation).ran()

    return await asyncio.gather(*map(one, conversations))


class _Run:
    """One conversation's way through extraction, gate and reconciliation."""

    def __init__(self, parts: Parts, conversation: LabelledConversation) -> None:
        self._parts = parts
        self._conversation = conversation
        self._turns = conversation.said()
        self._now = self._turns[-1].occurred_at
        self._subject = self._turns[0].turn_id
        # Whose secret it is does not matter: what is measured is kept nowhere.
        self._keying = SuppressionKeying.of_subject(self._subject.bytes)
        self._ledger = SubjectLedger(self._subject)
        self._decider = Decider(ledger=self._ledger, embedder=parts.embedder, clock=self._clock)
        self._proposer = Proposer(
            parts.extractor,
            generation=GENERATION,
            in_flight_max=1,
            attempts_max=parts.attempts_max,
            timeout_s=parts.timeout_s,
            clock=self._clock,
        )
        self._held: list[Held] = []
        self._events: list[MemoryEvent] = []
        self._failed: list[str] = []
        self._skipped = 0
        self._usage = Usage()
        self._offset = 0

    async def ran(self) -> Ran:
        """Take every turn."""
        if self._parts.mode == "turn":
            for turn in self._turns:
                await self._take_turn(turn)
        else:
            await self._take_session()
        return Ran(
            conversation=self._conversation,
            held=tuple(self._held),
            live=tuple(self._ledger.live()),
            refused=tuple(
                reason.value
                for event in self._events
                if isinstance(event, ProposalRejected)
                for reason in event.reasons
            ),
            flagged=sum(isinstance(event, ProposalFlagged) for event in self._events),
            skipped=self._skipped,
            failed=tuple(self._failed),
            usage=self._usage,
        )

    async def _take_turn(self, turn: Turn) -> None:
        known = await self._known([turn.user_text])
        try:
            proposal = await self._proposer.propose(turn, known, allowed=_allowed)
        except ExtractionFailed as error:
            self._note_failed(error)
            return
        await self._decide(occasion_of_turn(turn), proposal)

    async def _take_session(self) -> None:
        end = SessionEnd(
            turn_id=uuid5(self._subject, "end"),
            conversation_id=self._conversation.name,
            cause=SessionEndCause.EXPLICIT,
            occurred_at=self._now,
            received_at=self._now,
        )
        known = await self._known([turn.user_text for turn in self._turns])
        try:
            proposal = await self._proposer.propose_for_session(
                end.turn_id, self._turns, known, allowed=_allowed
            )
        except ExtractionFailed as error:
            self._note_failed(error)
            return
        waiting = [
            WaitingText(turn=turn, turn_offset=index) for index, turn in enumerate(self._turns)
        ]
        await self._decide(occasion_of_session(end, waiting), proposal)

    async def _decide(self, occasion: Occasion, proposal: Proposal) -> None:
        self._usage = self._usage + proposal.usage
        self._skipped += proposal.skipped is not None
        self._offset += 1
        place = LogPlace(
            generation=GENERATION,
            partition=0,
            offset=self._offset,
            proposal_offset=self._offset,
            proposals_floor=0,
        )
        outcome = await self._decider.outcome(
            occasion, proposal, subject=self._subject, keying=self._keying, place=place
        )
        self._ledger.apply(outcome)
        self._events += outcome.events
        self._note_held(outcome)

    def _note_held(self, outcome: Outcome) -> None:
        places = {turn.turn_id: index for index, turn in enumerate(self._turns)}
        for event in outcome.events:
            match event:
                case MemoryAdded() | MemorySuperseded() | MemoryBackfilled():
                    turn_id, memory = event.memory.turn_id, event.memory
                case MemoryConfirmed():
                    turn_id, memory = event.turn_id, self._ledger.memory(event.memory_id)
                case _:
                    continue
            self._held.append(Held(turn=places[turn_id], memory=memory))

    def _note_failed(self, error: ExtractionFailed) -> None:
        self._failed.append(type(error).__name__)
        self._usage = self._usage + error.usage

    async def _known(self, texts: Sequence[str]) -> list[Memory]:
        """Return the memories that the extractor is shown, as a worker chooses them."""
        most = self._proposer.known_max
        if most == 0 or not self._ledger.live():
            return []
        stated = [text for text in texts if text.strip()]
        found = await embed_each(self._parts.embedder, stated, calls_max=1)
        vectors = [vector for vector in found.vectors if vector is not None]
        return self._ledger.nearest(vectors, most) if vectors else []

    def _clock(self) -> datetime:
        return self._now


def _allowed() -> None:
    return
