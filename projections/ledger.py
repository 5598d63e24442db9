"""What the workers ask of the projection; implements :class:`schemas.ports.Ledger`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NoReturn, Self
from uuid import UUID

import psycopg
from psycopg import AsyncConnection, Notify

from projections.coalescing import Coalescer
from projections.read_model import ReadModel, subjects_text
from projections.related import (
    Named,
    memory_of,
    only_memories,
    parameters,
    stored_of,
    suppression_parameters,
    tied,
)
from projections.vectors import HalfVectors, Halves, halves_of
from projections.waiters import Waiters
from schemas import ids
from schemas.database import Connection
from schemas.errors import ReadModelUnavailable
from schemas.memory import Memory
from schemas.ports import (
    PartitionProgress,
    Related,
    SimilarTo,
    StoredMemory,
    TurnContext,
    Vectors,
)
from schemas.queries import load_queries
from schemas.records import Closing
from schemas.slots import Slot
from schemas.tasks import end_tasks
from schemas.topics import TURNS, memories_topic

_LOG: Final = logging.getLogger(__name__)
_QUERIES: Final = load_queries("projections", "sql/ledger.sql")

_REREAD_S: Final = 1.0
_RECONNECT_S: Final = 0.5
_PAUSE_S_MAX: Final = 10.0
_QUERIES_MAX: Final = 1
_MERGE_STEPS: Final = 2
_GATHER_S: Final = 0.006
"""Measured with 200 busy subjects, six runs in turn on a busy machine: on average a tenth less
processor time in Python and a third less in Postgres than two queries that wait for nobody."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    subject: UUID
    turn_id: UUID
    partition: int
    vector: Halves | None
    known_max: int


