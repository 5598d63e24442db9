"""Comparing a read model with a fold of its log: the proof that the projector's SQL is right."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final
from uuid import UUID

from projections.canonical_rows import (
    CanonicalRow,
    closed_turn_row,
    closed_turn_rows,
    digest_of,
    row_of_columns,
    row_of_fold,
)
from projections.fold import ClosedTurn, SubjectState
from projections.log_fold import LogFold
from projections.read_model import ReadModel, count_waiting, name_every_subject
from schemas import ids
from schemas.database import Connection, load_queries
from schemas.errors import LogUnavailable
from schemas.keyring import Keyring
from schemas.log.admin import partition_count
from schemas.partitioning import partition_for
from schemas.topics import memories_topic

_QUERIES: Final = load_queries("projections", "sql/digest.sql")
_SUBJECTS_A_READ: Final = 500

Rows = dict[UUID, CanonicalRow]
"""A subject's rows by the id of the memory or of the turn."""


@dataclass(kw_only=True, slots=True)
class _Table:
    """What the table holds of a subject.

    Attributes:
        rows: memories and closed turns.
        turns: the turns that were read and not buried, closed or not.
    """

    rows: Rows = field(default_factory=dict)
    turns: set[UUID] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """A subject of which the table and the log say different things.

    Attributes:
        subject: the subject.
        partition: its partition.
        table_digest: what the table's rows come to.
        log_digest: what the rows of the log's fold come to.
        missing: ids of memories and turns that the log has and the table has not.
        surplus: ids of those that the table has and the log has not.
        changed: ids of those that both have, differently.
    """

    subject: UUID
    partition: int
    table_digest: str
    log_digest: str
    missing: tuple[UUID, ...]
    surplus: tuple[UUID, ...]
    changed: tuple[UUID, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Comparison:
    """What comparing a read model with its log found.

    Attributes:
        generation: the generation.
        positions: up to which offset of the memories topic, by partition.
        subjects: how many subjects were compared.
        rows: how many memories and closed turns the log's fold has.
        unreadable: how many outcomes nobody can open: they change nothing, and are dead letters,
            unless the keys of their subject are missing.
        differences: the subjects that differ; none is what should be.
        embeddings_waiting: how many memories of the table wait for a vector: no difference, since
            a vector that is not in the log is made later.
    """

    generation: str
    positions: dict[int, int]
    subjects: int
    rows: int
    unreadable: int
    differences: tuple[Difference, ...]
    embeddings_waiting: int

    @property
    def equal(self) -> bool:
        """Whether the table is what the log says."""
        return not self.differences


class ReadModelComparer:
    """Compares a read model with its log.

    Args:
        read_model: the tables.
        bootstrap: ``host:port[,host:port]`` of the broker.
        keyring: knows the subjects' keys.
    """

    def __init__(self, read_model: ReadModel, *, bootstrap: str, keyring: Keyring) -> None:
        self._read_model = read_model
        self._bootstrap = bootstrap
        self._keyring = keyring
        self._topic: Final = memories_topic(read_model.generation)

    async def compare(self) -> Comparison:
        """Compare every subject's rows with a fold of the log up to the position of the rows.

        The projector may go on meanwhile: the table is read from one snapshot. Of a subject whose
        keys are destroyed, or missing, the log says nothing, so memories that are left of it are a
        difference.

        Raises:
            ReadModelUnavailable, LogUnavailable, KeyringUnavailable: a store cannot be reached.
            KeyMissing: the system's own keys are missing.
        """
        partitions = await asyncio.to_thread(partition_count, self._bootstrap, self._topic)
        if partitions is None:
            raise LogUnavailable(f"the topic {self._topic} does not exist: check the generation")
        system = (await self._keyring.system_subject()).subject
        log = LogFold(
            self._bootstrap,
            self._keyring,
            generation=self._read_model.generation,
            system_subject=system,
            partitions=partitions,
        )
        tally = _Tally(partitions=partitions)
        async with self._read_model.connection() as connection, connection.transaction():
            await connection.execute(_QUERIES["take_snapshot"])
            await name_every_subject(connection)
            cursor = await connection.execute(_QUERIES["select_positions"], {"topic": self._topic})
            positions = dict(await cursor.fetchall())
            waiting = await count_waiting(connection)
            of_table = await self._subjects_of_table(connection, partitions)
            of_system: list[SubjectState] = []
            for partition in range(partitions):
                folded = await log.partition(partition, end=positions.get(partition, 0))
                tally.unreadable += folded.unreadable
                states = folded.states
                # The system's records lie beside the turns that they are about, in any partition.
                if system in states:
                    of_system.append(states.pop(system))
                subjects = (of_table.get(partition, set()) | states.keys()) - {system}
                for some in _chunks(subjects):
                    tables = await self._tables(connection, some, folded.erased_offsets)
                    for one in some:
                        table = tables.get(one, _Table())
                        of_one = [states[one]] if one in states else []
                        tally.add(one, table.rows, self._rows_of(of_one, table.turns))
            tables = await self._tables(connection, [system], frozenset())
            table = tables.get(system, _Table())
            tally.add(system, table.rows, self._rows_of(of_system, table.turns))
        return Comparison(
            generation=self._read_model.generation,
            positions=positions,
            subjects=tally.subjects,
            rows=tally.rows,
            unreadable=tally.unreadable,
            differences=tuple(tally.differences),
            embeddings_waiting=waiting,
        )

    async def _subjects_of_table(
        self, connection: Connection, partitions: int
    ) -> dict[int, set[UUID]]:
        cursor = await connection.execute(_QUERIES["select_subjects"], binary=True)
        subjects: dict[int, set[UUID]] = {}
        for (subject,) in await cursor.fetchall():
            subjects.setdefault(partition_for(subject, partitions), set()).add(subject)
        return subjects

    async def _tables(
        self, connection: Connection, subjects: Sequence[UUID], erased_offsets: Collection[int]
    ) -> dict[UUID, _Table]:
        """Return the rows of subjects, but for turns of which the log says nothing any more."""
        erased = await self._keyring.erased_among(subjects)
        asked = {"subjects": list(subjects)}
        found: defaultdict[UUID, _Table] = defaultdict(_Table)
        cursor = await connection.execute(_QUERIES["select_memories"], asked, binary=True)
        for subject, memory_id, *columns in await cursor.fetchall():
            found[subject].rows[memory_id] = row_of_columns((memory_id, *columns))
        cursor = await connection.execute(_QUERIES["select_turns"], asked, binary=True)
        for subject, turn_id, closing, offset in await cursor.fetchall():
            if subject in erased or offset in erased_offsets:
                continue
            if offset is not None:
                found[subject].rows[turn_id] = closed_turn_row(turn_id, closing, offset)
            if offset is not None or closing is None:
                found[subject].turns.add(turn_id)
        return found

    def _rows_of(self, states: Iterable[SubjectState], turns: Collection[UUID]) -> Rows:
        """Return what the log says of a subject whose turns, as the table has them, are given."""
        rows: Rows = {}
        for state in states:
            rows |= self._rows_of_memories(state)
            rows |= closed_turn_rows(state.closed)
            if state.refused:
                rows |= closed_turn_rows(self._refused(state, turns))
        return rows

    def _rows_of_memories(self, state: SubjectState) -> Rows:
        model = self._read_model
        return {
            memory_id: row_of_fold(row, embedder=model.embedder, dimension=model.dimension)
            for memory_id, row in state.memories.items()
        }

    def _refused(self, state: SubjectState, turns: Iterable[UUID]) -> dict[UUID, ClosedTurn]:
        generation = self._read_model.generation
        found = {
            turn_id: state.refused_closing(turn_id, ids.outcome_id(generation, turn_id))
            for turn_id in turns
        }
        return {turn_id: closed for turn_id, closed in found.items() if closed is not None}


@dataclass(kw_only=True, slots=True)
class _Tally:
    partitions: int
    subjects: int = 0
    rows: int = 0
    unreadable: int = 0
    differences: list[Difference] = field(default_factory=list)

    def add(self, subject: UUID, table: Rows, log: Rows) -> None:
        self.subjects += 1
        self.rows += len(log)
        table_digest, log_digest = digest_of(table.values()), digest_of(log.values())
        if table_digest == log_digest:
            return
        both = table.keys() & log.keys()
        self.differences.append(
            Difference(
                subject=subject,
                partition=partition_for(subject, self.partitions),
                table_digest=table_digest,
                log_digest=log_digest,
                missing=tuple(sorted(log.keys() - table.keys())),
                surplus=tuple(sorted(table.keys() - log.keys())),
                changed=tuple(sorted(one for one in both if table[one] != log[one])),
            )
        )


def _chunks(subjects: Collection[UUID]) -> Iterator[list[UUID]]:
    left = iter(subjects)
    while chunk := list(islice(left, _SUBJECTS_A_READ)):
        yield chunk
