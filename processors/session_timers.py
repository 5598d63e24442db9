"""Ending chat sessions that have gone quiet.

What waits, and since when, is told by the ledger alone: a worker that takes a partition over goes
on where the one before it stopped, and two workers that end the same session append one record id.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from processors.own_records import OwnRecords
from schemas import ids
from schemas.commands import SessionEnd, SessionEndCause
from schemas.waiting import WaitingConversation, WaitingTurns

LOOK_S: Final = 10.0
"""How often it is looked for quiet sessions; a session ends by so much later than it might."""

_AT_ONCE: Final = 500
_AT_ONCE_MAX: Final = 128_000


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
    """Appends the ends of quiet sessions of the partitions that a worker holds."""

    def __init__(self, parts: TimerParts) -> None:
        """Wire the parts."""
        self._parts = parts

    async def look(self) -> int:
        """End the sessions that are quiet now and return how many ends were appended.

        Raises:
            ReadModelUnavailable, KeyringUnavailable, KeyMissing, LogUnavailable: try again later.
        """
        now = self._parts.clock()
        held = sorted(number for number, ready in self._parts.ready().items() if ready)
        return sum([await self._look_at(partition, now) for partition in held])

    async def _look_at(self, partition: int, now: datetime) -> int:
        appended, limit = 0, _AT_ONCE
        while True:
            quiet = await self._parts.waiting.quiet_since(
                partition=partition, moment=now - self._parts.idle, limit=limit
            )
            ended = sum([await self._end(one, partition, now) for one in quiet])
            appended += ended
            if len(quiet) < limit or ended > limit // 2 or limit >= _AT_ONCE_MAX:
                return appended
            # Those of an exhausted budget must not hide the others behind them.
            limit *= 2

    async def _end(self, conversation: WaitingConversation, partition: int, now: datetime) -> bool:
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
        return await self._parts.records.append(
            end, subject=conversation.subject, partition=partition
        )
