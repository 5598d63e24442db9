"""Making the directory in which the embedded broker keeps its topics."""

import base64
import uuid
from pathlib import Path

from deploy.embedded import logs
from deploy.embedded.broker_settings import LOG_DIRECTORY, broker_properties
from deploy.embedded.directories import made_whole, write_private
from deploy.embedded.errors import BrokerFailedError, DiskFullError, EmbeddedStoreError
from deploy.embedded.java import Java
from deploy.embedded.processes import run_tool

_TIMEOUT_SECONDS = 120.0


def format_storage(
    data_dir: Path,
    *,
    java: Java,
    machine_options: list[str],
    class_path: str,
    ports: tuple[int, int],
    log: Path,
) -> None:
    """Format a directory for topics under a new random cluster id; a crash on the way leaves none.

    Args:
        data_dir: The broker's directory, without formatted storage.
        java: The Java to run Kafka's tool with.
        machine_options: Options of its virtual machine.
        class_path: The broker's jars, separated by colons.
        ports: The client's and the controller's port.
        log: Where the tool's output goes when it fails.

    Raises:
        DataDirectoryError: It cannot be written, or the disk is full.
        BrokerFailedError: The tool failed.
    """
    properties = data_dir / "format.properties"
    with made_whole(data_dir / LOG_DIRECTORY) as partial:
        write_private(properties, broker_properties(*ports, log_directory=partial.name))
        command: list[str | Path] = [java.program, *machine_options, "-cp", class_path]
        command += ["kafka.tools.StorageTool", "format"]
        command += ["--cluster-id", _random_cluster_id(), "--config", properties]
        output = run_tool(command, directory=data_dir, timeout_seconds=_TIMEOUT_SECONDS)
        if output is not None:
            raise _failure(output, data_dir, log)
        properties.unlink()


def _failure(output: str, data_dir: Path, log: Path) -> EmbeddedStoreError:
    if logs.NO_SPACE in output:
        return DiskFullError(data_dir)
    log.write_text(output, encoding="utf-8")
    return BrokerFailedError("could not format its directory", log, logs.last_of(output))


def _random_cluster_id() -> str:
    # Kafka's form of a UUID; one that begins with a dash would be taken for an option.
    while True:
        text = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not text.startswith("-"):
            return text
