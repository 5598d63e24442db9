"""``memledger status``: each part's health, address, lag and disk use."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import click
import psycopg
from psycopg.conninfo import conninfo_to_dict

from deploy.cli.output import console, json_option, print_json, table
from deploy.home import Home, RunState, disk_use_bytes
from deploy.supervisor.log_mark import TRIAL_NOTE
from deploy.supervisor.readiness import TIMEOUT_S, RunningPart, readiness
from projections.lag import Lag, measure_lag
from schemas.errors import LogUnavailable, MemledgerError
from schemas.log.admin import partition_count
from schemas.settings import Settings
from schemas.topics import TURNS


@click.command()
@json_option
def status(*, as_json: bool) -> None:
    """Show each part's health, address, lag and disk use.

    Exits with 1 where a part is not ready.
    """
    settings = Settings.from_environment()
    home = Home(settings.home)
    state = home.read_state()
    parts = [] if state is None else parts_of(settings, state)
    healthy = bool(parts) and all(part.ready for part in parts)
    if as_json:
        print_json(
            {
                "home": str(home.root),
                "running": bool(parts),
                "healthy": healthy,
                "parts": [part.as_json() for part in parts],
            }
        )
    elif not parts:
        click.echo(f"nothing runs under {home.root}: start it with `memledger up --detach`")
    else:
        print_parts(parts)
    if not healthy:
        raise SystemExit(1)


def parts_of(settings: Settings, state: RunState) -> list[RunningPart]:
    """Return the stores and the processes of a pipeline."""
    stores = _stores(settings, state)
    # A store that does not answer would only be waited for.
    lag = _lag(state) if all(store.ready for store in stores) else None
    return stores + [_with_lag(part, lag) for part in readiness(state)]


def print_parts(parts: list[RunningPart]) -> None:
    """Print the parts as a table."""
    rows = table("part", "state", "address", "lag", "disk")
    for part in parts:
        rows.add_row(
            part.name,
            "ready" if part.ready else f"NOT READY: {part.detail}",
            f"{part.address} ({part.note})" if part.note else part.address,
            "" if part.lag is None else f"{part.lag}",
            "" if part.disk_bytes is None else f"{part.disk_bytes / 1e6:.0f} MB",
        )
    console().print(rows)


def _stores(settings: Settings, state: RunState) -> list[RunningPart]:
    home = Home(settings.home)
    postgres = _store(
        "postgres",
        _postgres_problem(state.database_url),
        _address_of(state.database_url),
        home.postgres if state.embedded_postgres else None,
    )
    trial = state.broker == "trial"
    directories = {"kafka": home.broker, "trial": home.trial_broker}
    broker = _store(
        "trial-broker" if trial else "kafka",
        _kafka_problem(state.kafka_bootstrap),
        state.kafka_bootstrap,
        directories.get(state.broker),
    )
    return [postgres, replace(broker, note=TRIAL_NOTE) if trial else broker]


def _store(name: str, problem: str | None, address: str, directory: Path | None) -> RunningPart:
    """Describe a store; one without a directory of ours was given by the environment."""
    return RunningPart(
        name=name,
        ready=problem is None,
        detail=problem or "",
        address=address,
        note="given" if directory is None else "",
        disk_bytes=None if directory is None else disk_use_bytes(directory),
    )


def _postgres_problem(database_url: str) -> str | None:
    try:
        psycopg.connect(database_url, connect_timeout=int(TIMEOUT_S)).close()
    except psycopg.Error:
        return "does not answer"
    return None


def _kafka_problem(bootstrap: str) -> str | None:
    try:
        exists = partition_count(bootstrap, TURNS, timeout_s=TIMEOUT_S) is not None
    except LogUnavailable:
        return "does not answer"
    return None if exists else f"the topic {TURNS} does not exist"


def _address_of(database_url: str) -> str:
    """Return server and database, without user and password."""
    parts = conninfo_to_dict(database_url)
    return f"{parts.get('host', '')}:{parts.get('port', '')}/{parts.get('dbname', '')}"


def _lag(state: RunState) -> Lag | None:
    try:
        return asyncio.run(
            measure_lag(
                database_url=state.database_url,
                bootstrap=state.kafka_bootstrap,
                generation=str(state.settings["generation"]),
            )
        )
    except MemledgerError:
        # The stores' own rows say what is wrong with them.
        return None


def _with_lag(part: RunningPart, lag: Lag | None) -> RunningPart:
    if lag is None or part.name == "gateway":
        return part
    if part.name == "projector":
        return replace(part, lag=lag.projector)
    waiting = lag.embeddings_waiting
    note = f"{waiting} memories wait for a vector" if waiting else part.note
    return replace(part, lag=lag.workers, note=note)
