"""One process that the supervisor keeps running."""

from __future__ import annotations

import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import psutil

from deploy.home import ChildState
from deploy.processes.serving import CANNOT_RUN, UNUSABLE
from schemas.errors import ConfigurationError

logger = logging.getLogger(__name__)

_BACKOFF_FIRST_S: Final = 0.5
_BACKOFF_MAX_S: Final = 30.0
_POLL_S: Final = 0.05
_STEADY_S: Final = 60.0
# Linux counts it from a boot time that follows corrections of the clock.
_START_TIME_TOLERANCE_S: Final = 2.0
_LOG_BYTES_MAX: Final = 32 * 1024 * 1024


class Child:
    """A process that is started again when it dies, ever more slowly while it keeps dying."""

    def __init__(
        self,
        name: str,
        module: str,
        *,
        environment: Mapping[str, str],
        url: str,
        log_file: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Describe the process; :meth:`start` starts it.

        Args:
            name: its name in ``status`` and in the log.
            module: the Python module that it runs.
            environment: what is set for it beside this process' own environment.
            url: where it will answer ``/readyz``.
            log_file: where its output goes; one older file is kept.
            clock: seconds, monotonic.
        """
        self.name = name
        self.url = url
        self._module = module
        self._environment = dict(environment)
        self._log_file = log_file
        self._clock = clock
        self._process: subprocess.Popen[bytes] | None = None
        self._started = 0.0
        self._starts = 0
        self._backoff_s = _BACKOFF_FIRST_S
        self._start_again_at: float | None = None

    @property
    def was_started(self) -> bool:
        """Whether it was started at all."""
        return self._process is not None

    def start(self) -> None:
        """Start the process, detached from the terminal so that only we are sent its signals."""
        if self._log_file.exists() and self._log_file.stat().st_size > _LOG_BYTES_MAX:
            self._log_file.replace(self._log_file.with_suffix(".log.1"))
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen(
                # -P: what lies in the directory that `up` was called from is not ours to run.
                [sys.executable, "-P", "-m", self._module],
                env={**os.environ, **self._environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started = self._clock()
        self._starts += 1
        self._start_again_at = None

    def tend(self) -> bool:
        """Start the process again if it died and its back-off is over; return whether it was.

        Raises:
            ConfigurationError: its very first start ended since it cannot be used as configured.
        """
        if self._process is None or self._process.poll() is None:
            return False
        if self._starts == 1 and self._process.returncode == UNUSABLE:
            raise ConfigurationError(f"the {self.name} cannot start: {self._last_words()}")
        now = self._clock()
        if self._start_again_at is None:
            if now - self._started > _STEADY_S:
                self._backoff_s = _BACKOFF_FIRST_S
            logger.error(
                "%s ended with status %s, starting it again in %.1f s; its log is %s",
                self.name,
                self._process.returncode,
                self._backoff_s,
                self._log_file,
            )
            self._start_again_at = now + self._backoff_s
            self._backoff_s = min(2 * self._backoff_s, _BACKOFF_MAX_S)
        if now < self._start_again_at:
            return False
        self.start()
        return True

    def stop(self, *, grace_s: float) -> None:
        """Ask the process to stop and insist after ``grace_s`` seconds."""
        if self._process is None or self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(grace_s)
        except subprocess.TimeoutExpired:
            logger.warning("%s did not stop within %g s: killing it", self.name, grace_s)
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        lines = self._log_file.read_text(errors="replace").splitlines()
        if not lines:
            return f"it wrote nothing to {self._log_file}"
        _, marked, said = lines[-1].partition(CANNOT_RUN)
        # Behind the error's name stands the sentence.
        return said.partition(": ")[2] if marked else lines[-1]

    def state(self) -> ChildState:
        """Return how to find the process again from elsewhere."""
        assert self._process is not None  # noqa: S101 - start() comes first
        return child_state(self.name, self._process.pid, self.url)


def child_state(name: str, pid: int, url: str) -> ChildState:
    """Return the state of a process that runs now, or ended just now."""
    try:
        started_at = psutil.Process(pid).create_time()
    except psutil.NoSuchProcess:
        started_at = 0.0
    return ChildState(name=name, pid=pid, started_at=started_at, url=url)


def is_alive(state: ChildState) -> bool:
    """Whether the very process of ``state`` still runs, not another one with its pid."""
    return _process_of(state) is not None


def end(states: Sequence[ChildState], *, grace_s: float) -> None:
    """Stop processes that are not our children: ask, wait, insist."""
    for insist in (False, True):
        for state in states:
            process = _process_of(state)
            if process is not None:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill() if insist else process.terminate()
        deadline = time.monotonic() + grace_s
        # A process that ended and that nobody has waited for counts as gone.
        while any(is_alive(state) for state in states):
            if time.monotonic() > deadline:
                break
            time.sleep(_POLL_S)
        else:
            return


def _process_of(state: ChildState) -> psutil.Process | None:
    try:
        process = psutil.Process(state.pid)
        same = abs(process.create_time() - state.started_at) < _START_TIME_TOLERANCE_S
        running = process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return None
    return process if same and running else None
