"""The stores of a pipeline: the given ones, or embedded ones that are started and tended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Final, Self

from deploy.addresses import KEYRING_DATABASE, Addresses, keyring_beside
from deploy.embedded import EmbeddedBroker, EmbeddedPostgres, EmbeddedStoreError
from deploy.home import Home, RunState
from schemas.settings import Settings

logger = logging.getLogger(__name__)

READ_MODEL_DATABASE: Final = "memledger"

Announce = Callable[[str], None]


class Stores:
    """Postgres and Kafka, wherever they are."""

    def __init__(self, settings: Settings) -> None:
        """Decide which stores are embedded: those that the environment does not name."""
        home = Home(settings.home)
        self._settings = settings
        self.postgres = EmbeddedPostgres(home.postgres) if settings.database_url is None else None
        self.broker = EmbeddedBroker(home.broker) if settings.kafka_bootstrap is None else None

    @classmethod
    def embedded_under(cls, settings: Settings, state: RunState | None) -> Self:
        """Return the stores of a pipeline that runs or ran, whatever the environment says now."""
        given = (
            {}
            if state is None
            else {
                "database_url": None if state.embedded_postgres else state.database_url,
                "kafka_bootstrap": None if state.embedded_broker else state.kafka_bootstrap,
            }
        )
        return cls(settings.model_copy(update=given))

    def start(self, announce: Announce) -> Addresses:
        """Start the embedded stores, or find the running ones again, and return where all are.

        Raises:
            EmbeddedStoreError: one cannot be started; the message tells the remedy.
        """
        database_url = self._settings.database_url
        keyring_url = self._settings.keyring_url
        bootstrap = self._settings.kafka_bootstrap
        if self.postgres is not None:
            announce("starting PostgreSQL")
            self.postgres.start()
            database_url = self.postgres.url(READ_MODEL_DATABASE)
            keyring_url = keyring_url or self.postgres.url(KEYRING_DATABASE)
        if self.broker is not None:
            announce("starting the Kafka broker (its jars are fetched the first time)")
            bootstrap = self.broker.start()
        assert database_url is not None and bootstrap is not None  # noqa: S101, PT018 - one of the two always told
        return Addresses(
            database_url=database_url,
            keyring_url=keyring_url or keyring_beside(database_url),
            kafka_bootstrap=bootstrap,
        )

    def tend(self) -> None:
        """Start an embedded store again if it died."""
        for name, store in (("PostgreSQL", self.postgres), ("the broker", self.broker)):
            if store is None or store.is_running():
                continue
            logger.error("%s is not running: starting it again", name)
            try:
                store.start()
            except EmbeddedStoreError as error:
                # Tried again at the next round; the reason may pass (a disk that is full).
                logger.error("%s: %s", name, error)  # noqa: TRY400 - the message says all

    def stop(self, announce: Announce) -> None:
        """Stop the embedded stores; the given ones are not ours."""
        if self.broker is not None and self.broker.is_running():
            announce("stopping the Kafka broker")
            self.broker.stop()
        if self.postgres is not None and self.postgres.is_running():
            announce("stopping PostgreSQL")
            self.postgres.stop()
