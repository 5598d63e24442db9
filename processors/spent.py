"""What was spent on records that have no proposal yet."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from schemas.proposals import Usage

_SPENT_RECORDS_MAX: Final = 10_000
_STOP_REASONS_MAX: Final = 100
"""An outage may go on for as long as it likes: of a record only the latest reasons are kept."""


class Spent:
    """What was spent on records that have no proposal yet, by their ids.

    A record that is given up on the way, such as one whose partition went to another worker, is
    forgotten once ``_SPENT_RECORDS_MAX`` younger ones are kept.
    """

    def __init__(self) -> None:
        self._kept: dict[UUID, tuple[Usage, tuple[str, ...]]] = {}

    def add(self, record_id: UUID, usage: Usage, stop_reasons: tuple[str, ...] = ()) -> None:
        """Keep what an attempt cost."""
        if usage == Usage() and not stop_reasons:
            return
        before, reasons = self.take(record_id)
        self._kept[record_id] = (before + usage, (*reasons, *stop_reasons)[-_STOP_REASONS_MAX:])
        if len(self._kept) > _SPENT_RECORDS_MAX:
            del self._kept[next(iter(self._kept))]

    def take(self, record_id: UUID) -> tuple[Usage, tuple[str, ...]]:
        """Return what was kept, and keep it no longer."""
        return self._kept.pop(record_id, (Usage(), ()))
