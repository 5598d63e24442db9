"""Having summaries made again: what is due is told by the ledger alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from processors.own_records import Look, OwnRecord, OwnRecords
from schemas import ids
from schemas.commands import SessionEnd, SessionEndCause
from schemas.summaries import DueSummary, SummaryWork

_PAGE: Final = 500

PAGES_MAX: Final = 10
"""Most pages of conversations of one partition in one look; the next look goes on behind them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTimerParts:
    """What having summaries made again needs.

    Attributes:
        summaries: which are due.
        records: appends the records that have them made.
        ready: by partition that is held, whether it is caught up with.
        clock: the time, aware.
    """

    summaries: SummaryWork
    records: OwnRecords
    ready: Callable[[], Mapping[int, bool]]
    clock: Callable[[], datetime]


class SummaryTimers:
    """Appends ends of sessions for summaries that are due, in the partitions that a worker holds.

    One that is under way, or whose tenant has no budget left, stays among them: each look passes
    by a bounded number of them, and the next one goes on behind.
    """

    def __init__(self, parts: SummaryTimerParts) -> None:
        """Wire the parts."""
        self._parts = parts
        self._reached: dict[int, DueSummary] = {}

    async def look(self) -> int:
        """Append what is due now and return how many records were appended.

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
            page = await self._parts.summaries.due(partition=partition, after=after, limit=_PAGE)
            appended += await look.append([_end_of(one, partition, now) for one in page])
            if len(page) < _PAGE:
                return appended
            after = page[-1]
        if after is not None:
            self._reached[partition] = after
        return appended


def _end_of(due: DueSummary, partition: int, now: datetime) -> OwnRecord:
    # By the hour: what brought nothing is tried again, and a lost append is made up for.
    record_id = ids.summary_end_id(due.subject, due.mark, int(now.timestamp() // 3600))
    end = SessionEnd(
        turn_id=record_id,
        conversation_id=due.conversation_id,
        cause=SessionEndCause.SUMMARY,
        occurred_at=now,
        received_at=now,
    )
    return OwnRecord(record=end, subject=due.subject, partition=partition)
