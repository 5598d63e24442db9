"""The process of an embedded broker: remembered in a file, told from a stranger."""

import json
from dataclasses import dataclass
from pathlib import Path

import psutil

from deploy.embedded.directories import write_private
from deploy.embedded.processes import living

# The start time that Linux reports is counted from a boot time that follows corrections of the
# clock, so that the same process may differ by about a second between two readings.
_START_TIME_TOLERANCE_SECONDS = 2.0


@dataclass(frozen=True, kw_only=True)
class BrokerProcessFile:
    """The file that says which process is the broker.

    Attributes:
        path: The file.
        arguments: Arguments of its command line that together no other process has.
    """

    path: Path
    arguments: tuple[str, ...]

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
        remembered = self._read()
        if remembered is None:
            return None
        process_id, started_at = remembered
        process = living(process_id)
        if process is None or not self._is_broker(process):
            return None
        difference = abs(process.create_time() - started_at)
        return process if difference <= _START_TIME_TOLERANCE_SECONDS else None

    def search(self) -> psutil.Process | None:
        """Find the broker among all processes, and remember it.

        It is missing from the file where the starter died between starting it and writing that.
        """
        for process in psutil.process_iter():
            if self._is_broker(process):
                self.write(process.pid)
                return process
        return None

    def _read(self) -> tuple[int, float] | None:
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            return int(content["pid"]), float(content["started_at"])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            # Not a loss: `search` finds a running broker without it.
            return None

    def _is_broker(self, process: psutil.Process) -> bool:
        try:
            arguments = process.cmdline()
        except psutil.Error:
            return False
        return set(self.arguments) <= set(arguments)
