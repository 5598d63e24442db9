"""The whole request of a recall: through HTTP, the key, the keyring, Postgres and the notes."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from typing import Any, Final

import aiohttp
import numpy as np
import psutil
from rich.console import Console

from deploy.addresses import resolve, running_settings
from deploy.bench.figures import Figure, at_most, percentiles_ms, rounded
from deploy.bench.filling import DIMENSION, tell_rows
from deploy.bench.options import BenchSize
from deploy.bench.recall_speed import SHARED_BUFFERS_MB
from deploy.bench.rows import BenchUser, Filler
from deploy.bench.usage import GATEWAY, POSTGRES, PipelineProcesses
from deploy.home import Home, RunState
from deploy.throwaway import throwaway_pipeline
from deploy.wiring import embedder_of, keyring_of, read_model_of
from schemas.errors import MemledgerError
from schemas.queries import load_queries
from schemas.settings import DEFAULT_TENANT
from schemas.tasks import end_tasks

P99_BOUND: Final = at_most(25)

REQUESTS_PER_S: Final = 200
_BENCH: Final = load_queries("deploy", "bench/sql/bench.sql")
_ROWS_SHARE: Final = 10
_SECONDS_MAX: Final = 20
_WARM_UP: Final = 2_000
"""Ten seconds: the broker still compiles what it runs, and the gateway opens its connections."""
_CONNECTIONS_MAX: Final = 32
_KEPT_S: Final = 3.0
"""An idle connection is closed here before the gateway closes it, else the two could cross."""
_SEED: Final = 11


def measure_recall_http(size: BenchSize, announce: Console) -> list[Figure]:
    """Ask a gateway at a steady rate, whatever the answers take.

    Postgres and who asks share a core, the gateway has the other. What works behind their backs,
    the broker and the projector, takes whichever has room.
    """
    with throwaway_pipeline(
        announce,
        prefix="memledger-bench-",
        purpose="the bench",
        environment={
            "MEMLEDGER_EXTRACTOR": "verbatim",
            "MEMLEDGER_EMBEDDER": "hash",
            "MEMLEDGER_EMBEDDER_DIMENSION": str(DIMENSION),
            "MEMLEDGER_POSTGRES_CACHE_MB": str(SHARED_BUFFERS_MB),
        },
        keep_stores=False,
    ) as (home, state):
        return asyncio.run(_measure(size, home, state, announce))


async def _measure(size: BenchSize, home: Home, state: RunState, announce: Console) -> list[Figure]:
    rows = max(size.memories_a_user, size.rows // _ROWS_SHARE)
    users = await _filled_users(rows // size.memories_a_user, size.memories_a_user, announce)
    requests = min(size.recalls, REQUESTS_PER_S * _SECONDS_MAX)
    client = aiohttp.ClientSession(
        base_url=state.gateway_url,
        headers={"Authorization": f"Bearer {home.api_key_file.read_text().strip()}"},
        connector=aiohttp.TCPConnector(limit=_CONNECTIONS_MAX, keepalive_timeout=_KEPT_S),
    )
    processes = PipelineProcesses.of(home, state)
    async with client:
        with _gateway_apart(processes):
            lot = np.random.default_rng(_SEED)
            await _ask_steadily(client, _drawn(users, min(_WARM_UP, 2 * requests), lot))
            announce.print(f"· {requests:,} requests, {REQUESTS_PER_S} a second")
            before = processes.cpu_s()
            began = time.perf_counter()
            seconds = await _ask_steadily(client, _drawn(users, requests, lot))
            took = time.perf_counter() - began
            used = {name: now - before[name] for name, now in processes.cpu_s().items()}
    found = percentiles_ms(seconds)
    return [
        Figure(
            name="recall_http.p99",
            value=found["p99"],
            unit="ms",
            bound=P99_BOUND,
            details={
                **found,
                "rows": rows,
                "memories_a_user": size.memories_a_user,
                "requests": requests,
                "requests_per_s": rounded(requests / took),
                "cpu_ms_a_request": {
                    name: rounded(1000 * cpu_s / requests) for name, cpu_s in used.items()
                },
                "cores": os.cpu_count(),
            },
        )
    ]


async def _filled_users(
    users: int, memories_a_user: int, announce: Console
) -> list[tuple[str, BenchUser]]:
    """Give some users memories, and return them by their ids."""
    settings = running_settings()
    addresses = resolve(settings)
    names = [f"user-{number}" for number in range(users)]
    async with AsyncExitStack() as parts:
        embedder = await parts.enter_async_context(embedder_of(settings))
        keyring = await parts.enter_async_context(keyring_of(settings, addresses))
        read_model = await parts.enter_async_context(
            read_model_of(settings, addresses, embedder, name="bench")
        )
        keys = await keyring.subjects_for(DEFAULT_TENANT, names, create=True)
        announce.print(f"· storing {memories_a_user:,} memories of each of {users:,} users")
        async with read_model.connection() as connection:
            await connection.execute(_BENCH["make_vectors_later"])
        filled = await Filler(read_model, seed=_SEED).fill_for(
            [keys[name].subject for name in names], memories_a_user, tell_rows(announce)
        )
    return list(zip(names, filled, strict=True))


def _drawn(
    users: Sequence[tuple[str, BenchUser]], requests: int, lot: np.random.Generator
) -> list[dict[str, Any]]:
    asked = [users[int(place)] for place in lot.integers(len(users), size=requests)]
    return [{"user_id": name, "query": user.asks} for name, user in asked]


async def _ask_steadily(
    client: aiohttp.ClientSession, questions: Iterable[dict[str, Any]]
) -> list[float]:
    """Send each question when it is due; return what each took from then on.

    A request that waits for those before it has waited: its time counts from when it was due.

    Raises:
        MemledgerError: one was not answered.
    """
    began = time.perf_counter()

    async def ask(due: float, question: dict[str, Any]) -> float:
        async with client.post("/v1/recall", json=question) as answer:
            told = await answer.text()
        if not answer.ok:
            raise MemledgerError(f"POST /v1/recall: {answer.status} {told[:200]}")
        return time.perf_counter() - due

    asked: list[asyncio.Task[float]] = []
    try:
        for number, question in enumerate(questions):
            due = began + number / REQUESTS_PER_S
            # Each is begun when it is due: to begin all at once keeps the first ones waiting.
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            asked.append(asyncio.create_task(ask(due, question)))
        return await asyncio.gather(*asked)
    finally:
        await end_tasks(task for task in asked if not task.done())


@contextmanager
def _gateway_apart(processes: PipelineProcesses) -> Iterator[None]:
    """Give Postgres and who asks the last core, and the gateway the others, where there are two."""
    own = psutil.Process()
    cores = sorted(own.cpu_affinity())
    if len(cores) < 2:  # noqa: PLR2004 - one core for Postgres and one for the gateway
        yield
        return
    postgres, gateway = processes.by_name[POSTGRES], processes.by_name[GATEWAY]
    for process in (postgres, *postgres.children(recursive=True), own):
        with suppress(psutil.NoSuchProcess):  # a helper of Postgres may end at any time
            process.cpu_affinity(cores[-1:])
    gateway.cpu_affinity(cores[:-1])
    try:
        yield
    finally:
        own.cpu_affinity(cores)
