"""The stores are found at an address of key=value pairs as at a URL."""

from __future__ import annotations

import asyncio
from pathlib import Path

from psycopg.conninfo import conninfo_to_dict, make_conninfo

from projections.read_model import open_read_model
from schemas.database import ensure_database
from schemas.keyring import Keyring


def test_a_keyring_opens_at_an_address_of_pairs(keyring_url: str, tmp_path: Path) -> None:
    address = make_conninfo("", **conninfo_to_dict(keyring_url))
    assert "://" not in address

    async def act() -> None:
        assert not await ensure_database(address)
        keyring = await Keyring.open(address, tmp_path / "keys", migrate=True)
        await keyring.ensure_tenant("acme")
        users = await keyring.subjects_for("acme", ["u"], create=True)
        await keyring.close()

        again = await Keyring.open(keyring_url, tmp_path / "keys")
        assert await again.subjects_for("acme", ["u"], create=False) == users
        await again.close()

    asyncio.run(act())


def test_a_read_model_opens_at_an_address_of_pairs(postgres_url: str) -> None:
    async def act() -> None:
        read_model = await open_read_model(
            make_conninfo("", **conninfo_to_dict(postgres_url)),
            generation="g1",
            embedder="e",
            dimension=8,
            migrate=True,
        )
        await read_model.ping()
        assert "password" not in repr(read_model)
        await read_model.close()

    asyncio.run(act())
