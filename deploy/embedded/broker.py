"""An embedded Kafka broker: one node that is its own controller."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from deploy.embedded import logs
from deploy.embedded.broker_process import BrokerProcessFile
from deploy.embedded.broker_settings import LOG_DIRECTORY, broker_properties, machine_options
from deploy.embedded.broker_storage import format_storage
from deploy.embedded.class_archive import class_archive
from deploy.embedded.directories import explained, locked, make_writable, write_private
from deploy.embedded.errors import (
    BrokerFailedError,
    DiskFullError,
    EmbeddedStoreError,
    PortInUseError,
    StopTimeoutError,
)
from deploy.embedded.jars import KAFKA_DIRECTORY, jars_directory, resolve_jars
from deploy.embedded.java import find_java
from deploy.embedded.ports import (
    HOST,
    accepts_connections,
    choose_ports,
    is_free,
    read_ports,
    write_ports,
)
from deploy.embedded.processes import end, has_ended, launch_detached, living, wait_until

MAIN_CLASS = "kafka.Kafka"

_STORE = "The embedded broker"
_CLIENT_PORT_NAME = "clients"
_CONTROLLER_PORT_NAME = "controller"
_NODE_ID = 1

# After a kill every partition's open segment is read and checked again.
_START_TIMEOUT_SECONDS = 300.0
# The first start may wait for Maven in another process.
_LOCK_TIMEOUT_SECONDS = 1_200.0
_METADATA_TIMEOUT_SECONDS = 2.0
_STOP_TIMEOUT_SECONDS = 60.0
_KILL_TIMEOUT_SECONDS = 15.0
_KILLED_TIMEOUT_SECONDS = 5.0


class EmbeddedBroker:
    """A Kafka broker on 127.0.0.1 that outlives the process that started it.

    The directory holds the topics, the configuration, the log and the ports. Another instance over
    the same directory, in this process or a later one, finds the running broker.
    """

    def __init__(self, data_dir: Path, heap_mb: int = 512) -> None:
        """Describe a broker; nothing is started.

        Args:
            data_dir: Its directory, made by `start` where missing.
            heap_mb: Largest heap of its Java virtual machine in MiB.
        """
        self._data_dir = data_dir.expanduser().resolve()
        self._properties = self._data_dir / "broker.properties"
        self._ports_file = self._data_dir / "ports.json"
        self._log = self._data_dir / "broker.log"
        self._console_log = self._data_dir / "broker-console.log"
        self._process_file = BrokerProcessFile(
            path=self._data_dir / "broker.pid", arguments=(MAIN_CLASS, str(self._properties))
        )
        self._heap_mb = heap_mb

    @property
    def pid(self) -> int | None:
        """The broker's process id; None where none runs."""
        process = self._process_file.find()
        return process.pid if process else None

    def is_running(self) -> bool:
        """Tell whether a broker serves the directory."""
        return self.pid is not None

    def start(self) -> str:
        """Start the broker, or find the one that runs, and wait until it answers.

        Returns:
            The bootstrap address, "127.0.0.1:PORT".

        Raises:
            PrerequisiteMissingError: Java, or Maven where it is needed, is missing.
            JarsUnavailableError: Maven did not deliver the jars.
            JarChecksumMismatchError: A jar is not the file that was pinned.
            DataDirectoryError: The directory cannot be used, or its disk is full.
            PortInUseError: Another program listens on one of the ports.
            StoreBusyError: Another process has been starting or stopping it for very long.
            BrokerFailedError: The broker ended or did not answer.
        """
        with self._locked():
            process = self._process_file.find() or self._process_file.search()
            if process is None or not self._attach(process):
                self._wait_until_ready(*self._launch())
            return self._bootstrap()

    def stop(self) -> None:
        """Stop the broker with its logs closed; nothing happens where none runs.

        Raises:
            StopTimeoutError: It did not end, not even when it was killed.
            StoreBusyError: Another process has been starting or stopping it for very long.
        """
        if not self._data_dir.exists():
            return
        with self._locked():
            process = self._process_file.find() or self._process_file.search()
            if process is None:
                return
            if end(process, signal.SIGTERM, timeout_seconds=_STOP_TIMEOUT_SECONDS):
                self._adopt_class_archive()
                return
            seconds = _KILL_TIMEOUT_SECONDS
            if not end(process, signal.SIGKILL, timeout_seconds=seconds):
                raise StopTimeoutError(_STORE, process.pid, seconds)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        make_writable(self._data_dir, mode=0o700)
        with locked(self._data_dir / "start.lock", timeout_seconds=_LOCK_TIMEOUT_SECONDS):
            yield

    def _bootstrap(self) -> str:
        return f"{HOST}:{read_ports(self._ports_file)[_CLIENT_PORT_NAME]}"

    def _attach(self, process: psutil.Process) -> bool:
        try:
            self._wait_until_ready(process.pid, logs.size(self._log))
        except BrokerFailedError:
            # It may have been told to stop, or killed, just before it was found.
            seconds = _KILLED_TIMEOUT_SECONDS
            if not wait_until(lambda: has_ended(process), timeout_seconds=seconds):
                raise
            return False
        return True

    def _launch(self) -> tuple[int, int]:
        java = find_java()
        jars = resolve_jars()
        class_path = os.pathsep.join(map(str, jars))
        ports = self._free_ports()
        options = machine_options(self._heap_mb, self._data_dir, KAFKA_DIRECTORY / "log4j2.xml")
        if not (self._data_dir / LOG_DIRECTORY).exists():
            format_storage(
                self._data_dir,
                java=java,
                machine_options=options,
                class_path=class_path,
                ports=ports,
                log=self._console_log,
            )
        write_private(self._properties, broker_properties(*ports))
        archive = class_archive(jars[0].parent, java, self._data_dir)
        archive.discard()
        command: list[str | Path] = [java.program, *options, *archive.options()]
        command += ["-cp", class_path, MAIN_CLASS, self._properties]
        log_start = logs.size(self._log)
        with explained(self._data_dir), self._console_log.open("wb") as output:
            process_id = launch_detached(command, output=output, directory=self._data_dir)
        self._process_file.write(process_id)
        return process_id, log_start

    def _free_ports(self) -> tuple[int, int]:
        remembered = read_ports(self._ports_file)
        if not remembered:
            client, controller = choose_ports(2)
            remembered = {_CLIENT_PORT_NAME: client, _CONTROLLER_PORT_NAME: controller}
            write_ports(self._ports_file, remembered)
        for port in remembered.values():
            if not is_free(port):
                raise PortInUseError(port, _STORE, self._ports_file)
        return remembered[_CLIENT_PORT_NAME], remembered[_CONTROLLER_PORT_NAME]

    def _wait_until_ready(self, process_id: int, log_start: int) -> None:
        port = read_ports(self._ports_file)[_CLIENT_PORT_NAME]
        wait_until(
            lambda: accepts_connections(port) or living(process_id) is None,
            timeout_seconds=_START_TIMEOUT_SECONDS,
        )
        # An open port is not enough: the broker answers only after its controller admitted it.
        client = AdminClient(
            # A starting broker refuses at first; one that stays silent is an error below.
            {"bootstrap.servers": f"{HOST}:{port}", "log_level": 0}
        )
        answered = wait_until(
            lambda: living(process_id) is None or _lists_itself(client),
            timeout_seconds=_START_TIMEOUT_SECONDS,
        )
        if living(process_id) is None:
            raise self._failure("ended while it was starting", log_start)
        if not answered:
            seconds = f"{_START_TIMEOUT_SECONDS:.0f}"
            raise self._failure(f"did not answer within {seconds} seconds", log_start)

    def _failure(self, reason: str, log_start: int) -> EmbeddedStoreError:
        written = logs.last_lines(self._log, since=log_start)
        console = logs.last_lines(self._console_log)
        text = "\n".join((*console, *written))
        if logs.NO_SPACE in text:
            return DiskFullError(self._data_dir)
        if logs.ADDRESS_IN_USE in text:
            port = read_ports(self._ports_file)[_CLIENT_PORT_NAME]
            return PortInUseError(port, _STORE, self._ports_file)
        if written:
            return BrokerFailedError(reason, self._log, written)
        return BrokerFailedError(reason, self._console_log, console)

    def _adopt_class_archive(self) -> None:
        # Without Java or with another one there is nothing to adopt, and nothing is lost.
        with suppress(EmbeddedStoreError):
            class_archive(jars_directory(), find_java(), self._data_dir).adopt()


def _lists_itself(client: AdminClient) -> bool:
    try:
        metadata = client.list_topics(timeout=_METADATA_TIMEOUT_SECONDS)
    except KafkaException:
        return False
    return _NODE_ID in metadata.brokers
