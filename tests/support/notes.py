"""What notes are made of, without the memory around it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from schemas.memory import ABOUT_USER, MemoryKind, Precision, Source


@dataclass(frozen=True, kw_only=True, slots=True)
class Noted:
    """As much of a memory as its note needs, see :class:`projections.injection.Notable`."""

    content: str
    about: str = ABOUT_USER
    source: Source = Source.USER
    kind: MemoryKind = MemoryKind.SEMANTIC
    valid_from: datetime = datetime(2026, 3, 1, 9, tzinfo=UTC)
    valid_from_precision: Precision = Precision.MOMENT
    valid_to: datetime | None = None
