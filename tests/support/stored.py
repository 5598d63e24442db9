"""A read model that is filled by hand: versions near to a question, as near as a test wants."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import numpy as np

from projections.changes import Close, Insert, Merge, Retract
from projections.columns import close_columns, insert_columns, merge_columns, retract_columns
from projections.read_model import ReadModel, name_subjects, open_read_model
from projections.recall import Recall
from projections.vectors import halves_of
from schemas.memory import Confidence, Memory, MemoryKind
from schemas.partitioning import partition_for
from schemas.ports import Vectors
from schemas.proposals import Action, Operation
from schemas.queries import load_queries
from schemas.slots import Slot
from schemas.tasks import end_tasks
from schemas.topics import TURNS
from tests.support.log_writer import NOON, at, memory

GENERATION = "g1"
PARTITIONS = 4
QUESTION = "question"

_PROJECTOR = load_queries("projections", "sql/projector.sql")
_OPERATION = Operation(
    action=Action.ADD,
    kind=MemoryKind.SEMANTIC,
    slot=Slot.NOTE,
    about="user",
    content="Gets 50% off",
    importance=3,
    confidence=Confidence.STATED,
    quote="50% off",
)


class AngleEmbedder:
    """Gives every question one vector; :func:`near` gives those at a wanted cosine to it."""

    name = "angle"
    dimension = 4
    min_similarity = 0.5
    same_statement_similarity = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the question's vector for each text."""
        return np.tile(near(1.0), (len(texts), 1))


def near(cosine: float) -> Vectors:
    """Return a vector of that cosine to every question."""
    return np.array([cosine, np.sqrt(1 - cosine**2), 0, 0], dtype=np.float32)


@dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """A read model with its recall, and hands to fill it.

    Attributes:
        read_model: the tables.
        recall: asks them.
    """

    read_model: ReadModel
    recall: Recall

    async def add(
        self,
        subject: UUID,
        *,
        cosine: float | None = 1.0,
        vector: Vectors | None = None,
        model: str = AngleEmbedder.name,
        **fields: Any,
    ) -> Memory:
        """Store a version; ``cosine`` to the question, or no vector for ``None``."""
        version = memory(fields.pop("memory_id", uuid4()), uuid4(), embedding=None, **fields)
        if vector is None and cosine is not None:
            vector = near(cosine)
        halves = None if vector is None else halves_of(vector)
        columns = insert_columns(
            [Insert(subject=subject, memory=version)], [halves], model, AngleEmbedder.dimension
        )
        await self.run(subject, _PROJECTOR["insert_memories"], columns)
        return version

    async def close(
        self, subject: UUID, version: Memory, *, valid_to: datetime, recorded_at: datetime
    ) -> None:
        """End a version."""
        close = Close(
            subject=subject,
            memory_id=version.memory_id,
            valid_to=valid_to,
            closed_recorded_at=recorded_at,
        )
        await self.run(subject, _PROJECTOR["close_memories"], close_columns([close]))

    async def retract(self, subject: UUID, version: Memory, *, recorded_at: datetime) -> None:
        """Withdraw a version."""
        retract = Retract(subject=subject, memory_id=version.memory_id, retracted_at=recorded_at)
        await self.run(subject, _PROJECTOR["retract_memories"], retract_columns([retract]))

    async def merge(
        self, subject: UUID, version: Memory, *, into: Memory, recorded_at: datetime
    ) -> None:
        """Let another version stand for one."""
        merge = Merge(
            subject=subject,
            memory_id=version.memory_id,
            merged_into=into.memory_id,
            merged_valid_from=into.valid_from,
            merged_at=recorded_at,
        )
        await self.run(subject, _PROJECTOR["merge_memories"], merge_columns([merge]))

    async def flag(
        self, subject: UUID, tenant: str, *, minutes: int = 0, decided: bool = False
    ) -> UUID:
        """Leave an operation of a subject of some tenant to a person; return the flag's id."""
        flag_id = uuid4()
        await self.run(
            subject,
            "INSERT INTO flags (subject, flag_id, tenant, state, turn_id, conversation_id, reasons,"
            " proposed, said_at, utc_offset_minutes, flagged_at, actor, reason, decided_at,"
            " decided_by_turn)"
            " VALUES (%(subject)s, %(flag_id)s, %(tenant)s, %(state)s, %(flag_id)s, 'c',"
            " '{contradiction}', %(proposed)s, %(at)s, 60, %(at)s, %(actor)s, %(actor)s,"
            " %(decided_at)s, %(by)s)",
            {
                "subject": subject,
                "flag_id": flag_id,
                "tenant": tenant,
                "state": "approved" if decided else "open",
                "proposed": _OPERATION.model_dump_json(),
                "at": at(minutes),
                "actor": "ann" if decided else None,
                "decided_at": at(minutes + 1) if decided else None,
                "by": uuid4() if decided else None,
            },
        )
        return flag_id

    async def turn(self, subject: UUID, offset: int, *, closing: str | None) -> None:
        """Let the projector have read a turn, closed or open; the last one sets the position."""
        partition = partition_for(subject, PARTITIONS)
        await self.run(
            subject,
            "INSERT INTO turns (subject, turn_id, partition, turn_offset, closing) "
            "VALUES (%(subject)s, %(turn)s, %(partition)s, %(offset)s, %(closing)s)",
            {
                "subject": subject,
                "turn": uuid4(),
                "partition": partition,
                "offset": offset,
                "closing": closing,
            },
        )
        await self.read_to(partition, offset + 1)

    async def close_turn(self, subject: UUID, offset: int) -> None:
        """Close an open turn."""
        await self.run(
            subject,
            "UPDATE turns SET closing = 'stored' "
            "WHERE subject = %(subject)s AND turn_offset = %(offset)s",
            {"subject": subject, "offset": offset},
        )

    async def read_to(self, partition: int, turns_next: int) -> None:
        """Set how far the turns topic was read."""
        await self.run(
            None,
            "INSERT INTO positions VALUES (%(topic)s, %(partition)s, %(next)s) "
            "ON CONFLICT (topic, partition) DO UPDATE SET next_offset = %(next)s",
            {"topic": TURNS, "partition": partition, "next": turns_next},
        )

    async def run(self, subject: UUID | None, query: str, parameters: dict[str, Any]) -> None:
        """Run a statement that sees one subject's rows."""
        async with self.read_model.connection() as connection, connection.transaction():
            await name_subjects(connection, [] if subject is None else [subject])
            await connection.execute(query, parameters)


@asynccontextmanager
async def stored(
    database_url: str, *, now: datetime = NOON, wait_s: float = 5.0
) -> AsyncIterator[Stored]:
    """Open an empty read model for the length of a block."""
    embedder = AngleEmbedder()
    read_model = await open_read_model(
        database_url,
        generation=GENERATION,
        embedder=embedder.name,
        dimension=embedder.dimension,
        migrate=True,
    )
    try:
        recall = Recall(
            read_model, embedder, partitions=PARTITIONS, wait_s=wait_s, clock=lambda: now
        )
        yield Stored(read_model=read_model, recall=recall)
    finally:
        await read_model.close()


def subject_in(partition: int, *, apart_from: Sequence[UUID] = ()) -> UUID:
    """Return a new subject whose records lie in a partition."""
    while True:
        subject = uuid4()
        if partition_for(subject, PARTITIONS) == partition and subject not in apart_from:
            return subject


async def settled(task: asyncio.Task[Any]) -> None:
    """Cancel a task and wait for its end."""
    await end_tasks([task])
