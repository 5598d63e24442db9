"""One process of a pipeline, in the hands of a test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx

_REPOSITORY = Path(__file__).parents[2]
_STOP_S = 30.0


class ServiceProcess:
    """A process that can be started, stopped, paused and killed at will.

    Attributes:
        name: its name, and that of its log file.
        url: where it answers ``/readyz``.
    """

    def __init__(
        self, name: str, module: str, *, environment: Mapping[str, str], url: str, log_file: Path
    ) -> None:
        self.name = name
        self.url = url
        self._module = module
        self._environment = dict(environment)
        self._log_file = log_file
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """Its process id, also once it has ended."""
        assert self._process is not None, f"{self.name} was never started"
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it was started and has not ended; a paused one runs."""
        return self._process is not None and self._process.poll() is None

    @property
    def started(self) -> bool:
        """Whether it is meant to run: it was started, and not stopped or killed since."""
        return self._process is not None

    def start(self) -> None:
        """Start it."""
        assert not self.running, f"{self.name} runs already"
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", self._module],
                env=self._environment,
                cwd=_REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it without a chance to do anything."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def stop(self) -> None:
        """Ask it to end and wait until it has."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(_STOP_S)
            self._process = None

    def pause(self) -> None:
        """Stop its clock."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        os.kill(self.pid, signal.SIGCONT)

    def ready(self) -> bool:
        """Whether it says that it does its work."""
        if not self.running:
            return False
        try:
            return httpx.get(f"{self.url}/readyz", timeout=5.0).status_code == httpx.codes.OK
        except httpx.HTTPError:
            return False
