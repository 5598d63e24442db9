"""Ending chat sessions that have gone quiet."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from processors.due_ends import DueEndParts, DueEnds
from schemas import ids
from schemas.commands import SessionEndCause
from schemas.waiting import WaitingConversation, WaitingTurns

LOOK_S: Final = 10.0
"""How often it is looked for quiet sessions; a session ends by so much later than it might."""


class SessionTimers(DueEnds[WaitingConversation]):
    """Appends the ends of quiet sessions."""

    cause = SessionEndCause.IDLE

    def __init__(self, parts: DueEndParts, *, waiting: WaitingTurns, idle: timedelta) -> None:
        """Wire the parts.

        Args:
            parts: what appends the ends.
            waiting: which turns wait.
            idle: after how long a session counts as over.
        """
        super().__init__(parts)
        self._waiting = waiting
        self._idle = idle

    async def _page(
        self, partition: int, now: datetime, after: WaitingConversation | None, limit: int
    ) -> Sequence[WaitingConversation]:
        return await self._waiting.quiet_since(
            partition=partition, moment=now - self._idle, after=after, limit=limit
        )

    def _record_id(self, due: WaitingConversation, hour: int) -> UUID:
        return ids.session_end_id(due.subject, due.first_turn_id, due.last_turn_id, hour)
