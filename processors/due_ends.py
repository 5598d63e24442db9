"""Appending ends of sessions that are due.

What is due is told by the ledger alone: a worker that takes a partition over goes on where the one
before it stopped, and two workers that end the same session append one record id.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar, Final, Generic, TypeVar
from uuid import UUID

from processors.own_records import Look, OwnRecord, OwnRecords
from schemas.commands import SessionEnd, SessionEndCause
from schemas.summaries import DueSummary
from schemas.waiting import WaitingConversation

Due = TypeVar("Due", WaitingConversation, DueSummary)

_PAGE: Final = 500

PAGES_MAX: Final = 10
"""Most pages of conversations of one partition in one look; the next look goes on behind them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DueEndParts:
    """What appending ends that are due needs.

    Attributes:
        records: appends the ends.
        ready: by partition that is held, whether it is caught up with.
        clock: the time, aware.
    """

    records: OwnRecords
    ready: Callable[[], Mapping[int, bool]]
    clock: Callable[[], datetime]


class DueEnds(ABC, Generic[Due]):
    """Appends the ends that are due in the partitions that a worker holds.

    One that is under way, or whose tenant has no budget left, stays among them: each look passes
    by a bounded number of them and the next one goes on behind, so that they neither hide the
    others nor cost more than so much a look.
    """

    cause: ClassVar[SessionEndCause]
    """Why the sessions end."""

    def __init__(self, parts: DueEndParts) -> None:
        """Wire the parts."""
        self._parts = parts
        self._reached: dict[int, Due] = {}

    async def look(self) -> int:
        """Append what is due now and return how many ends were appended.

        Raises:
            ReadModelUnavailable, KeyringUnavailable, KeyMissing, LogUnavailable: try again later.
        """
        now, look = self._parts.clock(), self._parts.records.look()
        held = sorted(number for number, ready in self._parts.ready().items() if ready)
        self._reached = {it: after for it, after in self._reached.items() if it in held}
        return sum([await self._look_at(partition, now, look) for partition in held])

    async def _look_at(self, partition: int, now: datetime, look: Look) -> int:
        appended, after = 0, self._reached.pop(partition, None)
        for _ in range(PAGES_MAX):
            if not self._parts.ready().get(partition, False):
                return appended
            page = await self._page(partition, now, after, _PAGE)
            appended += await look.append([self._end_of(due, partition, now) for due in page])
            if len(page) < _PAGE:
                return appended
            after = page[-1]
        if after is not None:
            self._reached[partition] = after
        return appended

    def _end_of(self, due: Due, partition: int, now: datetime) -> OwnRecord:
        end = SessionEnd(
            # By the hour: what brought nothing is tried again, and a lost append is made up for.
            turn_id=self._record_id(due, int(now.timestamp() // 3600)),
            conversation_id=due.conversation_id,
            cause=self.cause,
            occurred_at=now,
            received_at=now,
        )
        return OwnRecord(record=end, subject=due.subject, partition=partition)

    @abstractmethod
    async def _page(
        self, partition: int, now: datetime, after: Due | None, limit: int
    ) -> Sequence[Due]:
        """Return what is due in a partition, in a fixed order, from behind ``after`` on."""

    @abstractmethod
    def _record_id(self, due: Due, hour: int) -> UUID:
        """Return the id of the end of one that is due, of the hours since 1970."""
