"""The listing of memories: what it holds, in which order, and how its pages fit together."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.memories import ListedMemory, Memories, MemoryPage, MemoryState
from schemas.errors import InvalidInput
from schemas.memory import Provenance, Source
from tests.support.log_writer import NOON, at
from tests.support.stored import QUESTION, Stored, stored

_PROVENANCE = Provenance(system="orders", type="order_late", reference="17")


def _play(
    database_url: str, act: Callable[[Stored, Memories], Awaitable[None]], **options: Any
) -> None:
    async def play() -> None:
        async with stored(database_url, **options) as tables:
            await act(tables, Memories(tables.read_model, clock=lambda: options.get("now", NOON)))

    asyncio.run(play())


async def _pages(memories: Memories, subject: UUID, **options: Any) -> list[ListedMemory]:
    """Return every memory of a listing, read page by page."""
    listed: list[ListedMemory] = []
    cursor: str | None = None
    for _ in range(1000):
        page: MemoryPage = await memories.list_memories(subject, cursor=cursor, **options)
        listed += page.memories
        cursor = page.next_cursor
        if cursor is None:
            return listed
    raise AssertionError("the listing does not end")


async def _store_states(tables: Stored, subject: UUID) -> dict[UUID, MemoryState]:
    live = await tables.add(subject, valid_from=at(-50), recorded_at=at(-50))
    superseded = await tables.add(subject, valid_from=at(-50), recorded_at=at(-40))
    await tables.close(subject, superseded, valid_to=at(-20), recorded_at=at(-20))
    expired = await tables.add(subject, valid_from=at(-50), recorded_at=at(-30), expires_at=at(-10))
    wrong = await tables.add(subject, valid_from=at(-50), recorded_at=at(-20))
    await tables.close(subject, wrong, valid_to=at(-10), recorded_at=at(-10))
    await tables.retract(subject, wrong, recorded_at=at(-5))
    episode = await tables.add(subject, valid_from=at(-50), recorded_at=at(-55))
    merged = await tables.add(
        subject,
        valid_from=at(-15),
        recorded_at=at(-12),
        source=Source.SYSTEM,
        provenance=_PROVENANCE,
        merged_from=(episode.memory_id,),
    )
    await tables.merge(subject, episode, into=merged, recorded_at=at(-12))
    return {
        episode.memory_id: MemoryState.MERGED,
        merged.memory_id: MemoryState.LIVE,
        live.memory_id: MemoryState.LIVE,
        superseded.memory_id: MemoryState.SUPERSEDED,
        expired.memory_id: MemoryState.EXPIRED,
        wrong.memory_id: MemoryState.RETRACTED,
    }


def test_history_lists_every_version_with_its_state_and_its_words(postgres_url: str) -> None:
    async def act(tables: Stored, memories: Memories) -> None:
        subject = uuid4()
        states = await _store_states(tables, subject)
        await tables.add(uuid4())

        page = await memories.list_memories(subject, history=True)
        assert {memory.memory_id: memory.state for memory in page.memories} == states
        assert [memory.recorded_at for memory in page.memories] == [
            at(-12), at(-20), at(-30), at(-40), at(-50), at(-55)
        ]  # fmt: skip
        merged, wrong, _, superseded, live, episode = page.memories
        assert (wrong.retracted_at, wrong.valid_to) == (at(-5), at(-10))
        assert (superseded.valid_to, superseded.closed_recorded_at) == (at(-20), at(-20))
        assert (live.quote, live.conversation_id) == ("quote", "conversation")
        assert live.lineage_id == live.memory_id
        assert (live.confirmations, live.last_confirmed_at) == (0, at(-50))
        assert (live.provenance, live.merged_from, live.merged_into) == (None, (), None)
        assert (merged.source, merged.provenance) == (Source.SYSTEM, _PROVENANCE)
        assert merged.merged_from == (episode.memory_id,)
        assert (episode.merged_into, episode.valid_to) == (merged.memory_id, None)
        assert page.generation == "g1"

        held = await memories.list_memories(subject)
        assert [memory.state for memory in held.memories] == [MemoryState.LIVE] * 2

    _play(postgres_url, act)


def test_as_of_lists_what_recall_would_search(postgres_url: str) -> None:
    async def act(tables: Stored, memories: Memories) -> None:
        subject = uuid4()
        states = await _store_states(tables, subject)
        assert len(states) == 6
        moments = [
            None,
            *(at(minutes) for minutes in (-60, -50, -21, -20, -16, -15, -11, -10, -1, 5)),
        ]
        counts = []
        for moment in moments:
            listed = await _pages(memories, subject, as_of=moment)
            result = await tables.recall.recall(subject, QUESTION, min_similarity=-1, as_of=moment)
            served = {memory.memory_id for memory in result.memories}
            assert {memory.memory_id for memory in listed} == served
            counts.append(len(listed))
        # From -15 on the merged one stands for the episode.
        assert counts == [2, 0, 4, 4, 3, 3, 3, 3, 2, 2, 2]

    _play(postgres_url, act)


def test_pages_hold_each_version_once_in_one_order(postgres_url: str) -> None:
    async def act(tables: Stored, memories: Memories) -> None:
        subject = uuid4()
        chance = random.Random(7)
        for _ in range(60):
            # Many versions of one outcome share the moment they were recorded at.
            await tables.add(subject, recorded_at=at(chance.randrange(5)))
        whole = (await memories.list_memories(subject, limit=500)).memories
        keys = [(memory.recorded_at, memory.memory_id) for memory in whole]
        assert keys == sorted(keys, reverse=True)
        assert len(set(keys)) == 60
        for limit in (1, 7, 20, 59, 60, 61):
            assert tuple(await _pages(memories, subject, limit=limit)) == whole

    _play(postgres_url, act)


def test_what_is_recorded_while_pages_are_read_moves_none(postgres_url: str) -> None:
    async def act(tables: Stored, memories: Memories) -> None:
        subject = uuid4()
        for minutes in range(4):
            await tables.add(subject, recorded_at=at(minutes))
        first = await memories.list_memories(subject, limit=2)
        await tables.add(subject, recorded_at=at(9))
        second = await memories.list_memories(subject, limit=2, cursor=first.next_cursor)
        moments = [memory.recorded_at for memory in first.memories + second.memories]
        assert moments == [at(3), at(2), at(1), at(0)]
        assert second.next_cursor is None

    _play(postgres_url, act)


def test_whatever_changes_between_pages_nothing_that_stays_is_skipped_or_doubled(
    postgres_url: str,
) -> None:
    """Between any two pages memories are added, superseded and withdrawn, seen ones and others."""

    async def act(tables: Stored, memories: Memories) -> None:
        chance = random.Random(11)
        subject = uuid4()
        held = [
            await tables.add(subject, valid_from=at(-50), recorded_at=at(chance.randrange(6)))
            for _ in range(30)
        ]
        gone: set[UUID] = set()
        seen: list[UUID] = []
        cursor: str | None = None
        while True:
            page = await memories.list_memories(subject, cursor=cursor, limit=4)
            seen += [memory.memory_id for memory in page.memories]
            cursor = page.next_cursor
            if cursor is None:
                break
            # What the ledger learns while somebody reads is recorded after what they began with.
            await tables.add(subject, recorded_at=at(10))
            closed, wrong = (held.pop(chance.randrange(len(held))) for _ in range(2))
            await tables.close(subject, closed, valid_to=at(-1), recorded_at=at(10))
            await tables.retract(subject, wrong, recorded_at=at(10))
            gone |= {closed.memory_id, wrong.memory_id}
        assert len(seen) == len(set(seen))
        assert set(seen) >= {memory.memory_id for memory in held}
        assert set(seen) <= {memory.memory_id for memory in held} | gone

    _play(postgres_url, act)


def test_a_cursor_continues_its_own_listing_alone(postgres_url: str) -> None:
    async def act(tables: Stored, memories: Memories) -> None:
        subject, other = uuid4(), uuid4()
        for _ in range(3):
            await tables.add(subject)
        cursor = (await memories.list_memories(subject, limit=1)).next_cursor
        assert cursor is not None
        with pytest.raises(InvalidInput, match="cursor: belongs to another listing"):
            await memories.list_memories(subject, cursor=cursor, history=True)
        with pytest.raises(InvalidInput, match="cursor: belongs to another listing"):
            await memories.list_memories(subject, cursor=cursor, as_of=NOON)
        with pytest.raises(InvalidInput, match="cursor: belongs to another listing"):
            await memories.list_memories(other, cursor=cursor)
        for spoilt in ("", "?", cursor[:-1], cursor + "A", "A" * len(cursor), "\u00e9"):
            with pytest.raises(InvalidInput, match="cursor"):
                await memories.list_memories(subject, cursor=spoilt)

    _play(postgres_url, act)


def test_arguments_that_cannot_be_used_are_refused(postgres_url: str) -> None:
    async def act(_tables: Stored, memories: Memories) -> None:
        for limit in (0, 501):
            with pytest.raises(InvalidInput, match="limit"):
                await memories.list_memories(uuid4(), limit=limit)
        with pytest.raises(InvalidInput, match="send one of the two"):
            await memories.list_memories(uuid4(), history=True, as_of=NOON)
        with pytest.raises(InvalidInput, match="names no time zone"):
            await memories.list_memories(uuid4(), as_of=NOON.replace(tzinfo=None))

    _play(postgres_url, act)


def test_of_a_user_nobody_has_heard_of_there_is_nothing(postgres_url: str) -> None:
    async def act(_tables: Stored, memories: Memories) -> None:
        page = await memories.list_memories(None, history=True)
        assert (page.memories, page.next_cursor) == ((), None)

    _play(postgres_url, act)
