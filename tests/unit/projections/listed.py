"""Memories without a database: a list of versions, served in pages as the real one does."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

from projections.cursors import Cursor
from projections.memories import ListedMemory, Memories, MemoryState
from projections.read_model import ReadModel
from schemas.memory import Confidence, MemoryKind, Precision, Source
from schemas.slots import Slot
from tests.support.log_writer import at


def version(number: int, content: str, **changed: Any) -> ListedMemory:
    """Return a live version, the later recorded the lower its number."""
    fields: dict[str, Any] = {
        "memory_id": UUID(int=number),
        "lineage_id": UUID(int=number),
        "state": MemoryState.LIVE,
        "kind": MemoryKind.SEMANTIC,
        "content": content,
        "slot": Slot.NOTE,
        "about": "user",
        "importance": 3,
        "confidence": Confidence.STATED,
        "source": Source.USER,
        "provenance": None,
        "merged_from": (),
        "merged_into": None,
        "turn_id": UUID(int=number),
        "conversation_id": "c",
        "quote": content,
        "valid_from": at(-number),
        "valid_from_precision": Precision.MOMENT,
        "valid_to": None,
        "recorded_at": at(-number),
        "closed_recorded_at": None,
        "retracted_at": None,
        "last_confirmed_at": at(-number),
        "confirmations": 0,
        "expires_at": None,
        "pinned_at": None,
        "searchable": True,
    }
    return ListedMemory(**(fields | changed))


class Listed(Memories):
    """Serves the versions that it is given, of whichever subject there is.

    Attributes:
        asked: the limit of each page that was asked for.
    """

    def __init__(self, *versions: ListedMemory) -> None:
        super().__init__(cast("ReadModel", SimpleNamespace(generation="g1")))
        self._versions = versions
        self.asked: list[int] = []

    async def _rows(
        self,
        subject: UUID | None,
        query: str,
        after: Cursor | None,
        limit: int,
        **asked: bool | datetime | UUID | None,
    ) -> list[ListedMemory]:
        assert query == "list_memories"
        if subject is None:
            return []
        self.asked.append(limit)
        return [
            one
            for one in self._versions
            if after is None or (one.recorded_at, one.memory_id) < (after.moment, after.row_id)
            if asked["history"] or one.state is MemoryState.LIVE
        ][:limit]
