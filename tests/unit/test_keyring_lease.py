from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine
from typing import Any
from uuid import UUID

import pytest

from schemas.errors import KeyringUnavailable
from schemas.keyring.lease import LeasedCache
from schemas.keyring.records import Erased, Feed, FeedEntry, FeedKind, SubjectKeys
from schemas.tree import SeedSet


class ManualClock:
    """Monotonic seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class FakeFeed:
    """A feed of destructions in memory, that can be cut off or held up."""

    def __init__(self) -> None:
        self.entries: list[FeedEntry] = []
        self.reads = 0
        self.available = True
        self.gate: asyncio.Event | None = None
        self.on_read: Callable[[], None] | None = None

    def destroy(self, subject: UUID, kind: FeedKind = "subject") -> None:
        seq = len(self.entries) + 1
        self.entries.append(FeedEntry(seq=seq, subject=subject, kind=kind))

    async def read(self, after: int) -> Feed:
        self.reads += 1
        if self.on_read is not None:
            self.on_read()
        if self.gate is not None:
            await self.gate.wait()
        if not self.available:
            raise KeyringUnavailable("cut off")
        later = tuple(entry for entry in self.entries if entry.seq > after)
        return Feed(head=len(self.entries), entries=later)


class Bench:
    """A cache over a fake feed and a clock that stands still."""

    def __init__(self, capacity: int = 100) -> None:
        self.clock = ManualClock()
        self.feed = FakeFeed()
        self.cache = LeasedCache(
            self.feed.read, lease_seconds=0.5, capacity=capacity, clock=self.clock
        )

    def serve(self, subject: UUID) -> SubjectKeys | Erased | None:
        assert self.cache.valid, "served without a lease"
        return self.cache.subject(subject)


def keys_of(number: int) -> SubjectKeys:
    return SubjectKeys(
        subject=UUID(int=number),
        tenant="acme",
        id_secret=bytes(32),
        seeds=SeedSet.root(bytes(16)),
    )


def erased(number: int) -> Erased:
    return Erased(subject=UUID(int=number), seq=1, destroyed_at=dt.datetime.now(dt.UTC))


def run(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(scenario())


def test_nothing_is_valid_before_the_feed_was_read() -> None:
    bench = Bench()
    assert not bench.cache.valid
    bench.cache.put(keys_of(1), head=0)
    assert len(bench.cache) == 0


def test_lease_ends_half_a_second_after_the_reading_began_not_after_it_ended() -> None:
    async def scenario() -> None:
        bench = Bench()

        def slow() -> None:
            bench.clock.now += 0.3

        bench.feed.on_read = slow
        assert await bench.cache.hold()
        bench.clock.now += 0.19
        assert bench.cache.valid
        bench.clock.now += 0.02
        assert not bench.cache.valid

    run(scenario)


def test_reading_that_took_longer_than_a_lease_gives_none() -> None:
    async def scenario() -> None:
        bench = Bench()

        def too_slow() -> None:
            bench.clock.now += 0.6

        bench.feed.on_read = too_slow
        assert not await bench.cache.hold()

    run(scenario)


def test_valid_lease_reads_nothing() -> None:
    async def scenario() -> None:
        bench = Bench()
        for _ in range(10):
            await bench.cache.hold()
        assert bench.feed.reads == 1
        bench.clock.now += 0.5
        await bench.cache.hold()
        assert bench.feed.reads == 2

    run(scenario)


@pytest.mark.parametrize("kind", ["subject", "seeds", "pause"])
def test_an_entry_of_the_feed_evicts_its_subject_and_no_other(kind: FeedKind) -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0, user=("acme", "ann"))
        bench.cache.put(keys_of(2), head=0, user=("acme", "bob"))
        bench.feed.destroy(UUID(int=1), kind)
        bench.clock.now += 0.5
        await bench.cache.hold()
        assert bench.serve(UUID(int=1)) is None
        assert bench.cache.user(("acme", "ann")) is None
        assert bench.serve(UUID(int=2)) == keys_of(2)
        assert bench.cache.user(("acme", "bob")) == keys_of(2)

    run(scenario)


def test_failed_reading_serves_nothing_and_the_next_one_serves_again() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0)
        bench.clock.now += 0.5
        bench.feed.available = False
        with pytest.raises(KeyringUnavailable):
            await bench.cache.hold()
        assert not bench.cache.valid
        bench.feed.available = True
        assert await bench.cache.hold()
        assert bench.serve(UUID(int=1)) == keys_of(1)

    run(scenario)


def test_destructions_during_an_outage_are_seen_when_it_ends() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0)
        bench.clock.now += 0.5
        bench.feed.available = False
        with pytest.raises(KeyringUnavailable):
            await bench.cache.hold()
        bench.feed.destroy(UUID(int=1))
        bench.feed.available = True
        await bench.cache.hold()
        assert bench.serve(UUID(int=1)) is None

    run(scenario)


def test_many_callers_share_one_reading() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.feed.gate = asyncio.Event()
        waiting = [asyncio.create_task(bench.cache.hold()) for _ in range(50)]
        await asyncio.sleep(0)
        bench.feed.gate.set()
        assert all(await asyncio.gather(*waiting))
        assert bench.feed.reads == 1

    run(scenario)


def test_caller_that_gives_up_does_not_fail_the_others() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.feed.gate = asyncio.Event()
        first, second = (asyncio.create_task(bench.cache.hold()) for _ in range(2))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        bench.feed.gate.set()
        assert await second
        with pytest.raises(asyncio.CancelledError):
            await first

    run(scenario)


def test_keys_read_before_a_destruction_that_the_feed_has_passed_are_not_remembered() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        # A statement reads the subject, the subject is destroyed, the feed is read, and only then
        # does the statement's answer arrive.
        head_of_statement = len(bench.feed.entries)
        bench.feed.destroy(UUID(int=1))
        bench.clock.now += 0.5
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=head_of_statement)
        assert bench.serve(UUID(int=1)) is None

    run(scenario)


def test_keys_read_after_the_feed_are_evicted_by_what_it_brings_next() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.feed.destroy(UUID(int=2))
        bench.cache.put(keys_of(1), head=1)
        bench.feed.destroy(UUID(int=1))
        bench.clock.now += 0.5
        await bench.cache.hold()
        assert bench.serve(UUID(int=1)) is None

    run(scenario)


def test_erased_state_takes_the_users_place_and_forgets_the_user() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0, user=("acme", "ann"))
        state = erased(1)
        bench.cache.put(state, head=1)
        assert bench.serve(UUID(int=1)) == state
        assert bench.cache.user(("acme", "ann")) is None

    run(scenario)


def test_user_who_came_back_keeps_the_new_subject_when_the_old_one_is_evicted() -> None:
    async def scenario() -> None:
        bench = Bench()
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0, user=("acme", "ann"))
        bench.feed.destroy(UUID(int=1))
        bench.cache.put(keys_of(2), head=1, user=("acme", "ann"))
        bench.clock.now += 0.5
        await bench.cache.hold()
        assert bench.cache.user(("acme", "ann")) == keys_of(2)

    run(scenario)


def test_least_recently_used_subject_makes_room() -> None:
    async def scenario() -> None:
        bench = Bench(capacity=2)
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=0, user=("acme", "ann"))
        bench.cache.put(keys_of(2), head=0)
        assert bench.cache.user(("acme", "ann")) is not None
        bench.cache.put(keys_of(3), head=0)
        assert len(bench.cache) == 2
        assert bench.serve(UUID(int=2)) is None
        assert bench.cache.user(("acme", "ann")) == keys_of(1)
        bench.cache.put(keys_of(4), head=0)
        bench.cache.put(keys_of(5), head=0)
        assert bench.cache.user(("acme", "ann")) is None

    run(scenario)


def test_database_restored_to_an_earlier_state_empties_the_cache() -> None:
    async def scenario() -> None:
        bench = Bench()
        bench.feed.destroy(UUID(int=9))
        bench.feed.destroy(UUID(int=8))
        await bench.cache.hold()
        bench.cache.put(keys_of(1), head=2)
        bench.feed.entries.pop()
        bench.clock.now += 0.5
        await bench.cache.hold()
        assert bench.serve(UUID(int=1)) is None

    run(scenario)
