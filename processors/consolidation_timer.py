"""Starting consolidations of subjects that hold many episodes and are quiet."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from processors.own_records import OwnRecord, OwnRecords
from schemas import ids
from schemas.commands import ConsolidationStart
from schemas.consolidation import Consolidating, Crowded
from schemas.partitioning import partition_for

LOOK_S: Final = 3600.0
"""How often it is looked for subjects that are due, in seconds."""

QUIET: Final = timedelta(hours=1)
"""For how long nothing may have been recorded of a subject: its chats are not interrupted."""

_PAGE: Final = 500
_AT_ONCE: Final = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsolidationTimerParts:
    """What starting consolidations needs.

    Attributes:
        consolidating: tells which subjects hold many episodes.
        records: appends the starts.
        ready: by partition that is held, whether it is caught up with.
        partitions: how many partitions the topics have.
        episodes_min: how many live episodes for which none stands make a subject due.
        clock: the time, aware.
    """

    consolidating: Consolidating
    records: OwnRecords
    ready: Callable[[], Mapping[int, bool]]
    partitions: int
    episodes_min: int
    clock: Callable[[], datetime]


class ConsolidationTimer:
    """Appends the starts of consolidations for the partitions that a worker holds."""

    def __init__(self, parts: ConsolidationTimerParts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def look(self) -> int:
        """Start what is due now and return how many starts were appended.

        Raises:
            ReadModelUnavailable, KeyringUnavailable, KeyMissing, LogUnavailable: try again later.
        """
        appended, now, look = 0, self._parts.clock(), self._parts.records.look()
        after: UUID | None = None
        while any(self._parts.ready().values()):
            page = await self._parts.consolidating.crowded(
                episodes_min=self._parts.episodes_min, after=after, limit=_PAGE
            )
            appended += await look.append(await self._due(page, now))
            if len(page) < _PAGE:
                break
            after = page[-1].subject
        return appended

    async def _due(self, page: Sequence[Crowded], now: datetime) -> list[OwnRecord]:
        due: list[OwnRecord] = []
        for place, crowded in enumerate(page):
            if place % _AT_ONCE == 0:
                await asyncio.sleep(0)
            start = self._start(crowded, now)
            if start is not None:
                due.append(start)
        return due

    def _start(self, crowded: Crowded, now: datetime) -> OwnRecord | None:
        if crowded.attempt is None or now - crowded.recorded_at < QUIET:
            return None
        partition = partition_for(crowded.subject, self._parts.partitions)
        if not self._parts.ready().get(partition, False):
            return None
        start = ConsolidationStart(
            turn_id=ids.consolidation_id(crowded.subject, crowded.newest, crowded.attempt),
            occurred_at=now,
        )
        return OwnRecord(record=start, subject=crowded.subject, partition=partition)
