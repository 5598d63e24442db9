"""A pipeline as a user runs it, under its supervisor, with parts that a test kills."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import psutil

from deploy.home import RunState
from tests.support.command import memledger
from tests.support.pipeline_site import PipelineSite, site_directory
from tests.support.waiting import wait_until

STORES = ("broker", "postgres")


class SupervisedPipeline(PipelineSite):
    """Everything under ``memledger up``."""

    def up(self) -> None:
        """Run ``memledger up --detach``."""
        finished = memledger("up", "--detach", "--json", environment=self.environment)
        assert finished.status == 0, finished.errors

    def down(self) -> None:
        """Run ``memledger down``."""
        finished = memledger("down", environment=self.environment)
        assert finished.status == 0, finished.errors

    def pid(self, part: str) -> int | None:
        """Return the process id of a part as it is known now."""
        if part in STORES:
            return (self.broker if part == "broker" else self.postgres).pid
        if part == "supervisor":
            supervisor = self.home.read_supervisor()
            return None if supervisor is None else supervisor.pid
        return next(child.pid for child in self._state.children if child.name == part)

    @property
    def parts(self) -> list[str]:
        """Every part, the supervisor first."""
        return ["supervisor", *(child.name for child in self._state.children), *STORES]

    def kill(self, part: str) -> int:
        """End a part without a chance to do anything; return the process id that it had."""
        pid = self.pid(part)
        assert pid is not None, f"{part} does not run"
        os.kill(pid, signal.SIGKILL)
        return pid

    def wait_back(self, part: str, *, instead_of: int, timeout_s: float = 90.0) -> None:
        """Return once the supervisor has started a part again and everything is ready."""

        def back() -> bool:
            return self.pid(part) not in (None, instead_of) and self.ready()

        wait_until(back, what=f"{part} to be back", timeout_s=timeout_s, poll_s=0.1)

    def ready(self) -> bool:
        """Whether every process says that it does its work."""
        for child in self._state.children:
            try:
                if httpx.get(f"{child.url}/readyz", timeout=5.0).status_code != httpx.codes.OK:
                    return False
            except httpx.HTTPError:
                return False
        return True

    @property
    def _state(self) -> RunState:
        state = self.home.read_state()
        assert state is not None, "nothing runs"
        return state


@contextmanager
def supervised_pipeline(**settings: object) -> Iterator[SupervisedPipeline]:
    """Yield a pipeline that runs and holds nothing yet; stop it afterwards."""
    with site_directory() as root:
        pipeline = SupervisedPipeline(root, **settings)
        try:
            pipeline.up()
            yield pipeline
        finally:
            pipeline.down()


def ended(pid: int) -> bool:
    """Whether a process has ended; one that nobody has waited for yet has."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
