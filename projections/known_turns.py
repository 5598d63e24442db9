"""Which turns the ledger holds already: an import leaves them out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final
from uuid import UUID

from projections.read_model import ReadModel, name_subjects
from schemas.queries import load_queries

_QUERIES: Final = load_queries("projections", "sql/known_turns.sql")


class ProjectedTurns:
    """The turns that were projected."""

    def __init__(self, read_model: ReadModel) -> None:
        """Ask the tables of one generation."""
        self._read_model = read_model

    async def known_turns(self, turns: Mapping[UUID, Collection[UUID]]) -> set[tuple[UUID, UUID]]:
        """Return subject and turn of those that the ledger holds.

        Args:
            turns: by subject, the turns that are asked for.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, turns)
            rows = await connection.execute(_QUERIES["select_known_turns"], _asked(turns))
            return {(subject, turn_id) for subject, turn_id in await rows.fetchall()}

    async def closings(self, turns: Mapping[UUID, Collection[UUID]]) -> Counter[str]:
        """Return how many of some turns closed in which way; those that are open are not in it.

        Args:
            turns: by subject, the turns that are asked for.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, turns)
            rows = await connection.execute(_QUERIES["count_closings"], _asked(turns))
            return Counter(dict(await rows.fetchall()))


def _asked(turns: Mapping[UUID, Collection[UUID]]) -> dict[str, list[UUID]]:
    pairs = [(subject, turn_id) for subject, ids in turns.items() for turn_id in ids]
    return {
        "subjects": [subject for subject, _ in pairs],
        "turn_ids": [turn_id for _, turn_id in pairs],
    }
