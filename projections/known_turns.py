"""Which turns the ledger holds already: an import leaves them out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final
from uuid import UUID

from projections.read_model import ReadModel, name_subjects
from schemas.database import load_queries

_QUERIES: Final = load_queries("projections", "sql/known_turns.sql")


class ProjectedTurns:
    """The turns that were projected."""

    def __init__(self, read_model: ReadModel) -> None:
        """Ask the tables of one generation."""
        self._read_model = read_model

    async def known_turns(self, subject: UUID, turn_ids: Collection[UUID]) -> set[UUID]:
        """Return those of ``turn_ids`` that the subject's ledger holds.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            rows = await connection.execute(
                _QUERIES["select_known_turns"], {"subject": subject, "turn_ids": list(turn_ids)}
            )
            return {turn_id for (turn_id,) in await rows.fetchall()}
