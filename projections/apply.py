"""Applying a batch: rows and positions in one transaction, inside the fence."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import TupleRow

from projections import projector_metrics as metrics
from projections import summary_statements as summaries
from projections.batch import (
    NO_REFUSALS,
    Batch,
    BatchReader,
    LogItem,
    Poison,
    Refusals,
    TopicPartitionPair,
)
from projections.columns import ChangeGroup, grouped, insert_columns
from projections.dead_letters import DeadLetterBox
from projections.deletion_fold import up_to_deletions
from projections.fence import FENCE_LOCK_CLASS
from projections.opening import (
    ErasedOutcome,
    Opened,
    OpenedOutcome,
    RefusedOutcome,
    open_outcomes,
)
from projections.outcome_statements import memory_updates, spending_columns, statements
from projections.read_model import ReadModel, name_tenants, subjects_text
from projections.side_topics import SideApplier
from projections.turn_fold import conversation_of
from projections.vectors import usable_halves
from schemas import ids
from schemas.database import Connection
from schemas.errors import MemledgerError
from schemas.keyring import Keyring
from schemas.log.sealed import LogRecord
from schemas.queries import load_queries
from schemas.records import Closing
from schemas.topics import TURNS, memories_topic

NO_SIDES: Final = SideApplier(())

_QUERIES: Final = load_queries("projections", "sql/projector.sql")

Cursor: TypeAlias = AsyncCursor[TupleRow]


class PositionMoved(MemledgerError):
    """Another process has moved a position: what this one wanted to write was rolled back."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Applied:
    batch: Batch
    opened: Opened
    counted: Sequence[OpenedOutcome]
    poison: Sequence[Poison]
    void_changes: int
    vectors_left_out: int


