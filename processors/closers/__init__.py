"""How each kind of record of the turns topic comes to its outcome."""

from __future__ import annotations

from dataclasses import dataclass

from processors.closers.closer import Closer
from processors.opened import Opened
from processors.partition_state import PartitionState
from schemas.records import Outcome, Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Closers:
    """What decides about each kind of record.

    Attributes:
        turns: decides about turns.
    """

    turns: Closer[Turn]

    async def outcome(self, opened: Opened, state: PartitionState) -> Outcome | None:
        """Return the outcome of a record; see :class:`~processors.closers.closer.Closer`."""
        cause = opened.cause
        match cause:
            case Turn():
                return await self.turns.outcome(cause, opened, state)
        raise NotImplementedError
