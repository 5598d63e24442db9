"""Comparing a read model with a fold of its log: the proof that the projector's SQL is right."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, TypeVar
from uuid import UUID

from projections.canonical_rows import (
    closed_turn_row,
    closed_turn_rows,
    digest_of,
    flag_row_of_columns,
    flag_row_of_fold,
    rejection_row_of_columns,
    rejection_row_of_fold,
    row_of_columns,
    row_of_fold,
    summary_row_of_columns,
    summary_row_of_fold,
    suppression_row,
    waiting_row_of_columns,
    waiting_row_of_fold,
)
from projections.files.canonical_rows import rows_of_fold, rows_of_tables, subjects_with_files
from projections.files.log_fold import FilesFold
from projections.fold import SubjectState
from projections.log_fold import FoldedPartition, LogFold
from projections.read_model import ReadModel, count_waiting, name_every_subject
from projections.row_keys import RowKey, Rows
from projections.spending_digest import Sums, sums_differ
from projections.turn_fold import ClosedTurn
from schemas import ids
from schemas.database import Connection
from schemas.errors import LogUnavailable
from schemas.keyring import Keyring
from schemas.log.admin import partition_count
from schemas.partitioning import partition_for
from schemas.queries import load_queries
from schemas.topics import FILES, memories_topic

_QUERIES: Final = load_queries("projections", "sql/digest.sql")
_SUBJECTS_A_READ: Final = 500

Fold = TypeVar("Fold", LogFold, FilesFold)


@dataclass(kw_only=True, slots=True)
class _Table:
    """What the table holds of a subject.

    Attributes:
        rows: memories, closed turns, turns that wait, flags, suppressions, what was refused, and
            files with their commands and history.
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
        missing: ids of memories, turns, flags, files and commands on files, keys of suppressions,
            and ids of records of whose proposals something was refused, that the log has and the
            table has not.
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
        rows: how many rows the log's fold has: memories, closed turns, turns that wait, flags,
            suppressions, what was refused, and files with their commands and history.
        unreadable: how many outcomes nobody can open: they change nothing, and are dead letters,
            unless the keys of their subject are missing.
        differences: the subjects that differ; none is what should be.
        spending_differs: the partitions in which the sums of what was spent are not those of the
            log. Where outcomes are erased, whose cost nobody can read, a sum may be greater.
        embeddings_waiting: how many memories of the table wait for a vector: no difference, since
            a vector that is not in the log is made later.
    """

    generation: str
    positions: dict[int, int]
    subjects: int
    rows: int
    unreadable: int
    differences: tuple[Difference, ...]
    spending_differs: tuple[int, ...]
    embeddings_waiting: int

    @property
    def equal(self) -> bool:
        """Whether the table is what the log says."""
        return not self.differences and not self.spending_differs


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
        log = self._fold(LogFold, system, partitions)
        files = self._fold(FilesFold, system, partitions)
        tally = _Tally(partitions=partitions)
        async with self._read_model.connection() as connection, connection.transaction():
            await connection.execute(_QUERIES["take_snapshot"])
            await name_every_subject(connection)
            positions = await _positions(connection, self._topic)
            files_positions = await _positions(connection, FILES)
            waiting = await count_waiting(connection)
            of_table = await self._subjects_of_table(connection, partitions)
            of_system: list[SubjectState] = []
            for partition in range(partitions):
                folded = await log.partition(partition, end=positions.get(partition, 0))
                tally.unreadable += folded.unreadable
                states = folded.states
                kept = await files.partition(partition, end=files_positions.get(partition, 0))
                # The system's records lie beside the turns that they are about, in any partition.
                if system in states:
                    of_system.append(states.pop(system))
                if await self._spending_differs(connection, partition, folded):
                    tally.spending_differs.append(partition)
                subjects = of_table.get(partition, set()) | states.keys() | kept.keys()
                subjects -= {system}
                for some in _chunks(subjects):
                    await self._forget(connection, [states[one] for one in some if one in states])
                    tables = await self._tables(connection, some, folded.erased_offsets)
                    for one in some:
                        table = tables.get(one, _Table())
                        of_one = [states[one]] if one in states else []
                        log_rows = self._rows_of(
                            of_one,
                            table.turns,
                            tenant=folded.tenants.get(one),
                            partition=partition,
                        )
                        if one in kept:
                            log_rows |= rows_of_fold(kept[one])
                        tally.add(one, table.rows, log_rows)
            tables = await self._tables(connection, [system], frozenset())
            table = tables.get(system, _Table())
            # Nothing of it waits, was refused or left to a person.
            log_rows = self._rows_of(of_system, table.turns, tenant=None, partition=0)
            tally.add(system, table.rows, log_rows)
        return Comparison(
            generation=self._read_model.generation,
            positions=positions,
            subjects=tally.subjects,
            rows=tally.rows,
            unreadable=tally.unreadable,
            differences=tuple(tally.differences),
            spending_differs=tuple(tally.spending_differs),
            embeddings_waiting=waiting,
        )

    def _fold(self, kind: type[Fold], system: UUID, partitions: int) -> Fold:
        return kind(
            self._bootstrap,
            self._keyring,
            generation=self._read_model.generation,
            system_subject=system,
            partitions=partitions,
        )

    async def _subjects_of_table(
        self, connection: Connection, partitions: int
    ) -> dict[int, set[UUID]]:
        cursor = await connection.execute(_QUERIES["select_subjects"], binary=True)
        found = {subject for (subject,) in await cursor.fetchall()}
        subjects: dict[int, set[UUID]] = {}
        for subject in found | await subjects_with_files(connection):
            subjects.setdefault(partition_for(subject, partitions), set()).add(subject)
        return subjects

    async def _tables(
        self, connection: Connection, subjects: Sequence[UUID], erased_offsets: Collection[int]
    ) -> dict[UUID, _Table]:
        """Return the rows of subjects, but for turns of which the log says nothing any more."""
        asked = {"subjects": list(subjects)}
        found: defaultdict[UUID, _Table] = defaultdict(_Table)
        cursor = await connection.execute(_QUERIES["select_memories"], asked, binary=True)
        for subject, memory_id, *columns in await cursor.fetchall():
            found[subject].rows["memory", memory_id] = row_of_columns(
                (memory_id, *columns), dimension=self._read_model.dimension
            )
        cursor = await connection.execute(_QUERIES["select_waiting"], asked, binary=True)
        for subject, turn_id, *columns in await cursor.fetchall():
            found[subject].rows["waiting", turn_id] = waiting_row_of_columns(columns)
        cursor = await connection.execute(_QUERIES["select_flags"], asked, binary=True)
        for subject, flag_id, *columns in await cursor.fetchall():
            found[subject].rows["flag", flag_id] = flag_row_of_columns((flag_id, *columns))
        cursor = await connection.execute(_QUERIES["select_rejections"], asked, binary=True)
        for subject, record_id, place, *columns in await cursor.fetchall():
            row = rejection_row_of_columns((record_id, place, *columns))
            found[subject].rows["rejection", record_id, place] = row
        cursor = await connection.execute(_QUERIES["select_suppressions"], asked, binary=True)
        for subject, key, suppressed_at in await cursor.fetchall():
            row = suppression_row(suppressed_at)
            found[subject].rows["suppression", UUID(bytes=key)] = row
        for subject, rows in (await rows_of_tables(connection, subjects)).items():
            found[subject].rows |= rows
        await self._add_turns(connection, subjects, found, erased_offsets)
        return found

    async def _add_turns(
        self,
        connection: Connection,
        subjects: Sequence[UUID],
        found: defaultdict[UUID, _Table],
        erased_offsets: Collection[int],
    ) -> None:
        erased = await self._keyring.erased_among(subjects)
        asked = {"subjects": list(subjects)}
        cursor = await connection.execute(_QUERIES["select_summaries"], asked, binary=True)
        for subject, record_id, *columns in await cursor.fetchall():
            row = summary_row_of_columns((record_id, *columns))
            found[subject].rows["summary", record_id] = row
        cursor = await connection.execute(_QUERIES["select_turns"], asked, binary=True)
        for (
            subject,
            turn_id,
            closing,
            offset,
            settled_offset,
            conversation,
        ) in await cursor.fetchall():
            if subject in erased or offset in erased_offsets:
                continue
            if offset is not None:
                found[subject].rows["turn", turn_id] = closed_turn_row(
                    turn_id, closing, offset, settled_offset, conversation
                )
            if offset is not None or closing is None:
                found[subject].turns.add(turn_id)

    async def _forget(self, connection: Connection, states: Sequence[SubjectState]) -> None:
        """Tell folds which sources of their summaries are gone from the topic of turns.

        The table noted that when it read their tombstones, and nothing of them may be left.
        """
        made = [row for state in states for row in state.summaries.values()]
        if not made:
            return
        asked = {"source_ids": list({one for row in made for one in row.source_ids})}
        cursor = await connection.execute(_QUERIES["select_forgotten"], asked, binary=True)
        gone = {source_id for (source_id,) in await cursor.fetchall()}
        for state in states:
            state.forget(gone)

    async def _spending_differs(
        self, connection: Connection, partition: int, folded: FoldedPartition
    ) -> bool:
        asked = {"partition": partition}
        cursor = await connection.execute(_QUERIES["select_spending"], asked, binary=True)
        table: Sums = {tuple(row[:4]): tuple(row[4:]) for row in await cursor.fetchall()}
        return sums_differ(table, folded)

    def _rows_of(
        self,
        states: Iterable[SubjectState],
        turns: Collection[UUID],
        *,
        tenant: str | None,
        partition: int,
    ) -> Rows:
        """Return what the log says of a subject whose turns, as the table has them, are given."""
        rows: Rows = {}
        for state in states:
            closed = closed_turn_rows(state.closed)
            if state.refused:
                closed |= closed_turn_rows(self._refused(state, turns))
            rows |= {("turn", turn_id): row for turn_id, row in closed.items()}
            rows |= self._rows_of_memories(state)
            for turn_id, waiting in state.waiting.items():
                rows["waiting", turn_id] = waiting_row_of_fold(waiting, partition=partition)
            for flag_id, flag in state.flags.items():
                rows["flag", flag_id] = flag_row_of_fold(flag_id, flag, tenant=tenant)
            for (record_id, place), rejection in state.rejected.items():
                rows["rejection", record_id, place] = rejection_row_of_fold(rejection)
            for record_id, summary in state.summaries.items():
                rows["summary", record_id] = summary_row_of_fold(summary, partition=partition)
            for key, suppressed_at in state.suppressed.items():
                rows["suppression", UUID(bytes=key)] = suppression_row(suppressed_at)
        return rows

    def _rows_of_memories(self, state: SubjectState) -> Rows:
        model = self._read_model
        return {
            ("memory", memory_id): row_of_fold(
                row, embedder=model.embedder, dimension=model.dimension
            )
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
    spending_differs: list[int] = field(default_factory=list)

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
                missing=_ids(log.keys() - table.keys()),
                surplus=_ids(table.keys() - log.keys()),
                changed=_ids(one for one in both if table[one] != log[one]),
            )
        )


async def _positions(connection: Connection, topic: str) -> dict[int, int]:
    cursor = await connection.execute(_QUERIES["select_positions"], {"topic": topic})
    return dict(await cursor.fetchall())


def _ids(keys: Iterable[RowKey]) -> tuple[UUID, ...]:
    return tuple(sorted({key[1] for key in keys}))


def _chunks(subjects: Collection[UUID]) -> Iterator[list[UUID]]:
    left = iter(subjects)
    while chunk := list(islice(left, _SUBJECTS_A_READ)):
        yield chunk
