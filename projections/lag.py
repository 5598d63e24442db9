"""How far the ledger is behind: records that stand in the log and are not yet processed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import psycopg
from psycopg import AsyncConnection
from psycopg.conninfo import make_conninfo

from projections.read_model import (
    count_waiting,
    name_every_subject,
    reaching_read_model,
    schema_name,
)
from schemas.errors import LogUnavailable
from schemas.log import reader
from schemas.log.admin import partition_count
from schemas.queries import load_queries
from schemas.topics import TURNS, memories_topic

_QUERIES: Final = load_queries("projections", "sql/lag.sql")
_CONNECT_TIMEOUT_S: Final = 5

_Place = tuple[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Lag:
    """Records yet to be processed.

    Attributes:
        workers: turns that are not closed.
        projector: records of turns and memories that are not applied.
        embeddings_waiting: memories that wait for a vector; ``count_waiting`` says how far it
            counts.
    """

    workers: int
    projector: int
    embeddings_waiting: int


async def measure_lag(*, database_url: str, bootstrap: str, generation: str) -> Lag:
    """Compare the ends of the topics with what the read model has applied.

    Raises:
        LogUnavailable: the broker does not answer, or the topics do not exist.
        ReadModelUnavailable: Postgres does not answer.
    """
    ends = await asyncio.to_thread(_ends, bootstrap, generation)
    positions, open_turns, waiting = await _applied(database_url, generation)
    behind = {
        place: max(0, end - max(start, positions.get(place, 0)))
        for place, (start, end) in ends.items()
    }
    unread_turns = sum(count for (topic, _), count in behind.items() if topic == TURNS)
    return Lag(
        workers=open_turns + unread_turns,
        projector=sum(behind.values()),
        embeddings_waiting=waiting,
    )


async def _applied(database_url: str, generation: str) -> tuple[dict[_Place, int], int, int]:
    """Return the positions, and how many turns are open and memories without a vector."""
    conninfo = make_conninfo(
        database_url,
        options=f"-c search_path={schema_name(generation)}",
        connect_timeout=_CONNECT_TIMEOUT_S,
    )
    try:
        with reaching_read_model():
            async with await AsyncConnection.connect(conninfo) as connection:
                rows = await (await connection.execute(_QUERIES["select_positions"])).fetchall()
                count = await (await connection.execute(_QUERIES["count_open_turns"])).fetchone()
                await name_every_subject(connection)
                waiting = await count_waiting(connection)
    except psycopg.errors.UndefinedTable:
        return {}, 0, 0  # nothing was projected yet
    positions = {(topic, partition): offset for topic, partition, offset in rows}
    return positions, count[0] if count else 0, waiting


def _ends(bootstrap: str, generation: str) -> dict[_Place, tuple[int, int]]:
    partitions = partition_count(bootstrap, TURNS)
    if partitions is None:
        raise LogUnavailable(f"topic {TURNS} does not exist: start the pipeline with memledger up")
    consumer = reader.new_consumer(bootstrap, client_id="memledger-lag")
    try:
        return {
            (topic, partition): reader.bounds(consumer, topic, partition)
            for topic in (TURNS, memories_topic(generation))
            for partition in range(partitions)
        }
    finally:
        consumer.close()
