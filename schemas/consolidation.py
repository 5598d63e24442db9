"""What a consolidation needs to know of the projection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from schemas.memory import Memory
from schemas.records import Closing

FAILURES_MAX: Final = 3
"""After how many dead letters a subject is left alone until there is something new: it is paid."""

ATTEMPTS_MAX: Final = 100
"""After how many starts it is, whatever became of them. One that a budget holds back is followed by
another when that is renewed, so these are as many days of a budget that lasts for a part of what
is due."""


def next_attempt(closings: Sequence[Closing | None]) -> int | None:
    """Return the number of the next start of a consolidation; ``None`` where none is due.

    Args:
        closings: how the starts closed that are named for the subject's newest memory, in the order
            of their numbers from 0; ``None`` for one that is under way.
    """
    if not closings:
        return 0
    failures = closings.count(Closing.DEAD_LETTERED)
    if failures >= FAILURES_MAX or len(closings) >= ATTEMPTS_MAX:
        return None
    came_to_nothing = closings[-1] in (Closing.DEFERRED, Closing.DEAD_LETTERED)
    return len(closings) if came_to_nothing else None


@dataclass(frozen=True, kw_only=True, slots=True)
class Crowded:
    """A subject that holds many episodes.

    Attributes:
        subject: the subject.
        newest: its memory that was recorded last, merged ones apart.
        recorded_at: when that was.
        attempt: the number of the start of a consolidation that is due; ``None`` where one is under
            way since, or has looked it through: it is not repeated before there is a newer memory.
    """

    subject: UUID
    newest: UUID
    recorded_at: datetime
    attempt: int | None


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

        These are its live episodes and facts, first those that stand for none; and of those that
        do, with what room is left, the ones that were recorded last, each with the versions behind
        it: without one of these it is left out.

        Args:
            subject: the subject.
            episodes_max: how many episodes at most, the versions behind merged ones included; where
                there are more, half of them those recorded last and half the longest true.
            facts_max: how many facts and rules at most, likewise; those recorded last.
        """
        ...
