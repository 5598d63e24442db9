"""The keyring on Postgres and the ones that tests use in its place, against the same contracts."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from schemas.keyring import SubjectKeys
from tests.contracts.keyrings import (
    DirectorySite,
    KeySite,
    KeySourceContract,
    SubjectDirectoryContract,
)
from tests.support.keyrings import TENANT, KeyringSite
from tests.support.memory_keyring import MemoryKeyring
from tests.support.turns import new_keys
from tests.unit.producers.fakes import InMemoryKeyring


@pytest.fixture
def site(keyring_url: str, tmp_path: Path) -> KeyringSite:
    """Where a keyring on Postgres lies."""
    return KeyringSite(url=keyring_url, keys=tmp_path / "keys")


class TestKeySourceOnPostgres(KeySourceContract):
    @pytest.fixture
    def opened(self, site: KeyringSite) -> Callable[[], AbstractAsyncContextManager[KeySite]]:
        return lambda: _keys_on_postgres(site)


class TestKeySourceInMemory(KeySourceContract):
    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[KeySite]]:
        return _keys_in_memory


class TestDirectoryOnPostgres(SubjectDirectoryContract):
    @pytest.fixture
    def opened(self, site: KeyringSite) -> Callable[[], AbstractAsyncContextManager[DirectorySite]]:
        return lambda: _directory_on_postgres(site)


class TestDirectoryInMemory(SubjectDirectoryContract):
    @pytest.fixture
    def opened(self) -> Callable[[], AbstractAsyncContextManager[DirectorySite]]:
        return _directory_in_memory


@asynccontextmanager
async def _keys_on_postgres(site: KeyringSite) -> AsyncIterator[KeySite]:
    # A lease of no length: what another hand does to the tables is seen at once.
    async with site.open(lease_seconds=0.0) as keyring:

        async def new() -> SubjectKeys:
            user = uuid4().hex
            return (await keyring.subjects_for(TENANT, [user], create=True))[user]

        async def erase(subject: UUID) -> None:
            await keyring.destroy(subject)

        async def lose(subject: UUID) -> None:
            with site.connection() as connection:
                deleted = connection.execute("DELETE FROM subjects WHERE subject = %s", (subject,))
                assert deleted.rowcount == 1

        yield KeySite(keyring=keyring, new=new, erase=erase, lose=lose)


@asynccontextmanager
async def _keys_in_memory() -> AsyncIterator[KeySite]:
    keyring = MemoryKeyring()

    async def new() -> SubjectKeys:
        return keyring.put(new_keys())

    async def erase(subject: UUID) -> None:
        keyring.erase(subject)

    async def lose(subject: UUID) -> None:
        keyring.lose(subject)

    yield KeySite(keyring=keyring, new=new, erase=erase, lose=lose)


@asynccontextmanager
async def _directory_on_postgres(site: KeyringSite) -> AsyncIterator[DirectorySite]:
    async with site.open() as keyring, site.open() as other:
        await keyring.ensure_tenant("acme-corp")

        async def erase(tenant: str, user: str) -> None:
            found = await other.subjects_for(tenant, [user], create=False)
            await other.destroy(found[user].subject)

        yield DirectorySite(directory=keyring, erase=erase)


@asynccontextmanager
async def _directory_in_memory() -> AsyncIterator[DirectorySite]:
    keyring = InMemoryKeyring()

    async def erase(tenant: str, user: str) -> None:
        keyring.erase(tenant, user)

    yield DirectorySite(directory=keyring, erase=erase)
