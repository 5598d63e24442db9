"""Turns that wait: for the end of their session, or for their tenant's budget."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

from schemas.records import Deferral


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingTurn:
    """A turn whose outcome deferred it and that nothing has settled yet.

    Attributes:
        turn_id: the turn.
        turn_offset: where it stands in the log.
        deferral: what it waits for.
    """

    turn_id: UUID
    turn_offset: int
    deferral: Deferral


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingConversation:
    """A conversation with turns that wait.

    Attributes:
        subject: whose conversation it is.
        conversation_id: its name.
        first_turn_id: the waiting turn that stands first in the log.
        last_turn_id: the one that stands last.
        last_received_at: when that one was accepted.
        turns: how many wait.
    """

    subject: UUID
    conversation_id: str
    first_turn_id: UUID
    last_turn_id: UUID
    last_received_at: datetime
    turns: int


class WaitingTurns(Protocol):
    """What the workers ask of the projection about turns that wait.

    Every method raises :class:`~schemas.errors.ReadModelUnavailable` where it cannot be reached.
    """

    async def of_conversation(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[WaitingTurn, ...]:
        """Return the turns of a conversation that wait, by offset, the first ``limit`` of them.

        Args:
            subject: whose conversation it is.
            conversation_id: its name.
            below: only turns below this offset of the turns topic.
            limit: how many at most.
        """
        ...

    async def quiet_since(
        self, *, partition: int, moment: datetime, after: WaitingConversation | None, limit: int
    ) -> tuple[WaitingConversation, ...]:
        """Return conversations of a partition whose last waiting turn was accepted before a moment.

        The longest quiet come first: in the order of ``last_received_at``, ``subject`` and
        ``conversation_id``, the last of them by its UTF-8 bytes.

        Args:
            partition: the partition.
            moment: before which the last turn was accepted.
            after: only conversations behind this one in that order, whether it still waits or not.
            limit: how many at most; fewer are all that there are.
        """
        ...
