"""What a consolidation looks through, and which subjects hold enough for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from uuid import UUID

from psycopg.rows import dict_row

from projections.consolidation_room import fill_room
from projections.read_model import ReadModel, name_every_subject, name_subjects
from schemas import ids
from schemas.consolidation import Crowded, next_attempt
from schemas.database import Connection
from schemas.memory import Memory
from schemas.queries import load_queries
from schemas.records import Closing

_QUERIES: Final = load_queries("projections", "sql/consolidation.sql")


class ProjectedConsolidation:
    """Reads the tables of one generation for consolidations."""

    def __init__(self, read_model: ReadModel) -> None:
        """Ask the tables of one generation."""
        self._read_model = read_model

    async def crowded(
        self, *, episodes_min: int, after: UUID | None, limit: int
    ) -> tuple[Crowded, ...]:
        """Return subjects with many episodes; see :class:`schemas.consolidation.Consolidating`."""
        asked = {"episodes_min": episodes_min, "after": after, "limit": limit}
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            rows = await connection.execute(_QUERIES["select_crowded"], asked)
            found = {subject: (newest, at) for subject, newest, at in await rows.fetchall()}
            closings = await _closings_of_starts(
                connection, {subject: newest for subject, (newest, _) in found.items()}
            )
        return tuple(
            Crowded(
                subject=subject,
                newest=newest,
                recorded_at=recorded_at,
                attempt=next_attempt(closings[subject]),
            )
            for subject, (newest, recorded_at) in found.items()
        )

    async def memories(
        self, *, subject: UUID, episodes_max: int, facts_max: int
    ) -> tuple[Memory, ...]:
        """Return what to look through; see :class:`schemas.consolidation.Consolidating`."""
        async with self._read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [subject])
            cursor = connection.cursor(binary=True, row_factory=dict_row)
            await cursor.execute(
                _QUERIES["select_live"],
                {"subject": subject, "episodes_max": episodes_max, "facts_max": facts_max},
            )
            live = [_memory(row) for row in await cursor.fetchall()]
            behind = {source for memory in live for source in memory.merged_from}
            await cursor.execute(
                _QUERIES["select_sources"], {"subject": subject, "memory_ids": list(behind)}
            )
            sources = {memory.memory_id: memory for memory in map(_memory, await cursor.fetchall())}
        return fill_room(live, sources, episodes_max=episodes_max, facts_max=facts_max)


async def _closings_of_starts(
    connection: Connection, newest: Mapping[UUID, UUID]
) -> dict[UUID, list[Closing | None]]:
    """Return how the starts closed that are named for subjects' newest memories, in their order."""
    closings: dict[UUID, list[Closing | None]] = {subject: [] for subject in newest}
    asking = set(newest)
    while asking:
        starts = {
            subject: ids.consolidation_id(subject, newest[subject], len(closings[subject]))
            for subject in asking
        }
        rows = await connection.execute(
            _QUERIES["select_starts"],
            {"subjects": list(starts), "record_ids": list(starts.values())},
        )
        asking = set()
        for subject, closing in await rows.fetchall():
            closings[subject].append(None if closing is None else Closing(closing))
            # Nearly always the first tells: only behind one that came to nothing is there another.
            if next_attempt(closings[subject]) is not None:
                asking.add(subject)
    return closings


def _memory(row: dict[str, Any]) -> Memory:
    return Memory(**row | {"merged_from": tuple(row["merged_from"])})
