"""Ending chat sessions that have gone quiet.

What waits, and since when, is told by the ledger alone: a worker that takes a partition over goes
on where the one before it stopped, and two workers that end the same session append one record id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from processors.own_records import Look, OwnRecord, OwnRecords
from schemas import ids
from schemas.commands import SessionEnd, SessionEndCause
from schemas.waiting import WaitingConversation, WaitingTurns

LOOK_S: Final = 10.0
"""How often it is looked for quiet sessions; a session ends by so much later than it might."""

_PAGE: Final = 500

PAGES_MAX: Final = 10
"""Most pages of conversations of one partition in one look; the next look goes on behind them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimerParts:
    """What ending quiet sessions needs.

    Attributes:
        waiting: which turns wait.
        records: appends the ends.
        ready: by partition that is held, whether it is caught up with.
        idle: after how long a session counts as over.
        clock: the time, aware.
    """

    waiting: WaitingTurns
    records: OwnRecords
    ready: Callable[[], Mapping[int, bool]]
    idle: timedelta
    clock: Callable[[], datetime]


class SessionTimers:
    """Appends the ends of quiet sessions of the partitions that a worker holds.

    A conversation whose end is under way, or whose tenant has no budget left, stays among the quiet
    ones: each look passes by a bounded number of them and the next one goes on behind, so that they
    neither hide the others nor cost more than so much a look.
    """

    def __init__(self, parts: TimerParts) -> None:
        """Wire the parts."""
        self._parts = parts
        self._reached: dict[int, WaitingConversation] = {}

    async def look(self) -> int:
        """End the sessions that are quiet now and return how many ends were appended.

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
            page = await self._parts.waiting.quiet_since(
                partition=partition, moment=now - self._parts.idle, after=after, limit=_PAGE
            )
            appended += await look.append([_end_of(one, partition, now) for one in page])
            if len(page) < _PAGE:
                return appended
            after = page[-1]
        if after is not None:
            self._reached[partition] = after
        return appended


def _end_of(conversation: WaitingConversation, partition: int, now: datetime) -> OwnRecord:
    record_id = ids.session_end_id(
        conversation.subject,
        conversation.first_turn_id,
        conversation.last_turn_id,
        # By the hour: what a budget held back is tried again, and a lost append is made up for.
        int(now.timestamp() // 3600),
    )
    end = SessionEnd(
        turn_id=record_id,
        conversation_id=conversation.conversation_id,
        cause=SessionEndCause.IDLE,
        occurred_at=now,
        received_at=now,
    )
    return OwnRecord(record=end, subject=conversation.subject, partition=partition)
