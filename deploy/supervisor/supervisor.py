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
from contextlib import ExitStack
from types import FrameType
from typing import IO, Final

from deploy.addresses import Addresses
from deploy.embedded import TrialBroker
from deploy.home import SHARED_SETTINGS, Home, RunState
from deploy.prepare import prepare, require_usable
from deploy.supervisor.anchors import Anchors, HomeVanished
from deploy.supervisor.children import Child, child_state, end
from deploy.supervisor.log_mark import LogMark, require_fitting_broker, take_up_trial_log
from deploy.supervisor.ports import free_port
from deploy.supervisor.readiness import readiness
from deploy.supervisor.stores import Announce, Stores
from schemas.errors import ConfigurationError
from schemas.settings import Settings

logger = logging.getLogger(__name__)

HELD: Final = 3
"""Exit status of a supervisor that found its home held by another, which runs what was wanted."""

_ROUND_S: Final = 0.5
_GRACE_S: Final = 20.0
_GRACE_WITHOUT_LOG_S: Final = 0.5
_HOLD_PATIENCE_S: Final = 2.0
# The trial broker keeps a member that joins waiting for half of it: the least that is allowed.
_TRIAL_SESSION_TIMEOUT_S: Final = 6.0
_HOLD_POLL_S: Final = 0.02


class HomeHeld(ConfigurationError):
    """Another supervisor holds the home."""


class Supervisor:
    """Runs one pipeline under one home."""

    def __init__(
        self,
        settings: Settings,
        *,
        workers: int,
        announce: Announce,
        on_ready: Callable[[RunState], None] = lambda _: None,
    ) -> None:
        """Describe the pipeline.

        Args:
            settings: the settings that every process gets.
            workers: how many worker processes share the partitions.
            announce: told of each step, for a person who waits.
            on_ready: told once, when every process does its work.
        """
        self._settings = settings
        self._workers = workers
        self._announce = announce
        self._on_ready = on_ready
        self._told_ready = False
        self._home = Home(settings.home)
        self._stores = Stores(settings)
        self._children: list[Child] = []
        self._stopping = threading.Event()

    def run(self) -> None:
        """Start everything, keep it running until SIGTERM or SIGINT, then stop everything.

        Raises:
            HomeHeld: another supervisor holds the home.
            ConfigurationError: it cannot start as configured.
            EmbeddedStoreError: an embedded store cannot start.
            HomeVanished: what it keeps on disk was removed or replaced while it ran.
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
            with ExitStack() as leaving:
                leaving.callback(self._stop_and_forget)
                require_fitting_broker(self._settings, self._home)
                require_usable(self._settings)
                try:
                    while not self._stopping.is_set():
                        self._start_and_keep_running()
                except HomeVanished:
                    # Whatever stands at its paths now is not ours.
                    leaving.pop_all()
                    self._stop_children()
                    self._stores.abandon()
                    raise

    def _start_and_keep_running(self) -> None:
        """Return when told to stop, or when a log was lost with which everything begins anew."""
        addresses = self._stores.start(self._announce)
        with Anchors([self._home.lock_file, *self._stores.directories]) as anchors:
            if self._stopping.is_set():
                return
            self._mark_log(addresses)
            self._announce("preparing topics, databases and keys")
            asyncio.run(prepare(self._settings, addresses, self._home))
            if self._start_children(addresses):
                self._announce("all processes are started")
                self._keep_running(addresses, anchors)

    def _start_children(self, addresses: Addresses) -> bool:
        """Start every process; return whether nobody said to stop meanwhile."""
        if not self._children:
            self._describe_children(addresses)
        for child in self._children:
            if self._stopping.is_set():
                return False
            child.start()
            self._write_state(addresses)
        return True

    def _mark_log(self, addresses: Addresses) -> None:
        broker = self._stores.broker
        if isinstance(broker, TrialBroker):
            take_up_trial_log(self._home, broker.log_id, addresses.database_url, self._announce)
        else:
            LogMark(lasting=True).write(self._home)

    def _stop_and_forget(self) -> None:
        self._stop_children()
        self._stores.stop(self._announce)
        self._home.forget_state()
        self._home.forget_supervisor()

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
                raise HomeHeld(
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
            **self._trial_environment(),
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

    def _trial_environment(self) -> dict[str, str]:
        if self._stores.broker_kind != "trial":
            return {}
        trial = {"MEMLEDGER_BROKER": "trial"}
        if "session_timeout_s" not in self._settings.model_fields_set:
            trial["MEMLEDGER_SESSION_TIMEOUT_S"] = str(_TRIAL_SESSION_TIMEOUT_S)
        return trial

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
            broker=self._stores.broker_kind,
            gateway_url=next(child.url for child in self._children if child.name == "gateway"),
            children=tuple(child.state() for child in self._children if child.was_started),
        )
        self._home.write_state(state)
        return state

    def _keep_running(self, addresses: Addresses, anchors: Anchors) -> None:
        state = self._write_state(addresses)
        while not self._stopping.wait(_ROUND_S):
            anchors.require_unmoved()
            if self._stores.log_is_lost:
                logger.error("the trial broker ended, and with it the log")
                # They would wait in vain for a broker to take their leave of.
                self._stop_children(grace_s=_GRACE_WITHOUT_LOG_S)
                return
            self._stores.tend()
            started_again = [child for child in self._children if child.tend()]
            if started_again:
                state = self._write_state(addresses)
            self._tell_when_ready(state)

    def _tell_when_ready(self, state: RunState) -> None:
        if not self._told_ready and all(part.ready for part in readiness(state)):
            self._told_ready = True
            self._on_ready(state)

    def _stop_children(self, *, grace_s: float = _GRACE_S) -> None:
        # The door first, then the workers, then what applies their outcomes.
        for name in ("gateway", "worker", "projector"):
            for child in self._children:
                if child.name.startswith(name):
                    child.stop(grace_s=grace_s)

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        logger.info("stopping on signal %d", number)
        self._stopping.set()