class Applier:
    """Applies batches to one read model.

    Args:
        read_model: the tables.
        keyring: knows the subjects' keys.
        dead_letters: takes what cannot be applied.
        system_subject: the subject that speaks for erased ones and for unreadable records.
        partitions: how many partitions the topics have.
        sides: what is projected beside the ledger's own topics.
    """

    def __init__(
        self,
        read_model: ReadModel,
        keyring: Keyring,
        dead_letters: DeadLetterBox,
        *,
        system_subject: UUID,
        partitions: int,
        sides: SideApplier = NO_SIDES,
    ) -> None:
        self._read_model = read_model
        self._keyring = keyring
        self._dead_letters = dead_letters
        self._system_subject = system_subject
        self._sides = sides
        self._generation: Final = read_model.generation
        self._memories_topic: Final = memories_topic(read_model.generation)
        self._reader = BatchReader(
            generation=self._generation,
            system_subject=system_subject,
            partitions=partitions,
            side_topics=sides.topics,
        )

    async def positions(
        self, topics: Sequence[str], partitions: Sequence[int]
    ) -> dict[TopicPartitionPair, int]:
        """Return the first offset that is not applied, for each topic and partition.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
        """
        if not topics or not partitions:
            return {}
        started = {
            "topics": [topic for topic in topics for _ in partitions],
            "partitions": [partition for _ in topics for partition in partitions],
        }
        asked = {"topics": list(topics), "partitions": list(partitions)}
        async with self._read_model.connection() as connection:
            await connection.execute(_QUERIES["start_positions"], started)
            cursor = await connection.execute(_QUERIES["select_positions"], asked)
            return {
                (topic, partition): offset for topic, partition, offset in await cursor.fetchall()
            }

    async def count_open_turns(self, partitions: Sequence[int]) -> dict[int, int]:
        """Return how many turns are open in each of the partitions.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
        """
        if not partitions:
            return {}
        async with self._read_model.connection() as connection:
            asked = {"partitions": list(partitions)}
            cursor = await connection.execute(_QUERIES["count_open_turns"], asked)
            counted = dict(await cursor.fetchall())
        return {partition: counted.get(partition, 0) for partition in partitions}

    async def apply(
        self,
        items: Sequence[LogItem],
        positions: Mapping[TopicPartitionPair, int],
        refusals: Refusals = NO_REFUSALS,
    ) -> dict[TopicPartitionPair, int]:
        """Apply what was polled, whole or not at all, and return the positions it leads to.

        Args:
            items: what was polled, in the order of each partition.
            positions: the positions of the partitions as they were last read or returned.
            refusals: records to be set aside.

        Raises:
            PositionMoved: another process has moved a position.
            KeyMissing: a subject has neither keys nor a record of their destruction.
            KeyringUnavailable: the keyring cannot be reached.
            LogUnavailable: a dead letter was not acknowledged.
            ReadModelUnavailable: Postgres cannot be reached.
            psycopg.Error: Postgres refused a row.
        """
        batch = self._reader.read(items, positions, refusals)
        if not batch.advances:
            return {}
        began = time.perf_counter()
        applied = await self._transact(batch)
        metrics.APPLY_SECONDS.labels(self._generation).observe(time.perf_counter() - began)
        self._count(items, applied)
        return {place: advance.after for place, advance in batch.advances.items()}

    async def _transact(self, batch: Batch) -> _Applied:
        async with (
            self._read_model.connection() as connection,
            # Statements whose results nobody waits for travel together.
            connection.pipeline() as pipeline,
            connection.transaction(),
        ):
            moved = await self._enter(connection, batch)
            await pipeline.sync()
            _check_moved(moved.rowcount, len(batch.advances))
            # Inside the fence, so no destruction can be committed between this and our rows.
            keys = await self._keyring.fresh_keys(batch.opened_subjects)
            opened = open_outcomes(
                batch.outcomes,
                keys,
                poison=batch.poison,
                generation=self._generation,
                system_subject=self._system_subject,
            )
            beside = await self._sides.apply(connection, batch, keys)
            poison = (*batch.poison, *opened.poison, *batch.beside_poison, *beside)
            for item in poison:
                await self._dead_letters.append(item)
            await self._refuse(connection, opened.refused)
            counted = await self._close(connection, opened.outcomes)
            await self._erase(connection, batch, opened.erased)
            await self._read_turns(connection, batch)
            gone = summaries.gone_sources(batch, opened, self._generation)
            await summaries.forget_sources(connection, gone)
            changed: list[tuple[int, Cursor]] = []
            left_out = 0
            for stretch in up_to_deletions(counted):
                left_out += await self._change(connection, stretch, changed)
                await summaries.apply_summaries(connection, stretch)
                await summaries.forget_deleted(connection, stretch)
                for name, columns in statements(stretch):
                    await _execute(connection, name, columns)
            await self._spend(connection, counted)
            await self._finish(connection, batch, counted)
            # What Postgres refuses is raised here and not by the commit.
            await pipeline.sync()
            void_changes = sum(named - cursor.rowcount for named, cursor in changed)
        return _Applied(
            batch=batch,
            opened=opened,
            counted=counted,
            poison=poison,
            void_changes=void_changes,
            vectors_left_out=left_out,
        )

    async def _enter(self, connection: Connection, batch: Batch) -> Cursor:
        """Send what opens a batch; return what will tell how many positions moved."""
        entered = {
            "lock_class": FENCE_LOCK_CLASS,
            "partitions": batch.partitions,
            "subjects": subjects_text(batch.subjects),
        }
        await _execute(connection, "enter", entered)
        places = list(batch.advances)
        return await connection.execute(
            _QUERIES["advance_positions"],
            {
                "topics": [topic for topic, _ in places],
                "partitions": [partition for _, partition in places],
                "before": [batch.advances[place].before for place in places],
                "after": [batch.advances[place].after for place in places],
            },
        )

    async def _refuse(self, connection: Connection, refused: Sequence[RefusedOutcome]) -> None:
        """Close the turns of outcomes that were set aside, as dead-lettered."""
        if refused:
            columns = {
                "subjects": [item.subject for item in refused],
                "partitions": [item.partition for item in refused],
                "outcome_ids": [item.outcome_id for item in refused],
                "outcome_offsets": [item.offset for item in refused],
                "closing": Closing.DEAD_LETTERED.value,
            }
            await _execute(connection, "refuse_outcomes", columns)

    async def _close(
        self, connection: Connection, outcomes: Sequence[OpenedOutcome]
    ) -> list[OpenedOutcome]:
        """Close the turns of outcomes; return those outcomes that were the first of their turn."""
        if not outcomes:
            return []
        cursor = await connection.execute(
            _QUERIES["close_turns"],
            {
                "subjects": [opened.subject for opened in outcomes],
                "turn_ids": [opened.outcome.turn_id for opened in outcomes],
                "outcome_ids": [
                    ids.outcome_id(self._generation, opened.outcome.turn_id) for opened in outcomes
                ],
                "partitions": [opened.outcome.turn_partition for opened in outcomes],
                "turn_offsets": [opened.outcome.turn_offset for opened in outcomes],
                "closings": [opened.outcome.closing.value for opened in outcomes],
                "outcome_offsets": [opened.offset for opened in outcomes],
                "conversation_ids": [conversation_of(opened.outcome) for opened in outcomes],
            },
        )
        first = set(await cursor.fetchall())
        return [opened for opened in outcomes if (opened.subject, opened.outcome.turn_id) in first]

    async def _erase(
        self, connection: Connection, batch: Batch, erased: Sequence[ErasedOutcome]
    ) -> None:
        gone = [*erased]
        gone += [
            ErasedOutcome(subject=None, outcome_id=buried.outcome_id, offset=buried.offset)
            for buried in batch.buried_outcomes
        ]
        if gone:
            columns = {
                "subjects": [item.subject for item in gone],
                "outcome_ids": [item.outcome_id for item in gone],
                "outcome_offsets": [item.offset for item in gone],
                "closing": Closing.ERASED.value,
            }
            await _execute(connection, "erase_outcomes", columns)

    async def _read_turns(self, connection: Connection, batch: Batch) -> None:
        turns, buried = batch.turns, batch.buried_turns
        if turns:
            columns = {
                "subjects": [turn.subject for turn in turns],
                "turn_ids": [turn.turn_id for turn in turns],
                "partitions": [turn.partition for turn in turns],
                "turn_offsets": [turn.offset for turn in turns],
                "outcome_ids": [ids.outcome_id(self._generation, turn.turn_id) for turn in turns],
                "erased": Closing.ERASED.value,
                "refused": Closing.DEAD_LETTERED.value,
            }
            await _execute(connection, "read_turns", columns)
        if buried:
            columns = {
                "subjects": [turn.subject for turn in buried],
                "outcome_ids": [ids.outcome_id(self._generation, turn.turn_id) for turn in buried],
                "closing": Closing.ERASED.value,
            }
            await _execute(connection, "bury_turns", columns)

    async def _change(
        self,
        connection: Connection,
        counted: Sequence[OpenedOutcome],
        changed: list[tuple[int, Cursor]],
    ) -> int:
        """Send what outcomes change, and return the number of vectors left out.

        Args:
            connection: inside the transaction.
            counted: the outcomes.
            changed: takes how many versions each statement names, with what will tell how many it
                found.
        """
        left_out = 0
        for group in grouped(change for opened in counted for change in opened.changes):
            left_out += await self._insert(connection, group)
            for name, columns, versions in memory_updates(group):
                changed.append((versions, await connection.execute(_QUERIES[name], columns)))
        return left_out

    async def _insert(self, connection: Connection, group: ChangeGroup) -> int:
        if not group.inserts:
            return 0
        model = self._read_model
        vectors = [
            usable_halves(insert.memory.embedding, model=model.embedder, dimension=model.dimension)
            for insert in group.inserts
        ]
        columns = insert_columns(group.inserts, vectors, model.embedder, model.dimension)
        await _execute(connection, "insert_memories", columns)
        return vectors.count(None)

    async def _spend(self, connection: Connection, counted: Sequence[OpenedOutcome]) -> None:
        """Add up what outcomes cost; the tenants are known only now that keys are."""
        columns = spending_columns(counted)
        if columns is not None:
            await name_tenants(connection, set(columns["tenants"]))
            await _execute(connection, "add_spending", columns)

    async def _finish(
        self, connection: Connection, batch: Batch, counted: Sequence[OpenedOutcome]
    ) -> None:
        payloads = [
            f"{self._generation}:{partition}:{advance.after}"
            for (topic, partition), advance in batch.advances.items()
            if topic == self._memories_topic
        ]
        if payloads:
            finished = {
                "partitions": [opened.outcome.turn_partition for opened in counted],
                "floors": [opened.outcome.proposals_floor for opened in counted],
                "payloads": payloads,
            }
            await _execute(connection, "finish", finished)

    def _count(self, items: Sequence[LogItem], applied: _Applied) -> None:
        generation, opened = self._generation, applied.opened
        records = [item for item in items if isinstance(item, LogRecord)]
        for topic in (TURNS, self._memories_topic, *self._sides.topics):
            number = sum(record.position.topic == topic for record in records)
            metrics.RECORDS_APPLIED.labels(generation, topic).inc(number)
        for closed in applied.counted:
            metrics.OUTCOMES.labels(generation, closed.outcome.closing.value).inc()
        if opened.erased:
            metrics.OUTCOMES.labels(generation, Closing.ERASED.value).inc(len(opened.erased))
        ignored = opened.duplicates + len(opened.outcomes) - len(applied.counted)
        metrics.DUPLICATES_IGNORED.labels(generation).inc(ignored)
        for poison in applied.poison:
            metrics.DEAD_LETTERS_APPENDED.labels(generation, poison.stage).inc()
        metrics.VOID_CHANGES.labels(generation).inc(applied.void_changes)
        metrics.VECTORS_LEFT_OUT.labels(generation).inc(applied.vectors_left_out)


def _check_moved(moved: int, places: int) -> None:
    if moved != places:
        raise PositionMoved(
            f"{places - moved} of {places} positions were moved by another projector, which holds "
            "the partitions now"
        )


async def _execute(connection: Connection, name: str, parameters: Mapping[str, Any]) -> None:
    await connection.execute(_QUERIES[name], parameters)
