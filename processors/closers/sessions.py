"""How the end of a chat session comes to its outcome: by settling the turns that wait for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from processors.asking import Allowed, Asking, Question
from processors.closers.places import Places
from processors.closers.session_turns import SessionTurns, lost, read_session
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_session, unasked
from processors.extraction import Proposer, without_injection
from processors.opened import Opened
from processors.partition_state import PartitionState
from processors.ports import Budget, TurnRecords
from schemas.commands import SessionEnd
from schemas.memory import Memory
from schemas.proposals import Proposal
from schemas.records import Outcome
from schemas.waiting import WaitingTurns

SESSION_TURNS_MAX: Final = 200
"""Most turns that one end of a session settles; the next look for quiet sessions ends the rest."""

_TEXTS_MAX: Final = 8
"""The last turns of a session are what the memories that an extractor is shown must be near to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionParts:
    """What closing the ends of sessions needs.

    Attributes:
        asking: gets proposals.
        decider: decides about them.
        places: where outcomes belong.
        proposer: asks the extractor.
        waiting: tells which turns wait.
        records: reads them again.
        budget: tells whether a tenant may ask a model.
    """

    asking: Asking
    decider: Decider
    places: Places
    proposer: Proposer
    waiting: WaitingTurns
    records: TurnRecords
    budget: Budget


class SessionCloser:
    """Closes the ends of sessions."""

    def __init__(self, parts: SessionParts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def outcome(
        self, end: SessionEnd, opened: Opened, state: PartitionState
    ) -> Outcome | None:
        """Return what becomes of a session; see :class:`~processors.closers.closer.Closer`."""
        parts = self._parts
        if not await parts.asking.is_open(opened, state):
            return None
        waiting = await parts.waiting.of_conversation(
            subject=opened.keys.subject,
            conversation_id=end.conversation_id,
            below=opened.record.position.offset,
            limit=SESSION_TURNS_MAX,
        )
        if not waiting:
            return await self._settled_nothing(end, opened, state)
        stands = parts.asking.stands(opened, state)
        if not stands and await parts.budget.exhausted(opened.keys.tenant) is not None:
            return await self._settled_nothing(end, opened, state)
        opened.at_stake.waiting(lost(waiting), {})
        turns = await read_session(
            waiting, records=parts.records, keys=opened.keys, partition=state.partition
        )
        opened.at_stake.waiting(turns.all_lost, turns.records)
        return await self._settled(end, turns, opened, state)

    async def _settled(
        self, end: SessionEnd, turns: SessionTurns, opened: Opened, state: PartitionState
    ) -> Outcome | None:
        parts = self._parts
        said = [waiting.turn for waiting in turns.readable]

        async def propose(known: Sequence[Memory], allowed: Allowed) -> Proposal:
            return await parts.proposer.propose_for_session(
                end.turn_id, said, known, allowed=allowed
            )

        question = Question(
            texts=[without_injection(turn).user_text for turn in said[-_TEXTS_MAX:]],
            known_max=parts.proposer.known_max,
            extractor=parts.proposer.extractor,
            model=parts.proposer.model,
            propose=propose,
        )
        if not said:
            return await parts.decider.outcome(
                unasked(occasion_of_session(end, (), turns.unreadable)),
                None,
                subject=opened.keys.subject,
                place=parts.places.of(opened, state),
            )
        proposed = await parts.asking.proposal(opened, state, question)
        if proposed is None:
            return None
        proposal, offset = proposed
        failed = frozenset(proposal.failed)
        return await parts.decider.outcome(
            occasion_of_session(end, turns.answered(failed), turns.unanswered(failed)),
            proposal,
            subject=opened.keys.subject,
            place=parts.places.of(opened, state, proposal_offset=offset),
        )

    async def _settled_nothing(
        self, end: SessionEnd, opened: Opened, state: PartitionState
    ) -> Outcome:
        """Close an end for which nothing waits, or not yet: another one follows then."""
        return await self._parts.decider.outcome(
            unasked(occasion_of_session(end, ())),
            None,
            subject=opened.keys.subject,
            place=self._parts.places.of(opened, state),
        )
