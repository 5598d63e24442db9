"""A keyring and a read model to which records are handed without a broker.

Records are sealed, and applied by the projector's own code: what serves is what is measured.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn
from uuid import UUID

from projections.apply import Applier
from projections.batch import LogItem, Poison, TopicPartitionPair
from projections.dead_letters import DeadLetterBox
from projections.ledger import PostgresLedger
from projections.read_model import ReadModel, open_read_model
from schemas import ids
from schemas.commands import Curation
from schemas.keyring import Keyring, SubjectKeys
from schemas.log.sealed import LogPosition, LogRecord, SealedRecord, seal_record
from schemas.partitioning import partition_for
from schemas.ports import Embedder
from schemas.records import Outcome, Turn
from schemas.topics import TURNS, memories_topic
from schemas.tree import address_for

GENERATION: Final = "evaluation"
PARTITIONS: Final = 4

_MEMORIES: Final = memories_topic(GENERATION)


class _NoDeadLetters(DeadLetterBox):
    """Fails where a record would be set aside: here it was made a moment ago, by this program."""

    def __init__(self) -> None:
        pass

    async def append(self, poison: Poison) -> NoReturn:
        """Raise what is wrong with the record."""
        raise poison.error


@dataclass(kw_only=True, slots=True)
class Site:
    """Empty stores, and what fills and asks them. Made by :func:`open_site`.

    Attributes:
        keyring: knows the users.
        read_model: the tables.
        ledger: what the workers ask of them.
        embedder: gives vectors.
    """

    keyring: Keyring
    read_model: ReadModel
    ledger: PostgresLedger
    embedder: Embedder
    _applier: Applier
    _positions: dict[TopicPartitionPair, int]
    _next: defaultdict[TopicPartitionPair, int] = field(default_factory=lambda: defaultdict(int))

    def place_turn(self, subject: UUID) -> tuple[int, int]:
        """Return the partition and the offset at which the subject's next turn stands."""
        return self._place(TURNS, subject)

    async def apply(self, told: Sequence[tuple[SubjectKeys, Turn | Curation, Outcome]]) -> None:
        """Append records with their outcomes and apply them, in one transaction.

        Args:
            told: turns and curations at the places that :meth:`place_turn` gave, in that order.
        """
        items: list[LogItem] = []
        for keys, record, outcome in told:
            turn_at = LogPosition(
                topic=TURNS, partition=outcome.turn_partition, offset=outcome.turn_offset
            )
            address = address_for(record.occurred_at, record.turn_id)
            sealed = seal_record(record, keys=keys, record_id=record.turn_id, address=address)
            items.append(_record(turn_at, sealed, record))
            partition, offset = self._place(_MEMORIES, keys.subject)
            outcome_id = ids.outcome_id(GENERATION, record.turn_id)
            sealed = seal_record(outcome, keys=keys, record_id=outcome_id, address=address)
            at = LogPosition(topic=_MEMORIES, partition=partition, offset=offset)
            items.append(_record(at, sealed, record))
        self._positions |= await self._applier.apply(items, self._positions)

    def _place(self, topic: str, subject: UUID) -> tuple[int, int]:
        partition = partition_for(subject, PARTITIONS)
        offset = self._next[topic, partition]
        self._next[topic, partition] += 1
        return partition, offset


@asynccontextmanager
async def open_site(
    *, database_url: str, keyring_url: str, key_directory: Path, embedder: Embedder
) -> AsyncIterator[Site]:
    """Make the tables in empty databases and yield what fills and asks them.

    Args:
        database_url: a database with pgvector, for the read model.
        keyring_url: a database for the keyring; it may be the same one.
        key_directory: an empty directory.
        embedder: gives vectors.
    """
    keyring = await Keyring.open(keyring_url, key_directory, migrate=True)
    try:
        read_model = await open_read_model(
            database_url,
            generation=GENERATION,
            embedder=embedder.name,
            dimension=embedder.dimension,
            migrate=True,
        )
        try:
            site = await _site(keyring, read_model, embedder)
            yield site
            await site.ledger.close()
        finally:
            await read_model.close()
    finally:
        await keyring.close()


async def _site(keyring: Keyring, read_model: ReadModel, embedder: Embedder) -> Site:
    system = await keyring.system_subject()
    applier = Applier(
        read_model,
        keyring,
        _NoDeadLetters(),
        system_subject=system.subject,
        partitions=PARTITIONS,
    )
    return Site(
        keyring=keyring,
        read_model=read_model,
        # Not opened: nothing here waits for what another process applies.
        ledger=PostgresLedger(read_model),
        embedder=embedder,
        _applier=applier,
        _positions=await applier.positions((TURNS, _MEMORIES), range(PARTITIONS)),
    )


def _record(at: LogPosition, sealed: SealedRecord, record: Turn | Curation) -> LogRecord:
    return LogRecord(
        position=at,
        timestamp_ms=int(record.received_at.timestamp() * 1_000),
        key=sealed.key,
        value=sealed.value,
        headers=sealed.headers,
    )
