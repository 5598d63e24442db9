"""What is destroyed, what is missing, and who sees it when."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from schemas.errors import (
    KeyMissing,
)
from schemas.keyring import Erased
from tests.support.keyrings import (
    TENANT,
    KeyringSite,
    ManualClock,
    one_user,
    waits_for_lock,
)
from tests.support.waiting import eventually


@pytest.fixture
def site(keyring_url: str, tmp_path: Path) -> KeyringSite:
    return KeyringSite(url=keyring_url, keys=tmp_path / "keys")


class TestDestruction:
    def test_is_seen_by_the_process_that_asked_and_by_others_after_a_lease(
        self, site: KeyringSite
    ) -> None:
        async def scenario() -> None:
            clock = ManualClock()
            async with site.open(clock=clock) as one, site.open(clock=clock) as other:
                ann = await one_user(other)
                bob = await one_user(other, "bob")
                assert (await one.keys([ann.subject]))[ann.subject] == ann
                seq = await one.destroy(ann.subject)
                assert isinstance((await one.keys([ann.subject]))[ann.subject], Erased)
                # Within the lease, and no longer.
                assert (await other.keys([ann.subject]))[ann.subject] == ann
                clock.now += 0.5
                states = await other.keys([ann.subject, bob.subject])
                gone = states[ann.subject]
                assert isinstance(gone, Erased)
                assert (gone.subject, gone.seq) == (ann.subject, seq)
                assert states[bob.subject] == bob
                assert await other.subjects_for(TENANT, ["ann", "bob"], create=False) == {
                    "bob": bob
                }

        asyncio.run(scenario())

    def test_is_seen_at_once_by_who_asks_afresh(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as one, site.open(clock=ManualClock()) as other:
                ann = await one_user(other)
                bob = await one_user(other, "bob")
                assert await other.erased_among([ann.subject, bob.subject]) == set()
                await one.destroy(ann.subject)
                assert await other.erased_among([ann.subject, bob.subject]) == {ann.subject}
                fresh = await other.fresh_keys([ann.subject, bob.subject])
                assert isinstance(fresh[ann.subject], Erased)
                assert fresh[bob.subject] == bob
                assert await other.erased_among([]) == set()
                assert await other.fresh_keys([]) == {}

        asyncio.run(scenario())

    def test_gives_a_user_who_comes_back_a_new_subject(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                before = await one_user(keyring)
                await keyring.destroy(before.subject)
            async with site.open() as keyring:
                after = await one_user(keyring)
                assert after.subject != before.subject
                assert after.id_secret != before.id_secret
                assert await keyring.user_ids([before.subject, after.subject]) == {
                    after.subject: "ann"
                }

        asyncio.run(scenario())

    def test_again_changes_nothing(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                numbers = await asyncio.gather(*(keyring.destroy(ann.subject) for _ in range(5)))
                assert set(numbers) == {1}
                assert await keyring.destroy((await one_user(keyring, "bob")).subject) == 2

        asyncio.run(scenario())

    def test_leaves_no_key_no_index_and_no_user_id(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                await keyring.destroy(ann.subject, control_position=17)
            with site.connection() as connection:
                row = connection.execute(
                    "SELECT wrapped, user_index, user_sealed, control_position"
                    " FROM subjects JOIN destructions USING (subject) WHERE subject = %s",
                    (ann.subject,),
                ).fetchone()
            assert row == (None, None, None, 17)

        asyncio.run(scenario())

    def test_of_a_subject_the_keyring_does_not_have_is_recorded(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            later_than_the_backup = uuid4()
            async with site.open() as keyring:
                with pytest.raises(KeyMissing):
                    await keyring.keys([later_than_the_backup])
                await keyring.destroy(later_than_the_backup)
                states = await keyring.keys([later_than_the_backup])
                assert isinstance(states[later_than_the_backup], Erased)

        asyncio.run(scenario())

    def test_is_numbered_in_the_order_of_commit(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                with site.connection() as slow:
                    # Another process has its number and has not committed.
                    with slow.transaction():
                        slow.execute(
                            "SELECT pg_advisory_xact_lock("
                            "hashtextextended('memledger keyring destructions', 0))"
                        )
                        slow.execute(
                            "INSERT INTO destructions (seq, subject, kind)"
                            " VALUES (1, %s, 'subject')",
                            (uuid4(),),
                        )
                        destroying = asyncio.create_task(keyring.destroy(ann.subject))
                        await eventually(
                            lambda: waits_for_lock(site), what="the destruction to wait"
                        )
                        assert await keyring.erased_among([ann.subject]) == set()
                    assert await destroying == 2

        asyncio.run(scenario())

    def test_leaves_no_gap_in_the_feed_that_readers_could_step_over(
        self, site: KeyringSite
    ) -> None:
        async def scenario() -> None:
            users = [f"user-{number}" for number in range(30)]
            async with site.open() as one, site.open() as other:
                made = await one.subjects_for(TENANT, users, create=True)
                destroying = asyncio.gather(
                    *(
                        (one, other)[number % 2].destroy(keys.subject)
                        for number, keys in enumerate(made.values())
                    )
                )
                seen: list[int] = []
                while len(seen) < len(users):
                    feed = await one._store.feed(seen[-1] if seen else 0)
                    seen += [entry.seq for entry in feed.entries]
                assert seen == list(range(1, 31))
                assert sorted(await destroying) == seen

        asyncio.run(scenario())

    def test_position_applied_moves_forward_only(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                assert await keyring.applied_position() is None
                await keyring.advance_applied(5)
                await keyring.advance_applied(3)
                assert await keyring.applied_position() == 5

        asyncio.run(scenario())


class TestMissingKeys:
    def test_are_an_alarm_and_never_erased(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                lost = uuid4()
                for ask in (keyring.keys, keyring.fresh_keys, keyring.user_ids):
                    with pytest.raises(KeyMissing, match=str(lost)):
                        await ask([ann.subject, lost])
                assert await keyring.erased_among([lost]) == set()

        asyncio.run(scenario())

    def test_stay_an_alarm_where_only_the_row_lost_its_keys(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                with site.connection() as connection:
                    connection.execute(
                        "UPDATE subjects SET wrapped = NULL, user_index = NULL, user_sealed = NULL"
                    )
                with pytest.raises(KeyMissing):
                    await keyring.fresh_keys([ann.subject])

        asyncio.run(scenario())
