"""CPU time and memory of a pipeline's processes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self

import psutil

from deploy.home import Home, RunState
from schemas.tasks import end_tasks

BROKER: Final = "broker"
GATEWAY: Final = "gateway"
POSTGRES: Final = "postgres"
_MEBIBYTE: Final = 1024 * 1024
_SAMPLES_MAX: Final = 20
_SAMPLE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class PipelineProcesses:
    """The processes of a pipeline whose stores are embedded.

    Attributes:
        by_name: the process of each part; a server's helpers are its children.
    """

    by_name: Mapping[str, psutil.Process]

    @classmethod
    def of(cls, home: Home, state: RunState) -> PipelineProcesses:
        """Return what runs under a home."""
        found = {child.name: psutil.Process(child.pid) for child in state.children}
        for process in psutil.process_iter(["cmdline"]):
            command = " ".join(process.info["cmdline"] or ())
            if str(home.root) not in command:
                continue
            if "kafka.Kafka" in command:
                found[BROKER] = process
            elif "bin/postgres" in command:
                found[POSTGRES] = process
        return cls(found)

    def cpu_s(self) -> dict[str, float]:
        """Return the CPU seconds, in user and kernel mode, that each part has used so far."""
        return {name: _cpu_s(process) for name, process in self.by_name.items()}

    def memory_mib(self) -> dict[str, float]:
        """Return the memory of each part in MiB: what is its own, shared pages by share."""
        return {
            name: round((_pss(process) + _of_children(process, _pss)) / _MEBIBYTE, 1)
            for name, process in self.by_name.items()
        }


def _cpu_s(process: psutil.Process) -> float:
    own = process.cpu_times()
    ended = own.children_user + own.children_system
    return _own_cpu_s(process) + ended + _of_children(process, _own_cpu_s)


def _own_cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _pss(process: psutil.Process) -> float:
    # Postgres' processes map the same buffers: resident sizes added up would count them often.
    return float(process.memory_full_info().pss)


def _of_children(process: psutil.Process, measure: Callable[[psutil.Process], float]) -> float:
    """Return the sum over a process' children; one that ends meanwhile counts as ended before."""
    total = 0.0
    for child in process.children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            total += measure(child)
    return total


class MemoryWatch:
    """Looks at a pipeline's memory now and then, for the length of an ``async with`` block.

    Args:
        processes: whose memory.
    """

    def __init__(self, processes: PipelineProcesses) -> None:
        self._processes = processes
        self._samples: list[dict[str, float]] = []
        self._watching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._watching = asyncio.create_task(self._watch())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        watching = self._watching
        if watching is not None and watching.done():
            watching.result()  # it never ends by itself: this raises what it failed with
        if watching is not None:
            await end_tasks([watching])
        await self._look()

    @property
    def total_mib(self) -> float:
        """The memory of all parts together when last seen, in MiB."""
        return sum(self._samples[-1].values())

    def by_process(self) -> dict[str, list[float]]:
        """Return the memory of each part in MiB, evenly over the time that was watched."""
        step = max(1, len(self._samples) // _SAMPLES_MAX)
        kept = [*self._samples[:-1][::step], self._samples[-1]]
        return {name: [sample[name] for sample in kept] for name in kept[-1]}

    async def _watch(self) -> None:
        while True:
            await self._look()
            # The longer it lasts, the rarer: looking takes a few milliseconds.
            await asyncio.sleep(_SAMPLE_S * max(1, len(self._samples) // _SAMPLES_MAX))

    async def _look(self) -> None:
        self._samples.append(await asyncio.to_thread(self._processes.memory_mib))
