"""The whole pipeline with an extractor that takes as long as a model does."""

from __future__ import annotations

import asyncio
import time
from typing import Final

from rich.console import Console

from deploy.bench.driver import Driver
from deploy.bench.extractors import LATENCY_S, SLOW
from deploy.bench.figures import Figure, at_least, rounded
from deploy.bench.options import BenchSize
from deploy.bench.pipeline import post_all
from deploy.bench.turns import TurnSource
from deploy.home import Home, RunState
from deploy.throwaway import throwaway_pipeline

IN_FLIGHT: Final = 300
SHARE_BOUND: Final = at_least(0.9)

_WARM_UP_TURNS: Final = 600


def measure_slow_model(size: BenchSize, announce: Console) -> list[Figure]:
    """Post turns as fast as they are taken where each waits half a second for its model."""
    with throwaway_pipeline(
        announce,
        prefix="memledger-bench-",
        purpose="the bench",
        environment={
            "MEMLEDGER_EXTRACTOR": SLOW,
            "MEMLEDGER_EMBEDDER": "hash",
            "MEMLEDGER_IN_FLIGHT_MAX": str(IN_FLIGHT),
        },
        keep_stores=False,
    ) as (home, state):
        return [asyncio.run(_measure(size, home, state, announce))]


async def _measure(size: BenchSize, home: Home, state: RunState, announce: Console) -> Figure:
    driver = await Driver.open(home, state)
    # A user's turns wait for each other: with fewer users than may be in flight, they would be the
    # limit that is measured.
    users = max(size.users, 2 * IN_FLIGHT)
    try:
        source = TurnSource(users)
        await post_all(driver, source.take(max(users, _WARM_UP_TURNS)))
        announce.print(
            f"· {size.turns:,} turns, {IN_FLIGHT} at once waiting {LATENCY_S:g} s for a model"
        )
        began = time.perf_counter()
        await post_all(driver, source.take(size.turns))
        seconds = time.perf_counter() - began
        await driver.require_all_stored()
    finally:
        await driver.close()
    allowed = IN_FLIGHT / LATENCY_S
    return Figure(
        name="slow_model.share_of_possible_rate",
        value=size.turns / seconds / allowed,
        unit="ratio",
        bound=SHARE_BOUND,
        details={
            "turns_per_s": rounded(size.turns / seconds),
            "possible_turns_per_s": allowed,
            "turns": size.turns,
            "users": users,
        },
    )
