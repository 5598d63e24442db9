"""What every log owes to who appends and to who reads; a suite to inherit from."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Protocol
from uuid import UUID, uuid4

import pytest

from processors.ports import Appends
from schemas import ids
from schemas.errors import InputTooLarge
from schemas.log.sealed import HEADER_NAME, LogRecord, SealedRecord
from schemas.sealing import Header
from schemas.topics import RECORD_BYTES_MAX, TURNS, memories_topic

MEMORIES = memories_topic("g1")


class ReadsLog(Protocol):
    """Reads a partition; returns at the end that it has by then."""

    async def read(self, topic: str, partition: int, start: int = 0) -> list[LogRecord]:
        """Return every record from an offset on."""
        ...

    async def end(self, topic: str, partition: int) -> int:
        """Return the offset after the last record there ever was."""
        ...

    async def bury(self, topic: str, partition: int, record: SealedRecord) -> int:
        """Append the tombstone of an append, with its header, and return its offset."""
        ...


@dataclass(frozen=True, kw_only=True)
class LogSite:
    """A log with four partitions a topic, empty.

    Attributes:
        producer: appends.
        log: reads, and appends tombstones.
    """

    producer: Appends
    log: ReadsLog


Opened = AbstractAsyncContextManager[LogSite]
Play = Callable[[Callable[[LogSite], Awaitable[None]]], None]


def sealed(record_id: UUID | None = None, *, value: bytes | None = None) -> SealedRecord:
    """Return a record as it is handed to a log, which never looks inside."""
    record_id = record_id or uuid4()
    header = Header(
        subject=uuid4(), record_id=record_id, address=7, schema_name="turn", schema_version=1
    )
    return SealedRecord(
        key=ids.append_key(record_id),
        value=os.urandom(40) if value is None else value,
        headers=[(HEADER_NAME, header.encode())],
    )


class LogContract:
    """Holds for every log."""

    @pytest.fixture
    def opened(self) -> Callable[[], Opened]:
        """Opens a site inside a running event loop."""
        raise NotImplementedError

    @pytest.fixture
    def play(self, opened: Callable[[], Opened]) -> Play:
        """Runs a scene on an empty log."""

        def run(act: Callable[[LogSite], Awaitable[None]]) -> None:
            async def scene() -> None:
                async with opened() as site:
                    await act(site)

            asyncio.run(scene())

        return run

    def test_gives_back_what_was_appended_byte_for_byte(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            record = sealed(value=bytes(range(256)))
            offset = await site.producer.append(TURNS, 2, record)

            [read] = await site.log.read(TURNS, 2)

            assert (read.position.topic, read.position.partition) == (TURNS, 2)
            assert read.position.offset == offset == 0
            assert (read.key, read.value, read.headers) == (
                record.key,
                record.value,
                record.headers,
            )
            assert ids.record_id_of_key(read.key) == read.header().record_id

        play(act)

    def test_keeps_the_order_in_which_appends_were_awaited(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            records = [sealed() for _ in range(50)]
            offsets = [await site.producer.append(TURNS, 1, record) for record in records[:5]]
            # Begun one after the other, all under way at once.
            offsets += await asyncio.gather(
                *(site.producer.append(TURNS, 1, record) for record in records[5:])
            )

            read = await site.log.read(TURNS, 1)

            assert offsets == list(range(50))
            assert [one.position.offset for one in read] == offsets
            assert [one.key for one in read] == [record.key for record in records]

        play(act)

    def test_keeps_partitions_and_topics_apart(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            here, there, elsewhere = sealed(), sealed(), sealed()
            assert await site.producer.append(TURNS, 0, here) == 0
            assert await site.producer.append(TURNS, 3, there) == 0
            assert await site.producer.append(MEMORIES, 0, elsewhere) == 0

            for place, record in (
                ((TURNS, 0), here),
                ((TURNS, 3), there),
                ((MEMORIES, 0), elsewhere),
            ):
                assert [one.key for one in await site.log.read(*place)] == [record.key]

        play(act)

    def test_of_no_records_is_read_to_its_end_at_once(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            assert await site.log.read(TURNS, 0) == []
            assert await site.log.end(TURNS, 0) == 0

        play(act)

    def test_is_read_from_any_offset_to_the_end(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            for _ in range(4):
                await site.producer.append(TURNS, 0, sealed())

            for start in range(5):
                read = await site.log.read(TURNS, 0, start)
                assert [one.position.offset for one in read] == list(range(start, 4))
            assert await site.log.end(TURNS, 0) == 4

        play(act)

    def test_keeps_every_append_of_an_id(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            record_id = uuid4()
            first, second = sealed(record_id), sealed(record_id)
            await site.producer.append(TURNS, 0, first)
            await site.producer.append(TURNS, 0, second)

            read = await site.log.read(TURNS, 0)

            assert first.key != second.key
            assert [ids.record_id_of_key(one.key) for one in read] == [record_id, record_id]
            assert [one.value for one in read] == [first.value, second.value]

        play(act)

    def test_shows_tombstones_with_key_and_header(self, play: Play) -> None:
        async def act(site: LogSite) -> None:
            record = sealed()
            await site.producer.append(TURNS, 0, record)
            offset = await site.log.bury(TURNS, 0, record)
            await site.producer.append(TURNS, 0, sealed())

            read = await site.log.read(TURNS, 0)

            assert offset == 1
            assert [one.value is None for one in read] == [False, True, False]
            assert (read[1].key, read[1].headers) == (record.key, record.headers)

        play(act)

    def test_takes_a_record_of_megabytes_and_refuses_what_is_above_the_limit(
        self, play: Play
    ) -> None:
        async def act(site: LogSite) -> None:
            large = sealed(value=os.urandom(RECORD_BYTES_MAX - 1024))
            await site.producer.append(TURNS, 0, large)
            with pytest.raises(InputTooLarge):
                await site.producer.append(
                    TURNS, 0, replace(large, value=os.urandom(RECORD_BYTES_MAX + 1))
                )
            await site.producer.append(TURNS, 0, sealed())

            read = await site.log.read(TURNS, 0)

            assert [len(one.value or b"") for one in read] == [RECORD_BYTES_MAX - 1024, 40]

        play(act)
