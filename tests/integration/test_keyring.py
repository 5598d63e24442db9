"""Subjects, their keys and API keys, on a real Postgres."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from schemas.errors import (
    InvalidApiKey,
    InvalidInput,
    KeyMissing,
    UnknownTenant,
)
from schemas.keyring import SubjectKeys
from tests.support.keyrings import (
    TENANT,
    KeyringSite,
    ManualClock,
    counting_statements,
    one_user,
    replace_bucket_keys,
)


@pytest.fixture
def site(keyring_url: str, tmp_path: Path) -> KeyringSite:
    return KeyringSite(url=keyring_url, keys=tmp_path / "keys")


class TestSubjects:
    def test_of_users_are_made_once_and_found_by_every_process(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            users = [f"user-{number}" for number in range(50)]
            async with site.open() as one, site.open() as other:
                made = await one.subjects_for(TENANT, users, create=True)
                assert set(made) == set(users)
                assert await other.subjects_for(TENANT, users, create=True) == made
                assert await other.subjects_for(TENANT, users, create=False) == made
                assert len({keys.subject for keys in made.values()}) == 50
                assert {keys.tenant for keys in made.values()} == {TENANT}
                assert len({keys.leaf_key(7) for keys in made.values()}) == 50

        asyncio.run(scenario())

    def test_survive_a_restart_of_the_process(self, site: KeyringSite) -> None:
        async def made() -> SubjectKeys:
            async with site.open() as keyring:
                return await one_user(keyring)

        assert asyncio.run(made()) == asyncio.run(made())

    def test_of_unknown_users_are_absent_unless_asked_for(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                found = await keyring.subjects_for(TENANT, ["ann", "nobody"], create=False)
                assert found == {"ann": ann}
                assert await keyring.subjects_for(TENANT, [], create=True) == {}

        asyncio.run(scenario())

    def test_differ_for_users_that_only_look_alike(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                users = [
                    "ann",
                    "Ann",
                    "ann ",
                    "é",
                    "e\u0301",
                    "",
                    "nul\0",
                    "a/../b",
                    "%",
                    "x" * 3000,
                ]
                made = await keyring.subjects_for(TENANT, users, create=True)
                assert len({keys.subject for keys in made.values()}) == len(users)
                subjects = {keys.subject: user for user, keys in made.items()}
                assert await keyring.user_ids(list(subjects)) == subjects

        asyncio.run(scenario())

    def test_of_equal_user_ids_differ_between_tenants(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                await keyring.ensure_tenant("acme-corp")
                ours = await one_user(keyring)
                theirs = await keyring.subjects_for("acme-corp", ["ann"], create=True)
                assert theirs["ann"].subject != ours.subject
                assert (await keyring.keys([ours.subject]))[ours.subject] == ours

        asyncio.run(scenario())

    @pytest.mark.parametrize("tenant", ["acm", "acme ", "ACME", "acme%", "", "acme\0"])
    def test_of_an_unknown_tenant_are_an_error(self, site: KeyringSite, tenant: str) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                for create in (True, False):
                    with pytest.raises(UnknownTenant):
                        await keyring.subjects_for(tenant, ["ann"], create=create)

        asyncio.run(scenario())

    def test_of_a_user_id_that_no_encoding_carries_are_an_error(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                with pytest.raises(InvalidInput, match="user_id"):
                    await keyring.subjects_for(TENANT, ["ann", "\ud800"], create=True)

        asyncio.run(scenario())

    def test_are_the_same_for_batches_that_race_in_opposite_orders(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            users = [f"user-{number}" for number in range(60)]
            async with site.open(pool_size_max=4) as one, site.open(pool_size_max=4) as other:
                batches = [users, users[::-1], users[20:], users[40::-1]] * 4
                results = await asyncio.gather(
                    *(
                        (one, other)[number % 2].subjects_for(TENANT, batch, create=True)
                        for number, batch in enumerate(batches)
                    )
                )
                for user in users:
                    assert len({found[user].subject for found in results if user in found}) == 1
                for found, batch in zip(results, batches, strict=True):
                    assert set(found) == set(batch)

        asyncio.run(scenario())

    def test_of_a_batch_are_stored_in_one_order_so_that_batches_cannot_deadlock(
        self, site: KeyringSite
    ) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                users = [f"user-{number}" for number in range(100)]
                await keyring.subjects_for(TENANT, users, create=True)

        asyncio.run(scenario())
        with site.connection() as connection:
            rows = connection.execute("SELECT user_index FROM subjects ORDER BY ctid").fetchall()
        assert len(rows) == 100
        assert rows == sorted(rows)

    def test_take_one_statement_a_batch_and_three_to_make(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            users = [f"user-{number}" for number in range(500)]
            clock = ManualClock()
            async with site.open() as one, site.open(clock=clock) as other:
                await one.subjects_for(TENANT, [], create=False)
                with counting_statements() as names:
                    await one.subjects_for(TENANT, users, create=True)
                assert len(names) <= 3
                await other.subjects_for(TENANT, [], create=False)
                with counting_statements() as names:
                    await other.subjects_for(TENANT, users, create=True)
                assert names == ["select_users"]
                with counting_statements() as names:
                    await other.subjects_for(TENANT, users, create=True)
                assert names == []
                clock.now += 0.5
                with counting_statements() as names:
                    await other.subjects_for(TENANT, users, create=True)
                assert names == ["select_feed"]

        asyncio.run(scenario())

    def test_made_while_their_bucket_gets_a_new_key_are_readable(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                replace_bucket_keys(site)
                made = await keyring.subjects_for(TENANT, ["ann", "bob"], create=True)
                system = await keyring.system_subject()
            async with site.open() as later:
                assert await later.subjects_for(TENANT, ["ann", "bob"], create=False) == made
                assert await later.system_subject() == system

        asyncio.run(scenario())

    def test_are_not_served_from_a_row_that_was_altered(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                ann = await one_user(keyring)
                bob = await one_user(keyring, "bob")
                with site.connection() as connection:
                    connection.execute(
                        "UPDATE subjects s SET wrapped = o.wrapped, bucket_id = o.bucket_id"
                        " FROM subjects o WHERE s.subject = %s AND o.subject = %s",
                        (ann.subject, bob.subject),
                    )
                with pytest.raises(KeyMissing, match="altered"):
                    await keyring.fresh_keys([ann.subject])

        asyncio.run(scenario())


class TestSystemSubject:
    def test_is_one_for_all_processes_that_ask_at_once(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as one, site.open() as other:
                found = await asyncio.gather(
                    *(keyring.system_subject() for keyring in (one, other) * 5)
                )
                assert len({keys.subject for keys in found}) == 1
                assert found[0].tenant is None
                assert await one.user_ids([found[0].subject]) == {}

        asyncio.run(scenario())


class TestApiKeys:
    def test_tell_their_tenant(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                await keyring.ensure_tenant("other")
                ours = await keyring.create_api_key(TENANT)
                theirs = await keyring.create_api_key("other")
                for _ in range(2):
                    assert await keyring.authenticate(ours) == TENANT
                    assert await keyring.authenticate(theirs) == "other"
                more = await keyring.create_api_key(TENANT)
                ids = [token.split("_")[1] for token in (ours, more)]
                assert await keyring.api_key_ids(TENANT) == ids
                await keyring.revoke_api_key(ids[0])
                assert await keyring.api_key_ids(TENANT) == ids[1:]

        asyncio.run(scenario())

    def test_that_are_wrong_in_any_part_are_invalid(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                token = await keyring.create_api_key(TENANT)
                other = await keyring.create_api_key(TENANT)
                _, key_id, secret = token.split("_")
                other_secret = other.split("_")[2]
                for wrong in (
                    f"mlk_{key_id}_{other_secret}",
                    f"mlk_{'0' * 16}_{secret}",
                    "mlk_",
                    "",
                    token + "0",
                ):
                    for _ in range(2):
                        with pytest.raises(InvalidApiKey):
                            await keyring.authenticate(wrong)
                    assert await keyring.authenticate(token) == TENANT

        asyncio.run(scenario())

    def test_that_are_revoked_are_refused_elsewhere_after_a_lease(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            clock = ManualClock()
            async with site.open() as one, site.open(clock=clock) as other:
                token = await one.create_api_key(TENANT)
                assert await one.authenticate(token) == TENANT
                assert await other.authenticate(token) == TENANT
                await one.revoke_api_key(token.split("_")[1])
                with pytest.raises(InvalidApiKey):
                    await one.authenticate(token)
                assert await other.authenticate(token) == TENANT
                clock.now += 0.5
                with pytest.raises(InvalidApiKey):
                    await other.authenticate(token)
                with pytest.raises(InvalidApiKey, match="check the id"):
                    await one.revoke_api_key(token.split("_")[1])

        asyncio.run(scenario())

    def test_of_an_unknown_tenant_are_not_made(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                with pytest.raises(UnknownTenant):
                    await keyring.create_api_key("nobody")

        asyncio.run(scenario())

    @pytest.mark.parametrize("name", ["", "  ", "a\0", "a\nb", "x" * 201])
    def test_need_a_tenant_with_a_name_one_can_read(self, site: KeyringSite, name: str) -> None:
        async def scenario() -> None:
            async with site.open() as keyring:
                with pytest.raises(InvalidInput, match="tenant"):
                    await keyring.ensure_tenant(name)

        asyncio.run(scenario())
