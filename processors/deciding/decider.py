"""Deciding with what must be asked for it: the ledger and the embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Final
from uuid import UUID

from processors.deciding.considered import Considered, consider
from processors.deciding.curating import (
    curate,
    lookups_for_decision,
    lookups_for_twins,
    with_twins,
)
from processors.deciding.lookups import Lookups, lookups_for
from processors.deciding.occasions import Occasion
from processors.deciding.outcome import LogPlace, decide
from processors.embedding import NOTHING_EMBEDDED, EmbeddedTexts, embedded_texts, with_embeddings
from schemas.commands import AboutMemory, Curation
from schemas.ports import Embedder, Ledger, Related
from schemas.proposals import Proposal
from schemas.records import Outcome
from schemas.suppression import SuppressionKeying

_INLINE_CHARACTERS_MAX: Final = 20_000
"""Texts of more characters are judged in a thread: made to be slow, 350,000 of them take seconds,
in which the process must go on with its heartbeats and its other work."""


class Decider:
    """Brings records to their outcomes.

    Args:
        ledger: the subject's memories.
        embedder: gives vectors.
        clock: the time, aware.
    """

    def __init__(
        self, *, ledger: Ledger, embedder: Embedder, clock: Callable[[], datetime]
    ) -> None:
        self._ledger = ledger
        self._embedder = embedder
        self._clock = clock

    async def outcome(
        self,
        occasion: Occasion,
        proposal: Proposal | None,
        *,
        subject: UUID,
        keying: SuppressionKeying,
        place: LogPlace,
    ) -> Outcome:
        """Return what becomes of a record, with a vector in each memory that it brings forth.

        With an embedder that cannot be asked it is decided without vectors: what only words
        something differently is then stored beside it.

        Args:
            occasion: the record, by one of the functions of :mod:`processors.deciding.occasions`.
            proposal: what was proposed for it; ``None`` for a curation.
            subject: whose memories are concerned.
            keying: makes the keys of what that subject deleted or corrected.
            place: where the outcome belongs in the log.

        Raises:
            ReadModelUnavailable: the ledger cannot be asked.
        """
        considered = await _considered(occasion, proposal, keying)
        embedded = await self._compared(considered)
        related = await self._related(subject, lookups_for(considered.items, embedded.vectors))
        outcome = decide(
            considered,
            place,
            related=related,
            embeddings=embedded.vectors,
            similarity_min=self._embedder.same_statement_similarity,
            now=self._clock(),
        )
        return await with_embeddings(outcome, self._embedder, tried=embedded.texts)

    async def curate(
        self,
        curation: Curation,
        decision: AboutMemory,
        *,
        subject: UUID,
        keying: SuppressionKeying,
        place: LogPlace,
    ) -> Outcome:
        """Return what becomes of a person's decision about a memory that is held.

        Args:
            curation: the record.
            decision: the decision in it.
            subject: whose memory it is.
            keying: makes the keys of what that subject deletes or corrects.
            place: where the outcome belongs in the log.

        Raises:
            ReadModelUnavailable: the ledger cannot be asked.
        """
        related = await self._related(subject, lookups_for_decision(decision, keying))
        twins = lookups_for_twins(curation, decision, related)
        related = with_twins(related, await self._related(subject, twins))
        outcome = curate(
            curation, decision, place, related=related, keying=keying, now=self._clock()
        )
        return await with_embeddings(outcome, self._embedder)

    async def _compared(self, considered: Considered) -> EmbeddedTexts:
        """Return the vectors of the statements that may say in other words what is held."""
        texts = {item.index: item.operation.content for item in considered.items if item.may_repeat}
        if not texts or self._embedder.same_statement_similarity is None:
            return NOTHING_EMBEDDED
        return await embedded_texts(texts, self._embedder)

    async def _related(self, subject: UUID, asked: Lookups) -> Related:
        if asked.empty:
            return Related()
        return await self._ledger.related(
            subject=subject,
            slots=asked.slots,
            statement_keys=asked.statement_keys,
            memory_ids=asked.memory_ids,
            similar=asked.similar,
            turn_ids=asked.turn_ids,
            suppression_keys=asked.suppression_keys,
        )


async def _considered(
    occasion: Occasion, proposal: Proposal | None, keying: SuppressionKeying
) -> Considered:
    if _characters(occasion, proposal) <= _INLINE_CHARACTERS_MAX:
        return consider(occasion, proposal, keying=keying)
    return await asyncio.to_thread(consider, occasion, proposal, keying=keying)


def _characters(occasion: Occasion, proposal: Proposal | None) -> int:
    """Return how many characters the gate is to read."""
    turns = (saying.turn for saying in occasion.sayings if saying.turn is not None)
    said = sum(len(turn.user_text) + len(turn.assistant_text or "") for turn in turns)
    operations = proposal.operations if occasion.operations is None and proposal else ()
    stated = (*(occasion.operations or ()), *operations)
    return said + sum(len(one.content) + len(one.quote) for one in stated)
