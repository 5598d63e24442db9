"""How each kind of record of the turns topic comes to its outcome."""

from __future__ import annotations

from dataclasses import dataclass

from processors.closers.closer import Closer
from processors.opened import Opened
from processors.partition_state import PartitionState
from schemas.commands import ConsolidationStart, Curation, SessionEnd
from schemas.records import Outcome, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Closers:
    """What decides about each kind of record.

    Attributes:
        turns, curations, sessions, consolidations: as their names say.
    """

    turns: Closer[Turn]
    curations: Closer[Curation]
    sessions: Closer[SessionEnd]
    consolidations: Closer[ConsolidationStart]

    async def outcome(self, opened: Opened, state: PartitionState) -> Outcome | None:
        """Return the outcome of a record; see :class:`~processors.closers.closer.Closer`."""
        match opened.cause:
            case Turn() as turn:
                return await self.turns.outcome(turn, opened, state)
            case Curation() as curation:
                return await self.curations.outcome(curation, opened, state)
            case SessionEnd() as end:
                return await self.sessions.outcome(end, opened, state)
            case ConsolidationStart() as start:
                return await self.consolidations.outcome(start, opened, state)
