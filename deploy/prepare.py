"""Making what a pipeline needs before its processes start: databases, topics, keys, a tenant."""

from __future__ import annotations

import asyncio
from typing import Final

import psycopg

from deploy.addresses import Addresses
from deploy.embedded.directories import write_private
from deploy.home import Home
from deploy.wiring import embedder_of
from processors.extractors.loading import make_extractor
from projections.read_model import open_read_model
from schemas.database import ensure_database
from schemas.errors import InvalidApiKey, ReadModelUnavailable
from schemas.keyring import Keyring
from schemas.log.admin import ensure_topics
from schemas.queries import load_queries
from schemas.settings import DEFAULT_TENANT, Settings
from schemas.topics import ledger_topics

_QUERIES: Final = load_queries("deploy", "sql/trial.sql")


def holds_read_models(database_url: str) -> bool:
    """Return whether anything was projected into a database already.

    Args:
        database_url: the read model's database.

    Raises:
        ReadModelUnavailable: Postgres refused.
    """
    try:
        with psycopg.connect(database_url, autocommit=True) as connection:
            row = connection.execute(_QUERIES["holds_read_models"]).fetchone()
    except psycopg.Error as error:
        raise ReadModelUnavailable(
            f"whether there is a read model already could not be found out: {error}"
        ) from error
    return row is not None and bool(row[0])


def drop_read_models(database_url: str) -> None:
    """Drop what was projected from a log that is gone; the keyring stays.

    Args:
        database_url: the embedded read model's database; nobody is connected to it.

    Raises:
        ReadModelUnavailable: Postgres refused.
    """
    try:
        with psycopg.connect(database_url, autocommit=True) as connection:
            connection.execute(_QUERIES["drop_read_models"])
    except psycopg.Error as error:
        raise ReadModelUnavailable(
            f"the read model of a log that is gone could not be dropped: {error}"
        ) from error


def require_usable(settings: Settings) -> None:
    """Refuse what the processes could not be started with, before anything is.

    Raises:
        ConfigurationError: there is no such extractor or embedder, or it cannot be made.
    """
    make_extractor(settings)
    asyncio.run(_require_embedder(settings))


async def _require_embedder(settings: Settings) -> None:
    async with embedder_of(settings):
        pass


async def prepare(settings: Settings, addresses: Addresses, home: Home) -> None:
    """Make what is missing and check what is there; doing it again changes nothing.

    Only settings that :func:`require_usable` has accepted are worth preparing for.

    Raises:
        ConfigurationError: something that is there does not fit these settings.
        LogUnavailable, KeyringUnavailable, ReadModelUnavailable: a store does not answer.
    """
    async with embedder_of(settings) as embedder:
        name, dimension = embedder.name, embedder.dimension
    await ensure_database(addresses.database_url)
    await ensure_database(addresses.keyring_url)
    await ensure_topics(
        addresses.kafka_bootstrap,
        ledger_topics(settings.generation, settings.partitions, recalls_days=settings.recalls_days),
        replication=settings.replication,
    )
    read_model = await open_read_model(
        addresses.database_url,
        generation=settings.generation,
        embedder=name,
        dimension=dimension,
        migrate=True,
    )
    await read_model.close()
    keyring = await Keyring.open(addresses.keyring_url, settings.keys_home, migrate=True)
    try:
        await keyring.system_subject()
        await keyring.ensure_tenant(DEFAULT_TENANT)
        await _ensure_api_key(keyring, home)
    finally:
        await keyring.close()


async def _ensure_api_key(keyring: Keyring, home: Home) -> None:
    if home.api_key_file.exists():
        try:
            await keyring.authenticate(home.api_key_file.read_text().strip())
        except InvalidApiKey:
            # The keyring was made anew, or the key was revoked.
            home.api_key_file.unlink()
        else:
            return
    write_private(home.api_key_file, await keyring.create_api_key(DEFAULT_TENANT) + "\n")
