"""What suppressions mean: which statements are not stored again from words of before."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from datetime import datetime

from schemas.events import MemoriesDeleted, MemoryCorrected
from schemas.records import Outcome


def suppressions(outcome: Outcome) -> Iterator[tuple[bytes, datetime]]:
    """Yield the keys of what an outcome lets nobody store again, with the time of the decision."""
    for event in outcome.events:
        match event:
            case MemoriesDeleted():
                yield from ((key, event.deleted_at) for key in event.suppresses)
            case MemoryCorrected(memory=memory):
                decided_at = memory.curated_at or memory.recorded_at
                yield from ((key, decided_at) for key in event.suppresses)


def fold_suppressions(found: MutableMapping[bytes, datetime], outcome: Outcome) -> None:
    """Fold in what an outcome lets nobody store again; the latest decision counts."""
    for key, decided_at in suppressions(outcome):
        found[key] = max(found.get(key, decided_at), decided_at)