class PostgresLedger:
    """The ledger over a read model. Made by :meth:`open`.

    Workers ask for hundreds of turns at a time, so what is asked while a query is under way goes
    into the next one. Memories come without their vectors, which weigh most of a row, but for those
    that a new statement is compared with.
    """

    def __init__(self, read_model: ReadModel) -> None:
        self._read_model = read_model
        self._memories_topic: Final = memories_topic(read_model.generation)
        self._waiters = Waiters()
        self._contexts = Coalescer(
            self._ask_contexts,
            queries_max=_QUERIES_MAX,
            gather_s=_GATHER_S,
            shared_failure=ReadModelUnavailable,
        )
        self._related = Coalescer(
            self._ask_related,
            queries_max=_QUERIES_MAX,
            gather_s=_GATHER_S,
            shared_failure=ReadModelUnavailable,
        )
        self._listening: asyncio.Task[None] | None = None
        self._rereading: asyncio.Task[None] | None = None

    @classmethod
    async def open(cls, read_model: ReadModel) -> Self:
        """Open the ledger over a read model, which the caller closes after it."""
        ledger = cls(read_model)
        ledger._listening = asyncio.create_task(
            _for_ever(ledger._listen, pause_s=_RECONNECT_S, what="listening for applied outcomes")
        )
        ledger._rereading = asyncio.create_task(
            _for_ever(ledger._reread, pause_s=_REREAD_S, what="reading what is applied")
        )
        return ledger

    async def close(self) -> None:
        """Stop listening; whoever still waits is left to its own cancellation."""
        tasks = [task for task in (self._listening, self._rereading) if task is not None]
        await end_tasks(tasks)
        await self._contexts.close()
        await self._related.close()

    async def claim(self, partition: int, owner: str) -> None:
        """Make ``owner`` the holder of a partition; the one before finds out by its next context.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
        """
        async with self._read_model.connection() as connection:
            claimed = {"partition": partition, "owner": owner}
            await connection.execute(_QUERIES["claim_partition"], claimed)

    async def progress(self, partition: int) -> PartitionProgress:
        """Return how far the ledger has come in a partition.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
        """
        asked = {
            "partition": partition,
            "turns_topic": TURNS,
            "memories_topic": self._memories_topic,
        }
        async with self._read_model.connection() as connection:
            cursor = await connection.execute(_QUERIES["select_progress"], asked, binary=True)
            row = await cursor.fetchone()
        assert row is not None, "a statement without a table in FROM returns one row"  # noqa: S101 - checked in production too
        open_offsets, turns_next, memories_next, proposals_floor = row
        return PartitionProgress(
            open_offsets=frozenset(open_offsets),
            turns_next=turns_next,
            memories_next=memories_next,
            proposals_floor=proposals_floor,
        )

    async def wait_applied(self, partition: int, memories_offset: int) -> None:
        """Return once the outcome at ``memories_offset`` is applied, however long it takes.

        It waits through times in which Postgres cannot be reached: they end by themselves, or the
        caller's wait is cancelled.
        """
        await self._waiters.wait(partition, memories_offset)

    async def context(
        self,
        *,
        subject: UUID,
        turn_id: UUID,
        partition: int,
        vector: Vectors | None,
        known_max: int,
    ) -> TurnContext:
        """Return what is known of a turn, and the subject's memories nearest to ``vector``.

        Args:
            subject: the subject.
            turn_id: the turn.
            partition: the partition that the turn lies in.
            vector: the turn's vector, of shape ``(1, dimension)`` and length 1.
            known_max: most memories to return; 0 for none.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
            ValueError: the vector is not one vector of the read model's dimension.
        """
        wanted = vector is not None and known_max > 0
        return await self._contexts(
            _Asked(
                subject=subject,
                turn_id=turn_id,
                partition=partition,
                vector=self._halves(vector) if vector is not None and wanted else None,
                known_max=known_max,
            )
        )

    async def related(
        self,
        *,
        subject: UUID,
        slots: Collection[tuple[Slot, str]],
        statement_keys: Collection[bytes],
        memory_ids: Collection[UUID],
        similar: Collection[SimilarTo] = (),
        turn_ids: Collection[UUID] = (),
        suppression_keys: Collection[bytes] = (),
    ) -> Related:
        """Return every version that a decision may touch; see :class:`schemas.ports.Ledger`.

        Raises:
            ReadModelUnavailable: Postgres cannot be reached.
        """
        return await self._related(
            Named(
                subject=subject,
                slots=tuple(slots),
                statement_keys=tuple(statement_keys),
                memory_ids=tuple(memory_ids),
                similar=tuple(similar),
                turn_ids=tuple(turn_ids),
                suppression_keys=tuple(suppression_keys),
            )
        )

    def _halves(self, vector: Vectors) -> Halves:
        if vector.shape != (1, self._read_model.dimension):
            raise ValueError(
                f"one vector of {self._read_model.dimension} components is asked with, not an "
                f"array of shape {vector.shape}"
            )
        return halves_of(vector[0])

    async def _ask_contexts(self, asked: Sequence[_Asked]) -> list[TurnContext]:
        generation = self._read_model.generation
        turns = {
            "subjects": [one.subject for one in asked],
            "turn_ids": [one.turn_id for one in asked],
            "outcome_ids": [ids.outcome_id(generation, one.turn_id) for one in asked],
            "partitions": [one.partition for one in asked],
            "erased": Closing.ERASED.value,
            "refused": Closing.DEAD_LETTERED.value,
        }
        near = [(place, one) for place, one in enumerate(asked) if one.vector is not None]
        vectors = {
            "subjects": [one.subject for _, one in near],
            "vectors": HalfVectors([one.vector for _, one in near]),
            "most": [one.known_max for _, one in near],
        }
        questions = [(_QUERIES["select_turn_states"], turns)]
        if near:
            questions.append((_QUERIES["select_nearest"], vectors))
        states, *found = await self._ask({one.subject for one in asked}, questions)
        nearest: list[list[Memory]] = [[] for _ in asked]
        for place, *columns in found[0] if found else ():
            nearest[near[place - 1][0]].append(memory_of(columns))
        return [
            TurnContext(
                closing=None if closing is None else Closing(closing),
                owner=owner,
                nearest=tuple(memories),
            )
            for (closing, owner), memories in zip(states, nearest, strict=True)
        ]

    async def _ask_related(self, asked: Sequence[Named]) -> list[Related]:
        """Return the versions that each question names, and those that a merge ties to them.

        Merges are rare, so that only where there are some it is asked again: for what stands for a
        version, and then for what else that stands for.
        """
        found, suppressed = await self._ask_named(asked)
        for _ in range(_MERGE_STEPS):
            behind = [
                only_memories(one.subject, tied(of.values()))
                for one, of in zip(asked, found, strict=True)
            ]
            if not any(one.memory_ids for one in behind):
                break
            more_found, _ = await self._ask_named(behind)
            for stored, more in zip(found, more_found, strict=True):
                stored.update({version: more[version] for version in more.keys() - stored.keys()})
        return [
            Related(versions=tuple(stored.values()), suppressed=keys)
            for stored, keys in zip(found, suppressed, strict=True)
        ]

    async def _ask_named(
        self, asked: Sequence[Named]
    ) -> tuple[list[dict[UUID, StoredMemory]], list[dict[bytes, datetime]]]:
        """Return the versions that each question names, and which of its keys are suppressed."""
        model, dimension = self._read_model.embedder, self._read_model.dimension
        named = parameters(asked, model=model, dimension=dimension)
        questions = [(_QUERIES["select_related"], named)]
        keys = suppression_parameters(asked)
        if keys is not None:
            questions.append((_QUERIES["select_suppressed"], keys))
        rows, *told = await self._ask({one.subject for one in asked}, questions)
        found: list[dict[UUID, StoredMemory]] = [{} for _ in asked]
        for place, *columns in rows:
            stored = stored_of(columns, model=model, dimension=dimension)
            found[place][stored.memory.memory_id] = stored
        suppressed: list[dict[bytes, datetime]] = [{} for _ in asked]
        for place, key, suppressed_at in told[0] if told else ():
            suppressed[place][key] = suppressed_at
        return found, suppressed

    async def _ask(
        self, subjects: Collection[UUID], questions: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> list[list[tuple[Any, ...]]]:
        """Return the rows of each question, where only some subjects' rows can be seen.

        Everything travels together: psycopg's own transaction block would wait for an answer at
        its beginning and at its end.
        """
        async with self._read_model.connection() as connection:
            async with connection.pipeline():
                await connection.execute(_QUERIES["begin_asking"])
                await connection.execute(_QUERIES["enter"], {"subjects": subjects_text(subjects)})
                cursors = [
                    await connection.execute(query, parameters, binary=True)
                    for query, parameters in questions
                ]
                await connection.execute(_QUERIES["end_asking"])
            return [await cursor.fetchall() for cursor in cursors]

    async def _listen(self) -> None:
        """Hear of committed batches, on a connection of its own, until that is lost."""
        async with await AsyncConnection.connect(
            self._read_model.conninfo,
            autocommit=True,
            application_name="memledger-ledger-listener",
        ) as connection:
            await connection.execute(_QUERIES["listen"])
            await self._read_positions()  # what was told before anybody listened
            await self._hear(connection)

    async def _hear(self, connection: Connection) -> None:
        async for notify in connection.notifies():
            self._heard(notify)

    def _heard(self, notify: Notify) -> None:
        generation, _, applied = notify.payload.partition(":")
        if generation != self._read_model.generation:
            return
        try:
            partition, next_offset = map(int, applied.split(":"))
        except ValueError:
            _LOG.warning("a word on %s that says nothing is ignored", notify.channel)
            return
        self._waiters.heard(partition, next_offset)

    async def _reread(self) -> None:
        """Read the positions if anybody waits, in case that a word was lost."""
        if self._waiters:
            await self._read_positions()

    async def _read_positions(self) -> None:
        since = self._waiters.mark()
        async with self._read_model.connection() as connection:
            asked = {"memories_topic": self._memories_topic}
            cursor = await connection.execute(_QUERIES["select_applied"], asked)
            self._waiters.read(dict(await cursor.fetchall()), since=since)


async def _for_ever(
    attempt: Callable[[], Awaitable[None]], *, pause_s: float, what: str
) -> NoReturn:
    """Do something again and again, whatever it raises: those who wait depend on it.

    A store that is away is asked again after the same pause; after what nobody foresaw the pause
    grows, so that the log is not flooded.
    """
    pause_now_s = pause_s
    while True:
        try:
            await attempt()
            pause_now_s = pause_s
        except (psycopg.Error, ReadModelUnavailable) as error:
            _LOG.warning("%s failed: %s; trying again", what, error)
            pause_now_s = pause_s
        except Exception:  # noqa: BLE001 - whatever it is, ending here would leave every wait hanging
            _LOG.exception("%s failed unexpectedly; trying again", what)
            pause_now_s = min(2 * pause_now_s, _PAUSE_S_MAX)
        await asyncio.sleep(pause_now_s)
