"""The keyring's database: what it holds, and what happens without it."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from deploy.embedded import EmbeddedPostgres
from schemas.errors import (
    KeyMissing,
    KeyringUnavailable,
    MigrationError,
)
from schemas.keyring import Keyring, SubjectKeys
from tests.support.keyrings import (
    TENANT,
    KeyringSite,
    ManualClock,
    cut_off,
    end_sessions,
    every_value,
    one_user,
    open_and_close,
)
from tests.support.waiting import eventually


@pytest.fixture
def site(keyring_url: str, tmp_path: Path) -> KeyringSite:
    return KeyringSite(url=keyring_url, keys=tmp_path / "keys")


class TestOutage:
    def test_serves_the_lease_out_and_then_nothing(
        self, site: KeyringSite, postgres: EmbeddedPostgres
    ) -> None:
        async def scenario() -> None:
            clock = ManualClock()
            async with site.open(clock=clock, deadline_seconds=1.0) as keyring:
                token = await keyring.create_api_key(TENANT)
                ann = await one_user(keyring)
                await keyring.authenticate(token)
                with cut_off(postgres, site.url):
                    assert await one_user(keyring) == ann
                    assert (await keyring.keys([ann.subject]))[ann.subject] == ann
                    assert await keyring.authenticate(token) == TENANT
                    clock.now += 0.5
                    with pytest.raises(KeyringUnavailable, match="MEMLEDGER_KEYRING_URL"):
                        await keyring.keys([ann.subject])
                    with pytest.raises(KeyringUnavailable):
                        await keyring.subjects_for(TENANT, ["ann"], create=False)
                    with pytest.raises(KeyringUnavailable):
                        await keyring.authenticate(token)
                    with pytest.raises(KeyringUnavailable):
                        await keyring.erased_among([ann.subject])
                    with pytest.raises(KeyringUnavailable):
                        await keyring.destroy(ann.subject)

                async def back() -> dict[str, SubjectKeys] | None:
                    try:
                        return await keyring.subjects_for(TENANT, ["ann"], create=False)
                    except KeyringUnavailable:
                        return None

                assert await eventually(back, what="the keyring to be back") == {"ann": ann}
                assert await keyring.authenticate(token) == TENANT

        asyncio.run(scenario())

    def test_that_ended_is_not_felt_by_the_next_read(
        self, site: KeyringSite, postgres: EmbeddedPostgres
    ) -> None:
        async def scenario() -> None:
            async with site.open(pool_size_min=3) as keyring:
                ann = await one_user(keyring)
                with psycopg.connect(postgres.superuser_url(), autocommit=True) as connection:
                    end_sessions(connection, str(conninfo_to_dict(site.url)["dbname"]))
                fresh = await asyncio.gather(*(keyring.fresh_keys([ann.subject]) for _ in range(6)))
                assert fresh == [{ann.subject: ann}] * 6

        asyncio.run(scenario())

    def test_at_the_start_is_told_as_such(self, tmp_path: Path) -> None:
        async def scenario() -> None:
            nowhere = f"host={tmp_path} user=nobody dbname=none"
            with pytest.raises(KeyringUnavailable, match="MEMLEDGER_KEYRING_URL"):
                await Keyring.open(nowhere, tmp_path / "keys", migrate=True)
            with pytest.raises(KeyringUnavailable):
                await Keyring.open(nowhere, tmp_path / "keys", deadline_seconds=0.2)
            assert not (tmp_path / "keys").exists()

        asyncio.run(scenario())

    def test_that_hangs_is_cut_short_by_the_deadline(self, site: KeyringSite) -> None:
        async def scenario() -> None:
            async with site.open(deadline_seconds=0.5) as keyring:
                ann = await one_user(keyring)
                with site.connection() as blocker, blocker.transaction():
                    blocker.execute("LOCK TABLE subjects IN ACCESS EXCLUSIVE MODE")
                    with pytest.raises(KeyringUnavailable, match="no answer in time"):
                        await keyring.fresh_keys([ann.subject])
                assert await keyring.fresh_keys([ann.subject]) == {ann.subject: ann}

        asyncio.run(scenario())


class TestDatabase:
    def test_holds_no_user_id_and_no_secret_in_the_clear(self, site: KeyringSite) -> None:
        async def scenario() -> list[bytes]:
            async with site.open() as keyring:
                keys = await one_user(keyring, "ann.example@mail.test")
                await keyring.system_subject()
                token = await keyring.create_api_key(TENANT)
                return [
                    b"ann.example",
                    token.split("_")[2].encode(),
                    bytes.fromhex(token.split("_")[2]),
                    keys.id_secret,
                    next(iter(keys.seeds.nodes.values())),
                    (site.keys / "index.key").read_bytes(),
                    (site.keys / "epoch-0001.key").read_bytes(),
                ]

        secrets = asyncio.run(scenario())
        values = list(every_value(site))
        assert TENANT.encode() in values
        for secret in secrets:
            assert not [value for value in values if secret in value]

    def test_and_key_directory_are_made_once_by_processes_that_start_together(
        self, site: KeyringSite
    ) -> None:
        async def scenario() -> None:
            keyrings = await asyncio.gather(
                *(Keyring.open(site.url, site.keys, migrate=True) for _ in range(4))
            )
            await keyrings[0].ensure_tenant(TENANT)
            found = await asyncio.gather(
                *(keyring.subjects_for(TENANT, ["ann"], create=True) for keyring in keyrings)
            )
            assert all(each == found[0] for each in found)
            for keyring in keyrings:
                await keyring.close()

        asyncio.run(scenario())

    def test_without_tables_says_what_to_run(self, site: KeyringSite) -> None:
        with pytest.raises(MigrationError, match="run the migrations"):
            asyncio.run(Keyring.open(site.url, site.keys))

    @pytest.mark.parametrize("migrate", [True, False])
    @pytest.mark.parametrize("name", ["epoch-0001.key", "index.key"])
    def test_without_its_key_directory_is_refused_and_no_key_is_made(
        self, site: KeyringSite, name: str, *, migrate: bool
    ) -> None:
        asyncio.run(open_and_close(site))
        (site.keys / name).unlink()
        with pytest.raises(KeyMissing, match="restore the key directory from its backup"):
            asyncio.run(Keyring.open(site.url, site.keys, migrate=migrate))
        assert not (site.keys / name).exists()

    @pytest.mark.parametrize("name", ["epoch-0001.key", "index.key"])
    def test_with_another_keyrings_key_is_refused(self, site: KeyringSite, name: str) -> None:
        asyncio.run(open_and_close(site))
        (site.keys / name).write_bytes(os.urandom(32))
        with pytest.raises(KeyMissing, match=r"belongs to another keyring|made with"):
            asyncio.run(Keyring.open(site.url, site.keys, migrate=True))

    def test_that_lost_a_bucket_is_refused(self, site: KeyringSite) -> None:
        asyncio.run(open_and_close(site))
        with site.connection() as connection:
            connection.execute("DELETE FROM buckets WHERE bucket_id = 17")
        with pytest.raises(KeyMissing, match="1023 of 1024 buckets"):
            asyncio.run(Keyring.open(site.url, site.keys, migrate=True))
