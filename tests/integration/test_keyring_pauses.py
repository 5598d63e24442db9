"""Who has paused memory: known to every process after a lease, kept until it is resumed."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from pathlib import Path

import pytest

from schemas.database import migrate
from schemas.keyring import Keyring
from tests.support.keyrings import (
    TENANT,
    KeyringSite,
    ManualClock,
    counting_statements,
    one_user,
)

LEASE_S = 0.02
"""Long enough to be a lease, short enough to be waited for."""


@pytest.fixture
def site(keyring_url: str, tmp_path: Path) -> KeyringSite:
    return KeyringSite(url=keyring_url, keys=tmp_path / "keys")


async def _paused(keyring: Keyring, user: str = "ann") -> bool:
    return (await one_user(keyring, user)).paused


def test_is_known_where_it_was_asked_for_at_once_and_elsewhere_after_a_lease(
    site: KeyringSite,
) -> None:
    async def scenario() -> None:
        clock = ManualClock()
        async with (
            site.open(lease_seconds=LEASE_S) as one,
            site.open(lease_seconds=LEASE_S, clock=clock) as other,
        ):
            assert not await _paused(one)
            assert not await _paused(other)
            assert not await _paused(other, "bob")
            answered = await one.set_paused(TENANT, "ann", paused=True)
            assert answered.paused
            assert answered.since is not None
            assert await _paused(one)
            assert not await _paused(other)  # within the lease, and no longer
            clock.now += LEASE_S
            with counting_statements() as statements:
                assert await _paused(other)
                assert not await _paused(other, "bob")
            # The feed tells who changed, so bob is served from memory.
            assert statements == ["select_feed", "select_users"]
            assert await other.pause(TENANT, "ann") == answered
            state = (await other.keys([(await one_user(other)).subject])).popitem()[1]
            assert getattr(state, "paused", None) is True
            resumed = await other.set_paused(TENANT, "ann", paused=False)
            assert (resumed.paused, resumed.since) == (False, None)
            assert not await _paused(other)
            assert (await one.pause(TENANT, "ann")) == resumed

    asyncio.run(scenario())


def test_is_answered_only_after_a_lease_so_that_it_holds_in_every_process(
    site: KeyringSite,
) -> None:
    """No process that read the feed before the change serves from it after the answer."""

    async def scenario() -> None:
        lease_s = 0.2
        async with site.open(lease_seconds=lease_s) as one, site.open(lease_seconds=lease_s) as two:
            for paused in (True, True, False):
                await _paused(two)  # its lease begins as late as it can
                await one.set_paused(TENANT, "ann", paused=paused)
                assert await _paused(two) is paused

    asyncio.run(scenario())


def test_again_changes_nothing_and_outlives_the_process(site: KeyringSite) -> None:
    async def scenario() -> None:
        async with site.open(lease_seconds=0.0) as keyring:
            first = await keyring.set_paused(TENANT, "ann", paused=True)
            head = (await keyring._store.feed(0)).head
            assert await keyring.set_paused(TENANT, "ann", paused=True) == first
            assert (await keyring._store.feed(0)).head == head
        async with site.open(lease_seconds=0.0) as keyring:
            assert await keyring.pause(TENANT, "ann") == first
            assert await _paused(keyring)

    asyncio.run(scenario())


def test_of_a_user_never_heard_of_makes_a_subject_and_resuming_makes_none(
    site: KeyringSite,
) -> None:
    async def scenario() -> None:
        async with site.open(lease_seconds=0.0) as keyring:
            assert not (await keyring.set_paused(TENANT, "ann", paused=False)).paused
            assert not (await keyring.pause(TENANT, "ann")).paused
            assert await keyring.subjects_for(TENANT, ["ann"], create=False) == {}
            assert (await keyring.set_paused(TENANT, "ann", paused=True)).paused
            assert await _paused(keyring)
            await one_user(keyring, "bob")
            before = (await keyring._store.feed(0)).head
            await keyring.set_paused(TENANT, "bob", paused=False)
            assert (await keyring._store.feed(0)).head == before  # nothing to resume

    asyncio.run(scenario())


def test_is_one_tenants_users_alone(site: KeyringSite) -> None:
    async def scenario() -> None:
        async with site.open(lease_seconds=0.0) as keyring:
            await keyring.ensure_tenant("acme-corp")
            await keyring.set_paused(TENANT, "ann", paused=True)
            for tenant, user in (("acme-corp", "ann"), (TENANT, "Ann"), (TENANT, "ann ")):
                assert not (await keyring.pause(tenant, user)).paused
                found = await keyring.subjects_for(tenant, [user], create=True)
                assert not found[user].paused

    asyncio.run(scenario())


def test_ends_with_an_erasure_and_the_feed_never_goes_back(site: KeyringSite) -> None:
    async def scenario() -> None:
        async with site.open(lease_seconds=0.0) as keyring:
            await keyring.set_paused(TENANT, "ann", paused=True)
            before = await one_user(keyring)
            seq = await keyring.destroy(before.subject)
            assert seq == 2
            assert (await keyring._store.feed(0)).head == 2
            after = await one_user(keyring)
            assert (after.subject != before.subject, after.paused) == (True, False)
            # Of who was erased nothing is paused, and nothing tells that it was.
            await keyring._store.set_pause(before.subject, paused=True)
            assert (await keyring._store.feed(0)).head == 2

    asyncio.run(scenario())


def test_pauses_and_destructions_that_race_are_missed_by_no_reader(site: KeyringSite) -> None:
    async def scenario() -> None:
        users = [f"user-{number}" for number in range(20)]
        async with site.open(lease_seconds=0.0) as one, site.open(lease_seconds=0.0) as two:
            made = await one.subjects_for(TENANT, users, create=True)
            await two.subjects_for(TENANT, users, create=False)
            subjects = {user: keys.subject for user, keys in made.items()}

            async def change(number: int, user: str) -> None:
                store = (one, two)[number % 2]._store
                await store.set_pause(subjects[user], paused=True)
                if number % 3 == 0:
                    await store.destroy(subjects[user], None)
                elif number % 3 == 1:
                    await store.set_pause(subjects[user], paused=False)

            changing = asyncio.gather(*(change(number, user) for number, user in enumerate(users)))
            seen: dict[str, int] = {}
            last = 0
            while not changing.done():
                feed = await one._store.feed(last)
                assert feed.head >= last
                assert [entry.seq for entry in feed.entries] == sorted(
                    {entry.seq for entry in feed.entries}
                )
                assert all(entry.seq > last for entry in feed.entries)
                seen |= {str(entry.subject): entry.seq for entry in feed.entries}
                last = feed.head
            await changing
            seen |= {str(it.subject): it.seq for it in (await one._store.feed(last)).entries}
            whole = {str(it.subject): it.seq for it in (await one._store.feed(0)).entries}
            assert seen == whole
            assert set(seen) == {str(subject) for subject in subjects.values()}
            found = await two.subjects_for(TENANT, users, create=False)
            for number, user in enumerate(users):
                assert (user in found) is (number % 3 != 0)
                if user in found:
                    assert found[user].paused is (number % 3 == 2)

    asyncio.run(scenario())


def test_a_keyring_that_had_no_pauses_gains_them_and_keeps_its_users(
    site: KeyringSite, tmp_path: Path
) -> None:
    async def scenario() -> None:
        before = tmp_path / "migrations"
        before.mkdir()
        first = files("schemas.keyring").joinpath("migrations", "0001_keyring.sql")
        (before / "0001_keyring.sql").write_text(first.read_text())
        assert await migrate(site.url, before, schema="keyring") == [1]
        with site.connection() as connection:
            connection.execute(
                "INSERT INTO destructions (seq, subject, kind)"
                " VALUES (7, gen_random_uuid(), 'subject')"
            )
        async with site.open(lease_seconds=0.0) as keyring:
            ann = await one_user(keyring)
            assert not ann.paused
            assert (await keyring.set_paused(TENANT, "ann", paused=True)).paused
            assert [it.kind for it in (await keyring._store.feed(0)).entries] == [
                "subject",
                "pause",
            ]

    asyncio.run(scenario())
