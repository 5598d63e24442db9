"""Finding the memory that a person decides about."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from projections.read_model import ReadModel
from projections.reading import read_rows
from schemas.commands import CuratedMemory
from schemas.memory import CONTENT_CHARACTERS_MAX
from schemas.queries import load_queries

_QUERIES: Final = load_queries("projections", "sql/held_memories.sql")


class HeldMemories:
    """Tells what the read model of one generation holds under an id."""

    def __init__(self, read_model: ReadModel) -> None:
        """Wire the tables."""
        self._read_model = read_model

    async def get(self, subject: UUID, memory_id: UUID) -> CuratedMemory | None:
        """Return a version of a subject as a decision about it carries it.

        A quote above the limit of a statement is left out: it is a whole turn, kept as it was, and
        then the content says the same.

        Args:
            subject: whose memory.
            memory_id: the version, whether it holds or not.

        Returns:
            The version; ``None`` where the subject has none of that id.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {"subject": subject, "memory_id": memory_id}
        rows = await read_rows(self._read_model, subject, _QUERIES["select_held"], asked)
        if not rows:
            return None
        row = dict(rows[0])
        if len(row["quote"]) > CONTENT_CHARACTERS_MAX:
            row["quote"] = ""
        return CuratedMemory.model_validate(row)
