"""Which turns wait; implements :class:`schemas.waiting.WaitingTurns`."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from projections.read_model import ReadModel, name_every_subject
from projections.reading import read_rows
from schemas.queries import load_queries
from schemas.records import Deferral, DeferralCause
from schemas.waiting import WaitingConversation, WaitingTurn

_QUERIES: Final = load_queries("projections", "sql/waiting.sql")


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingCount:
    """Turns of a partition that wait for the same.

    Attributes:
        partition: the partition.
        cause: what they wait for.
        turns: how many.
        oldest_at: when the oldest of them was accepted.
    """

    partition: int
    cause: DeferralCause
    turns: int
    oldest_at: datetime


async def count_waiting_turns(
    read_model: ReadModel, partitions: Collection[int]
) -> list[WaitingCount]:
    """Return how many turns of some partitions wait, where any do, by what they wait for.

    Raises:
        ReadModelUnavailable: the read model cannot be reached.
    """
    async with read_model.connection() as connection, connection.transaction():
        await name_every_subject(connection)
        asked = {"partitions": sorted(partitions)}
        cursor = await connection.execute(_QUERIES["count_waiting"], asked)
        return [
            WaitingCount(
                partition=partition,
                cause=DeferralCause(cause),
                turns=turns,
                oldest_at=oldest_at.astimezone(UTC),
            )
            for partition, cause, turns, oldest_at in await cursor.fetchall()
        ]


class PostgresWaitingTurns:
    """The turns that wait, as a read model has them.

    Args:
        read_model: the generation's tables.
    """

    def __init__(self, read_model: ReadModel) -> None:
        self._read_model = read_model

    async def of_conversation(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[WaitingTurn, ...]:
        """Return the turns of a conversation that wait, by offset, the first ``limit`` of them.

        Args:
            subject: whose conversation it is.
            conversation_id: its name.
            below: only turns below this offset of the turns topic.
            limit: how many at most.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {
            "subject": subject,
            "conversation_id": conversation_id,
            "below": below,
            "limit": limit,
        }
        rows = await read_rows(self._read_model, subject, _QUERIES["select_waiting"], asked)
        return tuple(
            WaitingTurn(
                turn_id=row["turn_id"],
                turn_offset=row["turn_offset"],
                deferral=Deferral(
                    conversation_id=row["conversation_id"],
                    cause=DeferralCause(row["cause"]),
                    occurred_at=row["occurred_at"],
                    received_at=row["received_at"],
                ),
            )
            for row in rows
        )

    async def quiet_since(
        self, *, partition: int, moment: datetime, after: WaitingConversation | None, limit: int
    ) -> tuple[WaitingConversation, ...]:
        """Return conversations of a partition whose last waiting turn was accepted before a moment.

        They are of whatever subject: who keeps the time of sessions has to look through all. Their
        order is that of :class:`schemas.waiting.WaitingTurns`.

        Args:
            partition: the partition.
            moment: before which the last turn was accepted.
            after: only conversations behind this one, whether it still waits or not.
            limit: how many at most; fewer are all that there are.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {
            "partition": partition,
            "moment": moment,
            "after_received_at": None if after is None else after.last_received_at,
            "after_subject": None if after is None else after.subject,
            "after_conversation_id": None if after is None else after.conversation_id,
            "limit": limit,
        }
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            cursor = await connection.execute(_QUERIES["select_quiet"], asked, binary=True)
            rows = await cursor.fetchall()
        return tuple(
            WaitingConversation(
                subject=subject,
                conversation_id=conversation_id,
                first_turn_id=first_turn_id,
                last_turn_id=last_turn_id,
                last_received_at=last_received_at.astimezone(UTC),
                turns=turns,
            )
            for subject, conversation_id, first_turn_id, last_turn_id, last_received_at, turns in (
                rows
            )
        )
