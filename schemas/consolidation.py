"""What a consolidation needs to know of the projection."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from schemas.memory import Memory


@dataclass(frozen=True, kw_only=True, slots=True)
class Crowded:
    """A subject that holds many episodes.

    Attributes:
        subject: the subject.
        newest: its memory that was recorded last, merged ones apart.
        recorded_at: when that was.
        looked_through: whether a consolidation was started since: it is not repeated before there
            is a newer memory.
    """

    subject: UUID
    newest: UUID
    recorded_at: datetime
    looked_through: bool


class Consolidating(Protocol):
    """What the workers ask of the projection for consolidations.

    Every method raises :class:`~schemas.errors.ReadModelUnavailable` where it cannot be reached.
    """

    async def crowded(
        self, *, episodes_min: int, after: UUID | None, limit: int
    ) -> tuple[Crowded, ...]:
        """Return subjects, by id, that hold many episodes.

        Args:
            episodes_min: only subjects with at least so many live episodes that none stands for.
            after: only subjects behind this one.
            limit: how many at most.
        """
        ...

    async def memories(
        self, *, subject: UUID, episodes_max: int, facts_max: int
    ) -> tuple[Memory, ...]:
        """Return what a consolidation of a subject looks through, in the order it was said.

        These are its live episodes, the longest held first; its live facts, the latest first; and
        the versions behind merged ones among them, without which a merged one is left out.

        Args:
            subject: the subject.
            episodes_max: how many episodes at most, those behind merged ones included.
            facts_max: how many facts and rules at most.
        """
        ...
