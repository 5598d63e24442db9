"""A pipeline whose every part a test starts, stops, pauses and kills by itself."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from deploy.addresses import Addresses
from deploy.prepare import prepare
from deploy.supervisor.ports import free_port
from tests.support.pipeline_site import PipelineSite, site_directory
from tests.support.service_process import ServiceProcess
from tests.support.waiting import wait_until

_READY_S = 90.0


class Pipeline(PipelineSite):
    """Stores and processes without a supervisor.

    Attributes:
        processes: by name: ``gateway``, ``projector``, ``worker-1`` and so on.
        ended_unasked: names of processes that ended by themselves and were started again.
    """

    processes: dict[str, ServiceProcess]
    ended_unasked: list[str]

    def start(self, *, workers: int) -> None:
        """Start everything and return once it works."""
        self.ended_unasked = []
        self.start_stores()
        asyncio.run(prepare(self.settings, self.addresses, self.home))
        self.processes = {
            "projector": self._process("projector", "projector"),
            **{
                f"worker-{number}": self._process(f"worker-{number}", "worker")
                for number in range(1, workers + 1)
            },
            "gateway": self._process("gateway", "gateway"),
        }
        for process in self.processes.values():
            process.start()
        self.wait_ready()

    @property
    def workers(self) -> list[ServiceProcess]:
        """The workers."""
        return [process for name, process in self.processes.items() if name.startswith("worker")]

    def start_stores(self) -> Addresses:
        """Start the stores that do not run, both at once."""
        with ThreadPoolExecutor(2) as pool:
            for started in (pool.submit(self.postgres.start), pool.submit(self.broker.start)):
                started.result()
        return self.addresses

    def wait_ready(self) -> None:
        """Return once every process that is meant to run does its work."""
        for process in self.processes.values():
            if process.started:
                self.wait_until(
                    process.ready, what=f"{process.name} to be ready", timeout_s=_READY_S
                )

    def tend(self) -> None:
        """Start again what ended by itself, as an orchestrator would."""
        for name, process in self.processes.items():
            if process.started and not process.running:
                self.ended_unasked.append(name)
                process.start()

    def kill_broker(self) -> None:
        """End the broker without a chance to do anything."""
        _kill(self.broker.pid)
        wait_until(lambda: not self.broker.is_running(), what="the broker's end")

    def kill_postgres(self) -> None:
        """End Postgres without a chance to do anything."""
        _kill(self.postgres.pid)
        wait_until(lambda: not self.postgres.is_running(), what="the end of Postgres")

    def stop(self) -> None:
        """Stop everything."""
        for process in self.processes.values():
            process.kill()
        # Nothing is to be kept.
        for pid in (self.broker.pid, self.postgres.pid):
            if pid is not None:
                _kill(pid)
        wait_until(
            lambda: not self.broker.is_running() and not self.postgres.is_running(),
            what="the stores' end",
        )

    def _process(self, name: str, kind: str) -> ServiceProcess:
        addresses = self.addresses
        port = self.settings.gateway_port if kind == "gateway" else free_port()
        return ServiceProcess(
            name,
            f"deploy.processes.{kind}",
            environment={
                **self.environment,
                "DATABASE_URL": addresses.database_url,
                "KAFKA_BOOTSTRAP": addresses.kafka_bootstrap,
                "MEMLEDGER_KEYRING_URL": addresses.keyring_url,
                f"MEMLEDGER_{kind.upper()}_PORT": str(port),
            },
            url=f"http://127.0.0.1:{port}",
            log_file=self.home.logs / f"{name}.log",
        )


@contextmanager
def running_pipeline(*, workers: int, **settings: object) -> Iterator[Pipeline]:
    """Yield a pipeline that runs and holds nothing yet; stop it afterwards."""
    with site_directory() as root:
        pipeline = Pipeline(root, **settings)
        pipeline.processes = {}
        try:
            pipeline.start(workers=workers)
            yield pipeline
        finally:
            pipeline.stop()


def _kill(pid: int | None) -> None:
    assert pid is not None, "it does not run"
    os.kill(pid, signal.SIGKILL)
