"""The stores of a pipeline: the given ones, or embedded ones that are started and tended."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Final, Literal, Self

from deploy.addresses import KEYRING_DATABASE, Addresses, keyring_beside
from deploy.embedded import EmbeddedBroker, EmbeddedPostgres, EmbeddedStoreError, TrialBroker
from deploy.embedded.jars import are_at_hand
from deploy.home import ChildState, Home, RunState
from deploy.supervisor.children import child_state, end
from deploy.supervisor.log_mark import TRIAL_NOTE
from schemas.settings import Settings

logger = logging.getLogger(__name__)

READ_MODEL_DATABASE: Final = "memledger"

_ABANDON_GRACE_S: Final = 10.0

Announce = Callable[[str], None]


class Stores:
    """Postgres and Kafka, wherever they are."""

    def __init__(self, settings: Settings) -> None:
        """Decide which stores are embedded: those that the environment does not name."""
        home = Home(settings.home)
        self._settings = settings
        self.postgres = (
            EmbeddedPostgres(home.postgres, shared_buffers_mb=settings.postgres_cache_mb)
            if settings.database_url is None
            else None
        )
        self.broker: EmbeddedBroker | TrialBroker | None = None
        if settings.kafka_bootstrap is None:
            trial = settings.broker == "trial"
            self.broker = TrialBroker(home.trial_broker) if trial else EmbeddedBroker(home.broker)
        # Found now: they must be found where the home is gone.
        self._processes: dict[str, ChildState] = {}

    @classmethod
    def embedded_under(cls, settings: Settings, state: RunState | None) -> Self:
        """Return the stores of a pipeline that runs or ran, whatever the environment says now."""
        if state is None:
            # It had not come as far as to say what it started.
            trial = Home(settings.home).trial_broker.exists()
            return cls(settings.model_copy(update={"broker": "trial" if trial else "kafka"}))
        given = {
            "database_url": None if state.embedded_postgres else state.database_url,
            "kafka_bootstrap": state.kafka_bootstrap if state.broker == "given" else None,
            "broker": "trial" if state.broker == "trial" else "kafka",
        }
        return cls(settings.model_copy(update=given))

    @property
    def broker_kind(self) -> Literal["given", "kafka", "trial"]:
        """Whose broker it is."""
        if self.broker is None:
            return "given"
        return "trial" if isinstance(self.broker, TrialBroker) else "kafka"

    @property
    def directories(self) -> list[Path]:
        """Where the embedded stores keep what they hold."""
        home = Home(self._settings.home)
        of_broker = {"given": [], "kafka": [home.broker], "trial": [home.trial_broker]}
        return ([home.postgres] if self.postgres is not None else []) + of_broker[self.broker_kind]

    @property
    def log_is_lost(self) -> bool:
        """Whether a trial broker has ended, and its log with it."""
        return isinstance(self.broker, TrialBroker) and not self.broker.is_running()

    @property
    def running(self) -> list[str]:
        """The embedded stores that run, by the names that people are told."""
        return [name for name, store in self._embedded() if store.is_running()]

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
            announce(self._broker_step())
            bootstrap = self.broker.start()
        assert database_url is not None and bootstrap is not None  # noqa: S101, PT018 - one of the two always told
        self._remember_processes()
        return Addresses(
            database_url=database_url,
            keyring_url=keyring_url or keyring_beside(database_url),
            kafka_bootstrap=bootstrap,
        )

    def tend(self) -> None:
        """Start an embedded store again if it died and has kept what it held."""
        for name, store in self._embedded():
            if store.is_running() or isinstance(store, TrialBroker):
                continue
            logger.error("%s is not running: starting it again", name)
            try:
                store.start()
            except EmbeddedStoreError as error:
                # Tried again at the next round; the reason may pass (a disk that is full).
                logger.error("%s: %s", name, error)  # noqa: TRY400 - the message says all
            self._remember_processes()

    def stop(self, announce: Announce) -> None:
        """Stop the embedded stores; the given ones are not ours."""
        for name, store in reversed(self._embedded()):
            if store.is_running():
                announce(f"stopping {name}")
                store.stop()
        self.abandon()

    def abandon(self) -> None:
        """End what still runs of the embedded stores, wherever their files are by now."""
        end(list(self._processes.values()), grace_s=_ABANDON_GRACE_S)

    def _embedded(self) -> list[tuple[str, EmbeddedPostgres | EmbeddedBroker | TrialBroker]]:
        trial = isinstance(self.broker, TrialBroker)
        named = (
            ("PostgreSQL", self.postgres),
            ("trial broker" if trial else "Kafka broker", self.broker),
        )
        return [(name, store) for name, store in named if store is not None]

    def _broker_step(self) -> str:
        if self.broker_kind == "trial":
            return f"starting the broker. WARNING: {TRIAL_NOTE}"
        fetching = "" if are_at_hand() else " (fetching its jars with Maven first, this once)"
        return f"starting the Kafka broker{fetching}"

    def _remember_processes(self) -> None:
        self._processes = {
            name: child_state(name, pid, "")
            for name, store in self._embedded()
            if (pid := store.pid) is not None
        }
