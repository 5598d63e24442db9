"""The whole pipeline with an extractor and an embedder that cost nothing: rate, CPU, freshness."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from rich.console import Console

from deploy.bench.driver import Driver
from deploy.bench.figures import Figure, at_least, at_most, percentiles_ms, rounded
from deploy.bench.load import Load
from deploy.bench.options import BenchSize
from deploy.bench.turns import LIST_TURNS, TurnSource, in_lists
from deploy.bench.usage import MemoryWatch, PipelineProcesses
from deploy.cli.auditing import audit_pipeline
from deploy.home import Home, RunState
from deploy.throwaway import throwaway_pipeline
from schemas.errors import MemledgerError

RATE_BOUND: Final = at_least(600)
CPU_BOUND: Final = at_most(3)
FRESH_BOUND: Final = at_most(250)
UNACCOUNTED_BOUND: Final = at_most(0)

_POSTERS: Final = 4
_WARM_UP_TURNS: Final = 500
_PROBE_PAUSE_S: Final = 0.1


def measure_pipeline(size: BenchSize, announce: Console) -> list[Figure]:
    """Post turns as fast as they are taken, then at half that rate with some of them timed."""
    with throwaway_pipeline(
        announce,
        prefix="memledger-bench-",
        purpose="the bench",
        environment={"MEMLEDGER_EXTRACTOR": "verbatim", "MEMLEDGER_EMBEDDER": "hash"},
        keep_stores=False,
    ) as (home, state):
        return asyncio.run(_measure(size, home, state, announce))


async def _measure(size: BenchSize, home: Home, state: RunState, announce: Console) -> list[Figure]:
    driver = await Driver.open(home, state)
    processes = PipelineProcesses.of(home, state)
    # The same users all along: what the first sight of one costs is paid in warming up.
    source = TurnSource(size.users)
    try:
        await post_all(driver, source.take(max(size.users, _WARM_UP_TURNS)))
        announce.print(f"· {size.turns:,} turns of {size.users:,} users through the pipeline")
        throughput = await _throughput(driver, processes, source, size)
        announce.print(f"· {size.probes} turns timed at half that rate")
        fresh = await _freshness(driver, source, size, rate=throughput[0].value / 2)
        await driver.require_all_stored()
        announce.print("· accounting for every turn")
        return [*throughput, fresh, await _unaccounted()]
    finally:
        await driver.close()


async def _unaccounted() -> Figure:
    """Return how many turns, and users' rows, are not what the log says."""
    report = await audit_pipeline(log_only=False)
    differences = 0 if report.comparison is None else len(report.comparison.differences)
    return Figure(
        name="pipeline.unaccounted",
        value=report.unaccounted + differences,
        unit="turns",
        bound=UNACCOUNTED_BOUND,
        details={"totals": report.as_json()["totals"], "users_that_differ": differences},
    )


async def post_all(driver: Driver, wanted: list[dict[str, Any]]) -> None:
    """Post turns in lists, a few requests at once, and return once all are closed."""
    lists = in_lists(wanted, LIST_TURNS)

    async def post() -> None:
        for one in lists:
            await driver.post(one)

    await asyncio.gather(*(post() for _ in range(_POSTERS)))
    await driver.wait_closed()


async def _throughput(
    driver: Driver, processes: PipelineProcesses, source: TurnSource, size: BenchSize
) -> list[Figure]:
    wanted = source.take(size.turns)
    watch = MemoryWatch(processes)
    before, began = processes.cpu_s(), time.perf_counter()
    async with watch:
        await post_all(driver, wanted)
    seconds = time.perf_counter() - began
    used = {name: cpu - before[name] for name, cpu in processes.cpu_s().items()}
    details = {"turns": size.turns, "users": size.users, "seconds": rounded(seconds)}
    return [
        Figure(
            name="pipeline.rate",
            value=size.turns / seconds,
            unit="turns/s",
            bound=RATE_BOUND,
            details=details,
        ),
        Figure(
            name="pipeline.cpu",
            value=sum(used.values()) / size.turns * 1000,
            unit="CPU-s per 1,000 turns",
            bound=CPU_BOUND,
            details={
                "by_process": {
                    name: rounded(cpu / size.turns * 1000) for name, cpu in sorted(used.items())
                }
            },
        ),
        Figure(
            name="pipeline.memory",
            value=watch.total_mib,
            unit="MiB",
            details={"mib_by_process_over_time": watch.by_process()},
        ),
    ]


async def _freshness(driver: Driver, source: TurnSource, size: BenchSize, *, rate: float) -> Figure:
    """Time turns from their acceptance to the answer of a recall that holds them.

    The time of the recall itself is in it, and so is its polling.
    """
    load = Load(driver, source, rate=rate)
    seconds: list[float] = []
    async with load:
        for probe in source.take(size.probes):
            [position] = await driver.post([probe])
            accepted = time.perf_counter()
            answer = await driver.recall(probe["user_id"], probe["user_text"], at_least=position)
            seconds.append(time.perf_counter() - accepted)
            if probe["user_text"] not in {memory["content"] for memory in answer["memories"]}:
                raise MemledgerError("a recall that waited for a turn did not hold it")
            await asyncio.sleep(_PROBE_PAUSE_S)
    await driver.wait_closed()
    found = percentiles_ms(seconds)
    return Figure(
        name="pipeline.accepted_to_recallable_p99",
        value=found["p99"],
        unit="ms",
        bound=FRESH_BOUND,
        details={
            **found,
            "wanted_turns_per_s": rounded(rate),
            "turns_per_s": rounded(load.turns_per_s),
            "probes": size.probes,
        },
    )
