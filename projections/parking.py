"""Partitions that cannot go on: set apart, so that the others do, and tried again."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from projections import projector_metrics as metrics

_LOG: Final = logging.getLogger(__name__)

FIRST_RETRY_S: Final = 2.0
RETRY_S_MAX: Final = 30.0


@dataclass(kw_only=True, slots=True)
class _Parked:
    retries: int
    due: float
    waiting: bool


class ParkingLot:
    """The parked partitions of one projector.

    Args:
        generation: the generation that is projected, for metrics.
        clock: monotonic seconds.
    """

    def __init__(self, *, generation: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._generation = generation
        self._clock = clock
        self._parked: dict[int, _Parked] = {}
        self._tell()

    @property
    def waiting(self) -> frozenset[int]:
        """The partitions that are not to be read now."""
        return frozenset(number for number, parked in self._parked.items() if parked.waiting)

    @property
    def parked(self) -> frozenset[int]:
        """The partitions that failed at last, those that are just being tried again included."""
        return frozenset(self._parked)

    def park(self, partition: int, error: Exception) -> None:
        """Set a partition apart, each time for longer."""
        known = self._parked.get(partition)
        retries = 0 if known is None else known.retries + 1
        pause_s = min(FIRST_RETRY_S * 2**retries, RETRY_S_MAX)
        self._parked[partition] = _Parked(
            retries=retries, due=self._clock() + pause_s, waiting=True
        )
        _LOG.error(
            "partition %d cannot be projected and waits: %s: %s; nothing of it is skipped, it is "
            "tried again in %.0f s",
            partition,
            type(error).__name__,
            error,
            pause_s,
        )
        self._tell()

    def release_due(self) -> bool:
        """Let those partitions be tried again whose time has come; return whether there are any."""
        now = self._clock()
        due = [parked for parked in self._parked.values() if parked.waiting and parked.due <= now]
        for parked in due:
            parked.waiting = False
        return bool(due)

    def succeeded(self, partition: int) -> None:
        """Forget a partition's failures: it was tried again and went on."""
        if self._parked.pop(partition, None) is not None:
            _LOG.warning("partition %d goes on", partition)
            self._tell()

    def keep_only(self, partitions: frozenset[int]) -> None:
        """Forget the failures of partitions that other processes hold now."""
        for partition in self.parked - partitions:
            del self._parked[partition]
        self._tell()

    def _tell(self) -> None:
        metrics.PARTITIONS_PARKED.labels(self._generation).set(len(self._parked))
