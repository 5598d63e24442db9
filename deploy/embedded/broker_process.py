"""The process of an embedded broker: remembered in a file, told from a stranger."""

import json
from dataclasses import dataclass
from pathlib import Path

import psutil

from deploy.embedded.directories import write_private
from deploy.embedded.processes import living

MAIN_CLASS = "kafka.Kafka"

# The start time that Linux reports is counted from a boot time that follows corrections of the
# clock, so that the same process may differ by about a second between two readings.
_START_TIME_TOLERANCE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class BrokerProcessFile:
    """The file that says which process is the broker.

    Attributes:
        path: The file.
        properties: The broker's configuration file, an argument of no other process.
    """

    path: Path
    properties: Path

    def write(self, process_id: int) -> None:
        """Remember the process that was just launched.

        Args:
            process_id: Its id; where it has ended already, the file is removed.
        """
        process = living(process_id)
        if process is None:
            self.path.unlink(missing_ok=True)
            return
        content = {"pid": process.pid, "started_at": process.create_time()}
        write_private(self.path, json.dumps(content))

    def find(self) -> psutil.Process | None:
        """Find the broker's process.

        Returns:
            The process; None where it has ended, whatever program has its id by now.
        """
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            process_id, started_at = int(content["pid"]), float(content["started_at"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        process = living(process_id)
        return process if process is not None and self._is_broker(process, started_at) else None

    def _is_broker(self, process: psutil.Process, started_at: float) -> bool:
        try:
            arguments = process.cmdline()
            difference = abs(process.create_time() - started_at)
        except psutil.NoSuchProcess:
            return False
        is_same_program = MAIN_CLASS in arguments and str(self.properties) in arguments
        return is_same_program and difference <= _START_TIME_TOLERANCE_SECONDS
