"""What every keyring owes to who seals and to who opens; suites to inherit from."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from uuid import UUID, uuid4

import pytest

from processors.ports import KeySource
from producers.ports import SubjectDirectory
from schemas.errors import KeyMissing
from schemas.keyring import Erased, SubjectKeys
from schemas.tree import LEAF_KEY_BYTES

ADDRESS = 0x5021_0123_4567_89AB


@dataclass(frozen=True, kw_only=True)
class KeySite:
    """A keyring as workers see it.

    Attributes:
        keyring: the keyring under test.
        new: makes a subject and returns its keys.
        erase: destroys a subject's keys and records it.
        lose: makes a subject's keys vanish without a record.
    """

    keyring: KeySource
    new: Callable[[], Awaitable[SubjectKeys]]
    erase: Callable[[UUID], Awaitable[None]]
    lose: Callable[[UUID], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class DirectorySite:
    """A keyring as producers see it.

    Attributes:
        directory: the keyring under test; it has the tenants ``acme`` and ``acme-corp``.
        erase: destroys a user's subject and records it, unseen by what is in memory.
    """

    directory: SubjectDirectory
    erase: Callable[[str, str], Awaitable[None]]

    async def subject(self, tenant: str, user: str) -> UUID:
        """Return a user's subject, made on first sight."""
        return (await self.directory.subjects_for(tenant, [user], create=True))[user].subject


PlayKeys = Callable[[Callable[[KeySite], Awaitable[None]]], None]
PlayDirectory = Callable[[Callable[[DirectorySite], Awaitable[None]]], None]


class KeySourceContract:
    """Holds for every keyring that workers open records with."""

    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[KeySite]]:
        """Opens a site inside a running event loop."""
        raise NotImplementedError

    @pytest.fixture
    def play(self, opened: Callable[[], AbstractAsyncContextManager[KeySite]]) -> PlayKeys:
        """Runs a scene on a keyring without users."""

        def run(act: Callable[[KeySite], Awaitable[None]]) -> None:
            async def scene() -> None:
                async with opened() as site:
                    await act(site)

            asyncio.run(scene())

        return run

    def test_gives_each_subject_its_own_keys_again_and_again(self, play: PlayKeys) -> None:
        async def act(site: KeySite) -> None:
            made = [await site.new() for _ in range(3)]
            subjects = [keys.subject for keys in made]

            for _ in range(2):
                found = await site.keyring.keys(subjects)
                assert set(found) == set(subjects)
                for keys in made:
                    state = found[keys.subject]
                    assert isinstance(state, SubjectKeys)
                    assert state.leaf_key(ADDRESS) == keys.leaf_key(ADDRESS)
                    assert state.id_secret == keys.id_secret
            leaves = {keys.leaf_key(ADDRESS) for keys in made}
            assert len(leaves) == 3
            assert {len(leaf) for leaf in leaves} == {LEAF_KEY_BYTES}

        play(act)

    def test_says_erased_where_a_destruction_is_recorded(self, play: PlayKeys) -> None:
        async def act(site: KeySite) -> None:
            gone, left = await site.new(), await site.new()
            await site.erase(gone.subject)

            found = await site.keyring.keys([gone.subject, left.subject])

            assert isinstance(found[gone.subject], Erased)
            assert found[gone.subject].subject == gone.subject
            assert isinstance(found[left.subject], SubjectKeys)

        play(act)

    def test_alarms_where_keys_are_missing_and_never_says_erased(self, play: PlayKeys) -> None:
        async def act(site: KeySite) -> None:
            lost, left = await site.new(), await site.new()
            await site.lose(lost.subject)

            for subjects in ([lost.subject], [left.subject, lost.subject], [uuid4()]):
                with pytest.raises(KeyMissing):
                    await site.keyring.keys(subjects)
            assert left.subject in await site.keyring.keys([left.subject])

        play(act)

    def test_has_one_subject_for_the_system(self, play: PlayKeys) -> None:
        async def act(site: KeySite) -> None:
            user = await site.new()
            first = await site.keyring.system_subject()
            again = await site.keyring.system_subject()

            assert first.subject == again.subject != user.subject
            state = (await site.keyring.keys([first.subject]))[first.subject]
            assert isinstance(state, SubjectKeys)
            assert state.leaf_key(ADDRESS) == first.leaf_key(ADDRESS)

        play(act)

    def test_knows_nothing_of_nobody(self, play: PlayKeys) -> None:
        async def act(site: KeySite) -> None:
            assert dict(await site.keyring.keys([])) == {}

        play(act)


