"""The composition root: opens the parts that processes and verbs are made of."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

from deploy.addresses import Addresses
from processors.extractors.loading import make_extractor
from projections.embedders import make_embedder
from projections.embedders.checks import CheckedEmbedder
from projections.ledger import PostgresLedger
from projections.read_model import ReadModel, open_read_model
from schemas.errors import ConfigurationError
from schemas.keyring import Keyring
from schemas.log.admin import partition_count
from schemas.log.producer import LogProducer
from schemas.ports import Embedder, Extractor
from schemas.settings import Settings
from schemas.topics import FILES, RECALLS, TURNS


@contextlib.asynccontextmanager
async def embedder_of(settings: Settings, *, warm: bool = False) -> AsyncIterator[CheckedEmbedder]:
    """Make the embedder and release what it holds on leaving.

    Args:
        settings: which one.
        warm: load it now instead of at the first text.

    Raises:
        ConfigurationError: it cannot be made, or not be loaded.
    """
    embedder = make_embedder(settings)
    try:
        if warm:
            await embedder.warm_up()
        yield embedder
    finally:
        await embedder.aclose()


@contextlib.asynccontextmanager
async def extractor_of(settings: Settings) -> AsyncIterator[Extractor]:
    """Make the extractor and release what it holds on leaving.

    Raises:
        ConfigurationError: it cannot be made.
    """
    extractor = make_extractor(settings)
    try:
        yield extractor
    finally:
        close = getattr(extractor, "aclose", None)
        if close is not None:
            await close()


def problem_of(extractor: Extractor) -> str | None:
    """Return why an extractor cannot be asked now, where it tells, or ``None``."""
    problem: str | None = getattr(extractor, "problem", None)
    return problem


async def check_topics(settings: Settings, addresses: Addresses) -> None:
    """Refuse to work with another number of partitions than the ledger was made with.

    It decides in which partition a subject's records stand: with another number, half of them
    would be appended where no reader takes them for the subject's.

    Raises:
        ConfigurationError: the number differs, or the topics do not exist.
        LogUnavailable: the broker does not answer.
    """
    for topic in (TURNS, FILES, RECALLS):
        found = await asyncio.to_thread(partition_count, addresses.kafka_bootstrap, topic)
        if found is None:
            raise ConfigurationError(f"the topic {topic} does not exist: start with `memledger up`")
        if found != settings.partitions:
            raise ConfigurationError(
                f"the topic {topic} has {found} partitions, MEMLEDGER_PARTITIONS is "
                f"{settings.partitions}: set it to {found}"
            )


@contextlib.asynccontextmanager
async def keyring_of(
    settings: Settings, addresses: Addresses, *, pool_size_max: int = 4
) -> AsyncIterator[Keyring]:
    """Open the keyring and close it on leaving."""
    keyring = await Keyring.open(
        addresses.keyring_url, settings.keys_home, pool_size_max=pool_size_max
    )
    try:
        yield keyring
    finally:
        await keyring.close()


@contextlib.asynccontextmanager
async def read_model_of(
    settings: Settings,
    addresses: Addresses,
    embedder: Embedder,
    *,
    name: str,
    pool_size_max: int = 4,
    migrate: bool = False,
) -> AsyncIterator[ReadModel]:
    """Open the read model of the settings' generation and close it on leaving.

    With ``migrate`` its tables are made where they are missing: for the processes that keep it.

    Raises:
        ConfigurationError: it has no tables, and they are not to be made.
        EmbedderMismatch: it was built with another embedder.
    """
    read_model = await open_read_model(
        addresses.database_url,
        generation=settings.generation,
        embedder=embedder.name,
        dimension=embedder.dimension,
        max_size=pool_size_max,
        application_name=f"memledger-{name}",
        migrate=migrate,
    )
    try:
        yield read_model
    finally:
        await read_model.close()


@contextlib.asynccontextmanager
async def ledger_of(read_model: ReadModel) -> AsyncIterator[PostgresLedger]:
    """Open what the workers ask of a read model and close it on leaving."""
    ledger = await PostgresLedger.open(read_model)
    try:
        yield ledger
    finally:
        await ledger.close()


@contextlib.asynccontextmanager
async def producer_of(
    addresses: Addresses, *, name: str, quiet: bool = False
) -> AsyncIterator[LogProducer]:
    """Open a producer, ``quiet`` for a terminal; on leaving, wait for what it has queued."""
    producer = LogProducer(
        addresses.kafka_bootstrap,
        client_id=f"memledger-{name}",
        one_record_a_batch=addresses.trial_broker,
        quiet=quiet,
    )
    try:
        yield producer
    finally:
        await producer.close()
