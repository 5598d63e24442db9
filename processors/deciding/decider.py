"""Deciding with what must be asked for it: the ledger and the embedder."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from processors.deciding.considered import consider
from processors.deciding.lookups import lookups_for
from processors.deciding.occasions import Occasion
from processors.deciding.outcome import LogPlace, decide
from processors.embedding import with_embeddings
from schemas.ports import Embedder, Ledger
from schemas.proposals import Proposal
from schemas.records import Outcome


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
        self, occasion: Occasion, proposal: Proposal | None, *, subject: UUID, place: LogPlace
    ) -> Outcome:
        """Return what becomes of a record, with a vector in each memory that it brings forth.

        Args:
            occasion: the record, by one of the functions of :mod:`processors.deciding.occasions`.
            proposal: what was proposed for it; ``None`` for a curation.
            subject: whose memories are concerned.
            place: where the outcome belongs in the log.

        Raises:
            ReadModelUnavailable: the ledger cannot be asked.
        """
        considered = consider(occasion, proposal)
        asked = lookups_for(considered.items)
        related = (
            ()
            if asked.empty
            else await self._ledger.related(
                subject=subject,
                slots=asked.slots,
                statement_keys=asked.statement_keys,
                memory_ids=asked.memory_ids,
            )
        )
        outcome = decide(considered, place, related=related, embeddings={}, now=self._clock())
        return await with_embeddings(outcome, self._embedder)
