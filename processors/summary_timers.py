"""Having summaries made again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from processors.due_ends import DueEndParts, DueEnds
from schemas import ids
from schemas.commands import SessionEndCause
from schemas.summaries import DueSummary, SummaryWork


class SummaryTimers(DueEnds[DueSummary]):
    """Appends ends of sessions for summaries that are due."""

    cause = SessionEndCause.SUMMARY

    def __init__(self, parts: DueEndParts, summaries: SummaryWork) -> None:
        """Wire the parts.

        Args:
            parts: what appends the ends.
            summaries: which are due.
        """
        super().__init__(parts)
        self._summaries = summaries

    async def _page(
        self, partition: int, _now: datetime, after: DueSummary | None, limit: int
    ) -> Sequence[DueSummary]:
        return await self._summaries.due(partition=partition, after=after, limit=limit)

    def _record_id(self, due: DueSummary, hour: int) -> UUID:
        return ids.summary_end_id(due.subject, due.mark, hour)
