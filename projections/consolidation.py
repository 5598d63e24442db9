"""What a consolidation looks through, and which subjects hold enough for one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from psycopg.rows import dict_row

from projections.read_model import ReadModel, name_every_subject, name_subjects
from schemas import ids
from schemas.consolidation import Crowded
from schemas.database import load_queries
from schemas.memory import Memory, MemoryKind

_QUERIES: Final = load_queries("projections", "sql/consolidation.sql")
_TURNS: Final = load_queries("projections", "sql/known_turns.sql")


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
            found = [
                (subject, newest, ids.consolidation_id(subject, newest), recorded_at)
                for subject, newest, recorded_at in await rows.fetchall()
            ]
            started = await connection.execute(
                _TURNS["select_known_turns"],
                {
                    "subjects": [subject for subject, *_ in found],
                    "turn_ids": [record_id for _, _, record_id, _ in found],
                },
            )
            known = set(await started.fetchall())
        return tuple(
            Crowded(
                subject=subject,
                newest=newest,
                recorded_at=recorded_at,
                looked_through=(subject, record_id) in known,
            )
            for subject, newest, record_id, recorded_at in found
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
        return _within(live, sources, episodes_max)


def _within(
    live: Iterable[Memory], sources: dict[UUID, Memory], episodes_max: int
) -> tuple[Memory, ...]:
    """Return the live memories with the versions behind merged ones, as far as there is room."""
    kept: dict[UUID, Memory] = {}
    room = episodes_max
    for memory in live:
        behind = [sources[source] for source in memory.merged_from if source in sources]
        if len(behind) != len(memory.merged_from):
            continue  # what it stood for was withdrawn in part: nobody could merge it truly
        if memory.kind is MemoryKind.EPISODIC:
            if 1 + len(behind) > room:
                continue
            room -= 1 + len(behind)
        kept.update((source.memory_id, source) for source in behind)
        kept[memory.memory_id] = memory
    return tuple(sorted(kept.values(), key=lambda memory: (memory.valid_from, memory.memory_id)))


def _memory(row: dict[str, Any]) -> Memory:
    return Memory(**row | {"merged_from": tuple(row["merged_from"])})
