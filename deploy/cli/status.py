"""``memledger status``: each part's health, address, lag and disk use."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final

import click
import httpx
import psycopg
from psycopg.conninfo import conninfo_to_dict

from deploy.cli.output import console, json_option, print_json, table
from deploy.home import Home, RunState, disk_use_bytes
from deploy.supervisor.children import is_alive
from projections.lag import Lag, measure_lag
from schemas.errors import LogUnavailable, MemledgerError
from schemas.log.admin import partition_count
from schemas.settings import Settings
from schemas.topics import TURNS

_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningPart:
    """One part of the pipeline.

    Attributes:
        name: what it is.
        ready: whether it does its work now.
        detail: why not.
        address: where it answers.
        lag: how many records it has yet to process, where that can be told.
        disk_bytes: what it occupies, where it is ours.
    """

    name: str
    ready: bool
    detail: str
    address: str
    lag: int | None = None
    disk_bytes: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the part as JSON."""
        return {
            "name": self.name,
            "ready": self.ready,
            "detail": self.detail,
            "address": self.address,
            "lag": self.lag,
            "disk_bytes": self.disk_bytes,
        }


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
    lag = _lag(state)
    return _stores(settings, state) + [_with_lag(part, lag) for part in readiness(state)]


def readiness(state: RunState) -> list[RunningPart]:
    """Ask the supervisor's processes whether they are ready."""
    parts = []
    for child in state.children:
        detail = "" if is_alive(child) else "not running"
        if not detail:
            try:
                answer = httpx.get(f"{child.url}/readyz", timeout=_TIMEOUT_S)
                detail = "" if answer.is_success else answer.json().get("reason", answer.text)
            except (httpx.HTTPError, ValueError) as error:
                detail = f"does not answer ({type(error).__name__})"
        parts.append(
            RunningPart(name=child.name, ready=not detail, detail=detail, address=child.url)
        )
    return parts


def print_parts(parts: list[RunningPart]) -> None:
    """Print the parts as a table."""
    rows = table("part", "state", "address", "lag", "disk")
    for part in parts:
        rows.add_row(
            part.name,
            "ready" if part.ready else f"NOT READY: {part.detail}",
            part.address,
            "" if part.lag is None else f"{part.lag}",
            "" if part.disk_bytes is None else f"{part.disk_bytes / 1e6:.0f} MB",
        )
    console().print(rows)


def _stores(settings: Settings, state: RunState) -> list[RunningPart]:
    home = Home(settings.home)
    return [
        RunningPart(
            name=name,
            ready=problem is None,
            detail=problem or "",
            address=address if embedded else f"{address} (given)",
            disk_bytes=disk_use_bytes(directory) if embedded else None,
        )
        for name, problem, address, embedded, directory in (
            (
                "postgres",
                _postgres_problem(state.database_url),
                _address_of(state.database_url),
                state.embedded_postgres,
                home.postgres,
            ),
            (
                "kafka",
                _kafka_problem(state.kafka_bootstrap),
                state.kafka_bootstrap,
                state.embedded_broker,
                home.broker,
            ),
        )
    ]


def _postgres_problem(database_url: str) -> str | None:
    try:
        psycopg.connect(database_url, connect_timeout=int(_TIMEOUT_S)).close()
    except psycopg.Error:
        return "does not answer"
    return None


def _kafka_problem(bootstrap: str) -> str | None:
    try:
        exists = partition_count(bootstrap, TURNS, timeout_s=_TIMEOUT_S) is not None
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
    records = lag.projector if part.name == "projector" else lag.workers
    return RunningPart(
        name=part.name,
        ready=part.ready,
        detail=part.detail,
        address=part.address,
        lag=records,
    )
