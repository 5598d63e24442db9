"""The supervisor: starts stores and processes, keeps them running, stops what it started."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import IO, Final

from deploy.addresses import Addresses
from deploy.home import SHARED_SETTINGS, Home, RunState
from deploy.prepare import prepare
from deploy.supervisor.children import Child, child_state, end
from deploy.supervisor.ports import free_port
from deploy.supervisor.stores import Announce, Stores
from schemas.errors import ConfigurationError
from schemas.settings import Settings

logger = logging.getLogger(__name__)

_ROUND_S: Final = 0.5
_GRACE_S: Final = 20.0
_HOLD_PATIENCE_S: Final = 2.0
_HOLD_POLL_S: Final = 0.02


class Supervisor:
    """Runs one pipeline under one home."""

    def __init__(
        self,
        settings: Settings,
        *,
        workers: int,
        announce: Announce,
        on_started: Callable[[RunState], None] = lambda _: None,
    ) -> None:
        """Describe the pipeline.

        Args:
            settings: the settings that every process gets.
            workers: how many worker processes share the partitions.
            announce: told of each step, for a person who waits.
            on_started: told once of what was started, which may not be ready yet.
        """
        self._settings = settings
        self._workers = workers
        self._announce = announce
        self._on_started = on_started
        self._home = Home(settings.home)
        self._stores = Stores(settings)
        self._children: list[Child] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        """Start everything, keep it running until SIGTERM or SIGINT, then stop everything.

        Raises:
            ConfigurationError: it cannot start, or another supervisor holds the home.
            EmbeddedStoreError: an embedded store cannot start.
        """
        if self._workers > self._settings.partitions:
            raise ConfigurationError(
                f"{self._workers} workers cannot share {self._settings.partitions} partitions: "
                "start at most as many"
            )
        self._home.make()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        with self._home.lock_file.open("a") as lock:
            self._hold(lock)
            self._home.write_supervisor(child_state("supervisor", os.getpid(), ""))
            self._end_orphans()
            try:
                self._start_and_keep_running()
            finally:
                self._stop_children()
                self._stores.stop(self._announce)
                self._home.forget_state()
                self._home.forget_supervisor()

    def _start_and_keep_running(self) -> None:
        addresses = self._stores.start(self._announce)
        if self._stopping.is_set():
            return
        self._announce("preparing topics, databases and keys")
        asyncio.run(prepare(self._settings, addresses, self._home))
        self._describe_children(addresses)
        for child in self._children:
            if self._stopping.is_set():
                return
            child.start()
            self._write_state(addresses)
        self._announce("all processes are started")
        self._on_started(self._write_state(addresses))
        self._keep_running(addresses)

    def _hold(self, lock: IO[str]) -> None:
        deadline = time.monotonic() + _HOLD_PATIENCE_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                # Somebody who looks whether the home is held has it for a moment.
                if time.monotonic() < deadline:
                    time.sleep(_HOLD_POLL_S)
                    continue
                raise ConfigurationError(
                    f"another supervisor runs under {self._home.root}: see `memledger status`, "
                    "stop it with `memledger down`"
                ) from None
            return

    def _end_orphans(self) -> None:
        # A supervisor that was killed left its processes behind. We hold the lock, so it is gone.
        state = self._home.read_state()
        if state is not None:
            end(state.children, grace_s=_GRACE_S)

    def _describe_children(self, addresses: Addresses) -> None:
        common = {
            "DATABASE_URL": addresses.database_url,
            "KAFKA_BOOTSTRAP": addresses.kafka_bootstrap,
            "MEMLEDGER_KEYRING_URL": addresses.keyring_url,
            "MEMLEDGER_HOME": str(self._home.root),
        }
        host = self._settings.gateway_host
        gateway_port = self._settings.gateway_port or free_port(host)
        projector_port = self._settings.projector_port or free_port()
        self._add(
            "projector",
            "projector",
            {**common, "MEMLEDGER_PROJECTOR_PORT": str(projector_port)},
            projector_port,
        )
        for number in range(1, self._workers + 1):
            first = number == 1 and self._settings.worker_port
            port = self._settings.worker_port if first else free_port()
            self._add(
                f"worker-{number}", "worker", {**common, "MEMLEDGER_WORKER_PORT": str(port)}, port
            )
        self._add(
            "gateway",
            "gateway",
            {**common, "MEMLEDGER_GATEWAY_PORT": str(gateway_port)},
            gateway_port,
            host,
        )

    def _add(
        self, name: str, kind: str, environment: dict[str, str], port: int, host: str = "127.0.0.1"
    ) -> None:
        self._children.append(
            Child(
                name,
                f"deploy.processes.{kind}",
                environment=environment,
                url=f"http://{f'[{host}]' if ':' in host else host}:{port}",
                log_file=self._home.logs / f"{name}.log",
            )
        )

    def _write_state(self, addresses: Addresses) -> RunState:
        state = RunState(
            supervisor_pid=os.getpid(),
            settings=self._settings.model_dump(mode="json", include=set(SHARED_SETTINGS)),
            database_url=addresses.database_url,
            keyring_url=addresses.keyring_url,
            kafka_bootstrap=addresses.kafka_bootstrap,
            embedded_postgres=self._stores.postgres is not None,
            embedded_broker=self._stores.broker is not None,
            gateway_url=next(child.url for child in self._children if child.name == "gateway"),
            children=tuple(child.state() for child in self._children if child.was_started),
        )
        self._home.write_state(state)
        return state

    def _keep_running(self, addresses: Addresses) -> None:
        while not self._stopping.wait(_ROUND_S):
            self._stores.tend()
            started_again = [child for child in self._children if child.tend()]
            if started_again:
                self._write_state(addresses)

    def _stop_children(self) -> None:
        # The door first, then the workers, then what applies their outcomes.
        for name in ("gateway", "worker", "projector"):
            for child in self._children:
                if child.name.startswith(name):
                    child.stop(grace_s=_GRACE_S)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        logger.info("stopping on signal %d", number)
        self._stopping.set()