class SubjectDirectoryContract:
    """Holds for every keyring that producers seal turns with."""

    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[DirectorySite]]:
        """Opens a site inside a running event loop."""
        raise NotImplementedError

    @pytest.fixture
    def play(
        self, opened: Callable[[], AbstractAsyncContextManager[DirectorySite]]
    ) -> PlayDirectory:
        """Runs a scene on a keyring without users."""

        def run(act: Callable[[DirectorySite], Awaitable[None]]) -> None:
            async def scene() -> None:
                async with opened() as site:
                    await act(site)

            asyncio.run(scene())

        return run

    def test_makes_one_subject_for_a_user_and_keeps_to_it(self, play: PlayDirectory) -> None:
        async def act(site: DirectorySite) -> None:
            users = ["ann", "Ann", "ann ", "a/../ann", "%", "安"]
            made = await site.directory.subjects_for("acme", users, create=True)
            again = await site.directory.subjects_for("acme", users[::-1], create=True)

            assert set(made) == set(users)
            assert len({keys.subject for keys in made.values()}) == len(users)
            for user in users:
                assert again[user].subject == made[user].subject
                assert again[user].id_secret == made[user].id_secret
                assert again[user].leaf_key(ADDRESS) == made[user].leaf_key(ADDRESS)

        play(act)

    def test_makes_nobody_who_is_only_looked_for(self, play: PlayDirectory) -> None:
        async def act(site: DirectorySite) -> None:
            for _ in range(2):
                found = await site.directory.subjects_for("acme", ["ann"], create=False)
                assert dict(found) == {}
            made = await site.subject("acme", "ann")
            found = await site.directory.subjects_for("acme", ["ann", "ben"], create=False)
            assert {user: keys.subject for user, keys in found.items()} == {"ann": made}

        play(act)

    def test_gives_a_subjects_keys_with_its_tenant_until_it_is_erased(
        self, play: PlayDirectory
    ) -> None:
        async def act(site: DirectorySite) -> None:
            subject = await site.subject("acme", "ann")
            state = (await site.directory.keys([subject]))[subject]
            assert isinstance(state, SubjectKeys)
            assert (state.subject, state.tenant) == (subject, "acme")
            await site.erase("acme", "ann")
            await site.directory.fresh_keys([subject])
            assert isinstance((await site.directory.keys([subject]))[subject], Erased)

        play(act)

    def test_keeps_tenants_apart(self, play: PlayDirectory) -> None:
        async def act(site: DirectorySite) -> None:
            subjects = {await site.subject(tenant, "ann") for tenant in ("acme", "acme-corp")}

            assert len(subjects) == 2

        play(act)

    def test_tells_afresh_who_was_erased(self, play: PlayDirectory) -> None:
        async def act(site: DirectorySite) -> None:
            gone, left = await site.subject("acme", "ann"), await site.subject("acme", "ben")
            assert await site.directory.erased_among([gone, left]) == set()
            await site.erase("acme", "ann")

            assert await site.directory.erased_among([gone, left, uuid4()]) == {gone}
            assert await site.directory.erased_among([]) == set()

        play(act)

    def test_gives_who_was_erased_a_new_subject_after_looking_afresh(
        self, play: PlayDirectory
    ) -> None:
        async def act(site: DirectorySite) -> None:
            before, left = await site.subject("acme", "ann"), await site.subject("acme", "ben")
            await site.erase("acme", "ann")

            found = await site.directory.fresh_keys([before])

            assert isinstance(found[before], Erased)
            after = await site.subject("acme", "ann")
            assert after != before
            assert await site.directory.erased_among([after]) == set()
            assert await site.subject("acme", "ben") == left

        play(act)
