"""How the end of a chat session comes to its outcome.

It settles the turns that wait for it, and tells what the session came to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from processors.asking import Allowed, Asking, Question
from processors.closers.places import Places
from processors.closers.session_summaries import SessionSummaries, SummaryPlan, sources_of
from processors.closers.session_turns import NO_TURNS, SessionTurns, lost, read_session
from processors.deciding.decider import Decider
from processors.deciding.occasions import occasion_of_session, unasked
from processors.extraction import Proposer, without_injection
from processors.opened import Opened
from processors.partition_state import PartitionState
from processors.ports import Budget, TurnRecords
from processors.shown_turns import is_shortened
from schemas.commands import SessionEnd, SessionEndCause
from schemas.events import MemoryEvent
from schemas.memory import Memory
from schemas.proposals import Proposal
from schemas.records import Outcome, Turn
from schemas.summaries import ProposedSummary
from schemas.waiting import WaitingTurn, WaitingTurns

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
        summaries: makes the summaries of sessions.
    """

    asking: Asking
    decider: Decider
    places: Places
    proposer: Proposer
    waiting: WaitingTurns
    records: TurnRecords
    budget: Budget
    summaries: SessionSummaries


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
        waiting = await self._waiting(end, opened)
        stands = parts.asking.stands(opened, state)
        exhausted = not stands and await parts.budget.exhausted(opened.keys.tenant) is not None
        turns = NO_TURNS
        if waiting and not exhausted:
            opened.at_stake.waiting(lost(waiting), {})
            turns = await read_session(
                waiting, records=parts.records, keys=opened.keys, partition=state.partition
            )
            opened.at_stake.waiting(turns.all_lost, turns.records)
        plan = await parts.summaries.plan(end, opened, state, turns, exhausted=exhausted)
        asks = turns.readable or plan.texts or (stands and not exhausted)
        if not asks:
            return await self._unasked(end, turns, opened, state, plan)
        return await self._settled(end, turns, opened, state, plan)

    async def _waiting(self, end: SessionEnd, opened: Opened) -> Sequence[WaitingTurn]:
        """Return the turns that the end of a session settles."""
        if end.cause is SessionEndCause.SUMMARY:
            return ()
        return await self._parts.waiting.of_conversation(
            subject=opened.keys.subject,
            conversation_id=end.conversation_id,
            below=opened.record.position.offset,
            limit=SESSION_TURNS_MAX,
        )

    async def _settled(
        self,
        end: SessionEnd,
        turns: SessionTurns,
        opened: Opened,
        state: PartitionState,
        plan: SummaryPlan,
    ) -> Outcome | None:
        parts = self._parts
        said = [waiting.turn for waiting in turns.readable]
        question = Question(
            texts=[without_injection(turn).user_text for turn in said[-_TEXTS_MAX:]],
            known_max=parts.proposer.known_max if said else 0,
            extractor=parts.proposer.extractor,
            model=parts.proposer.model,
            propose=lambda known, allowed: self._proposed(end, said, known, plan, allowed),
        )
        proposed = await parts.asking.proposal(opened, state, question)
        if proposed is None:
            return None
        proposal, offset = proposed
        failed = frozenset(proposal.failed)
        occasion = occasion_of_session(end, turns.answered(failed), turns.unanswered(failed))
        outcome = await parts.decider.outcome(
            # Turns that another end has settled meanwhile are not decided again.
            occasion if said else unasked(occasion),
            proposal,
            subject=opened.keys.subject,
            keying=opened.keying,
            place=parts.places.of(opened, state, proposal_offset=offset),
        )
        event = await parts.summaries.event(end, opened, state, turns, plan=plan, proposal=proposal)
        return _with_summary(outcome, end, event)

    async def _proposed(
        self,
        end: SessionEnd,
        said: Sequence[Turn],
        known: Sequence[Memory],
        plan: SummaryPlan,
        allowed: Allowed,
    ) -> Proposal:
        """Ask for the memories of the turns that wait, and for what the session came to."""
        proposer = self._parts.proposer
        if said:
            proposal = await proposer.propose_for_session(end.turn_id, said, known, allowed=allowed)
        else:
            proposal = proposer.nothing_asked(end.turn_id)
        if not plan.texts or (proposal.skipped is not None and len(plan.texts) <= len(said)):
            # Of small talk alone there is nothing to tell, and no model to be asked.
            return proposal
        texts = [text.turn for text in plan.texts]
        summary = ProposedSummary(
            text=None,
            sources=sources_of(plan.texts),
            shortened=sum(map(is_shortened, texts)),
            more=plan.more,
        )
        return await proposer.with_summary(proposal, texts, summary, allowed=allowed)

    async def _unasked(
        self,
        end: SessionEnd,
        turns: SessionTurns,
        opened: Opened,
        state: PartitionState,
        plan: SummaryPlan,
    ) -> Outcome:
        """Close an end for which there is nothing to ask, or not yet: another one follows then."""
        parts = self._parts
        outcome = await parts.decider.outcome(
            unasked(occasion_of_session(end, (), turns.unreadable)),
            None,
            subject=opened.keys.subject,
            keying=opened.keying,
            place=parts.places.of(opened, state),
        )
        event = await parts.summaries.event(end, opened, state, turns, plan=plan, proposal=None)
        return _with_summary(outcome, end, event)


def _with_summary(outcome: Outcome, end: SessionEnd, event: MemoryEvent | None) -> Outcome:
    """Return an outcome that tells of which session it is, and what became of its summary."""
    events = outcome.events if event is None else (*outcome.events, event)
    return outcome.model_copy(update={"events": events, "conversation_id": end.conversation_id})
