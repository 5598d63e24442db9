"""The proposal for a record: the one that stands, or what an extractor answers to one question."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID

from processors import metrics
from processors.appending import DecisionLog
from processors.lease import Lease
from processors.opened import Opened
from processors.partition_state import PartitionState
from processors.persistence import persistently
from processors.ports import Budget
from schemas import ids
from schemas.embedding import embed_each
from schemas.errors import ExtractionFailed
from schemas.log.sealed import open_record
from schemas.memory import Memory
from schemas.ports import Embedder, Ledger, Vectors
from schemas.proposals import Proposal

logger = logging.getLogger(__name__)

Allowed: TypeAlias = Callable[[], None]
"""Called right before each call of an extractor; raises to prevent it."""

Propose: TypeAlias = Callable[[Sequence[Memory], Allowed], Awaitable[Proposal]]
"""Asks the extractor, given the user's nearest live memories."""


class OwnershipLost(Exception):
    """Another worker may hold the partition: nothing more is done until that is known."""


class Answered(Exception):
    """Another worker's proposal for the record was found while this one was about to ask."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What is to be asked for a record that has no proposal yet.

    Attributes:
        texts: what the user said; the memories nearest to each are shown to the extractor.
        known_max: how many memories it wants to be shown.
        extractor: the extractor that is asked.
        model: the model behind it.
        propose: asks it.
    """

    texts: Sequence[str]
    known_max: int
    extractor: str
    model: str
    propose: Propose


class Asking:
    """Gets proposals, and lets none be paid for twice."""

    def __init__(
        self,
        *,
        ledger: Ledger,
        log: DecisionLog,
        embedder: Embedder,
        lease: Lease,
        budget: Budget,
        owner: str,
        generation: str,
    ) -> None:
        """Wire the parts.

        Args:
            ledger: the projection's progress and the subject's memories.
            log: appends what was proposed.
            embedder: gives the vectors by which memories are near.
            lease: tells whether our partitions are still ours.
            budget: counts what asking costs.
            owner: the name of this worker instance.
            generation: the generation that asks.
        """
        self._ledger = ledger
        self._log = log
        self._embedder = embedder
        self._lease = lease
        self._budget = budget
        self._owner = owner
        self._generation = generation

    def proposal_id(self, record_id: UUID) -> UUID:
        """Return the id of the proposal for a record."""
        return ids.proposal_id(self._generation, record_id)

    def stands(self, opened: Opened, state: PartitionState) -> bool:
        """Tell whether the record has its proposal already."""
        proposal_id = self.proposal_id(opened.cause.turn_id)
        return proposal_id in state.paid or proposal_id in state.standing

    async def is_open(self, opened: Opened, state: PartitionState) -> bool:
        """Tell whether the record still needs its outcome.

        Raises:
            OwnershipLost: another worker claimed the partition.
        """
        return await self._nearest(opened, state, vectors=None, known_max=0) is not None

    async def proposal(
        self, opened: Opened, state: PartitionState, question: Question
    ) -> tuple[Proposal, int] | None:
        """Return the record's proposal and its offset; ``None`` where the record is closed.

        Raises:
            OwnershipLost: another worker may hold the partition.
            Answered: another worker's proposal was found meanwhile; this is to be called again.
            ExtractionFailed: the extractor gave no usable answer.
        """
        proposal_id = self.proposal_id(opened.cause.turn_id)
        paid, standing = state.paid.get(proposal_id), state.standing.get(proposal_id)
        known_max = question.known_max if paid is None and standing is None else 0
        vectors = await self._vectors(question.texts) if known_max > 0 else None
        nearest = await self._nearest(opened, state, vectors=vectors, known_max=known_max)
        if nearest is None:
            return None
        if standing is not None:
            metrics.PROPOSALS_REUSED.inc()
            paid = open_record(Proposal, standing, opened.keys), standing.position.offset
        if paid is not None:
            _asked(opened, paid[0])
            return paid

        def allowed() -> None:
            if proposal_id in state.standing:
                raise Answered
            if self._lease.remaining_s() <= 0:
                raise OwnershipLost

        proposal = await self._paid(opened, question, nearest, allowed)
        offset = await self._append(opened, state, proposal)
        state.appended(proposal_id, proposal, offset)
        return proposal, offset

    async def _paid(
        self, opened: Opened, question: Question, nearest: Sequence[Memory], allowed: Allowed
    ) -> Proposal:
        """Ask, and count what that costs against the budget until the ledger shows it."""
        if opened.at_stake.failure is not None:
            raise opened.at_stake.failure
        with ExitStack() as counted:
            call = counted.enter_context(self._budget.asking(opened.keys.tenant, question.model))
            try:
                proposal = await question.propose(nearest, allowed)
            except ExtractionFailed as error:
                call.spent(error.usage)
                opened.until_applied.push(counted.pop_all())
                opened.at_stake.asked(
                    extractor=question.extractor, model=question.model, usage=error.usage
                )
                opened.at_stake.failure = error
                raise
            call.spent(proposal.usage)
            _asked(opened, proposal)
            opened.until_applied.push(counted.pop_all())
            return proposal

    async def _nearest(
        self,
        opened: Opened,
        state: PartitionState,
        *,
        vectors: Sequence[Vectors] | None,
        known_max: int,
    ) -> tuple[Memory, ...] | None:
        """Return the subject's memories nearest to any vector; ``None`` for a closed record."""
        contexts = await asyncio.gather(
            *(
                self._ledger.context(
                    subject=opened.keys.subject,
                    turn_id=opened.cause.turn_id,
                    partition=state.partition,
                    vector=vector,
                    known_max=known_max,
                )
                for vector in vectors or (None,)
            )
        )
        if any(context.closing is not None for context in contexts):
            metrics.SKIPPED.labels("duplicate").inc()
            return None
        if any(context.owner != self._owner for context in contexts):
            raise OwnershipLost
        nearest: dict[UUID, Memory] = {}
        # The nearest of each text come first, then the second nearest of each, and so on.
        for rank in range(known_max):
            for context in contexts:
                for memory in context.nearest[rank : rank + 1]:
                    nearest.setdefault(memory.memory_id, memory)
        return tuple(nearest.values())[:known_max]

    async def _vectors(self, texts: Sequence[str]) -> list[Vectors] | None:
        stated = [text for text in texts if text.strip()]
        found = await embed_each(self._embedder, stated, calls_max=1)
        if found.faults:
            # The extractor then sees fewer of the user's memories; reconciling does without them.
            metrics.RETRIES.labels("EmbeddingFailed").inc()
            logger.warning(
                "%d of %d texts find no memories to show: %s",
                len(found.faults),
                len(stated),
                "; ".join(found.problems),
            )
        return [vector.reshape(1, -1) for vector in found.vectors if vector is not None] or None

    async def _append(self, opened: Opened, state: PartitionState, proposal: Proposal) -> int:
        # The answer is paid for: it is appended until it stands, here and not by asking again.
        return await persistently(
            lambda: self._log.append_proposal(
                proposal,
                keys=opened.keys,
                address=opened.header.address,
                partition=state.partition,
            ),
            what=f"the proposal for {opened.record.position}",
        )


def _asked(opened: Opened, proposal: Proposal) -> None:
    opened.at_stake.asked(extractor=proposal.extractor, model=proposal.model, usage=proposal.usage)
