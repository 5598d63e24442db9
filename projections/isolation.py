"""Applying what can be applied: one partition's failure, or one record's, stops no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import psycopg

from projections.apply import Applier, PositionMoved
from projections.batch import LogItem, TopicPartitionPair
from projections.parking import ParkingLot
from schemas.errors import KeyringUnavailable, LogUnavailable, ReadModelUnavailable
from schemas.log.sealed import LogRecord
from schemas.topics import TURNS

FAILURES_OF_STORES: Final = (KeyringUnavailable, LogUnavailable, ReadModelUnavailable)
"""A store cannot be reached: no record is at fault, and everything waits."""

_REFUSED_ROW: Final = (
    psycopg.DataError,
    psycopg.IntegrityError,
    psycopg.errors.ProgramLimitExceeded,
)
"""Postgres does not take what a record holds, now or ever."""


class IsolatingApplier:
    """Applies batches; takes one that fails apart until what is at fault stands alone.

    Args:
        applier: applies a batch whole or not at all.
        parking: takes the partitions that cannot go on.
    """

    def __init__(self, applier: Applier, parking: ParkingLot) -> None:
        self._applier = applier
        self._parking = parking

    async def apply(
        self, items: Sequence[LogItem], positions: dict[TopicPartitionPair, int]
    ) -> None:
        """Apply what was polled, and move ``positions`` along with what is committed.

        A record that Postgres refuses is set aside as a dead letter. A partition that fails for any
        other reason is parked at the record that does, so nothing is skipped.

        Raises:
            PositionMoved: another process has moved a position.
            KeyringUnavailable, LogUnavailable, ReadModelUnavailable: a store cannot be reached.
        """
        waiting = self._parking.waiting
        items = [item for item in items if item.position.partition not in waiting]
        if not items:
            return
        try:
            moved = await self._applier.apply(items, positions)
        except (*FAILURES_OF_STORES, PositionMoved):
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is isolated, logged and tried again
            await self._take_apart(items, positions, error)
            return
        positions.update(moved)
        for partition in self._parking.parked & {partition for _, partition in moved}:
            self._parking.succeeded(partition)

    async def _take_apart(
        self,
        items: Sequence[LogItem],
        positions: dict[TopicPartitionPair, int],
        error: Exception,
    ) -> None:
        if len(items) > 1:
            for part in _parts(items):
                await self.apply(part, positions)
            return
        item = items[0]
        if isinstance(error, _REFUSED_ROW) and _is_opened(item):
            positions.update(
                await self._applier.apply([item], positions, refusals={item.position: error})
            )
        else:
            self._parking.park(item.position.partition, error)


def _parts(items: Sequence[LogItem]) -> Iterator[Sequence[LogItem]]:
    """Yield the partitions of a batch, or the halves of what is one partition's."""
    partitions: dict[int, list[LogItem]] = {}
    for item in items:
        partitions.setdefault(item.position.partition, []).append(item)
    if len(partitions) > 1:
        yield from partitions.values()
    else:
        middle = len(items) // 2
        yield items[:middle]
        yield items[middle:]


def _is_opened(item: LogItem) -> bool:
    """Whether a record's own content makes rows; of a turn the header alone does."""
    return isinstance(item, LogRecord) and item.position.topic != TURNS
