"""``memledger up`` and ``memledger down``."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

import click
from rich.console import Console

from deploy.cli.output import json_option, print_json
from deploy.cli.status import parts_of, print_parts
from deploy.cli.unknown_settings import unknown_settings
from deploy.home import Home, RunState
from deploy.supervisor.children import end, is_alive
from deploy.supervisor.log_mark import require_fitting_broker
from deploy.supervisor.readiness import RunningPart, all_started, readiness
from deploy.supervisor.stores import Stores
from deploy.supervisor.supervisor import HELD, Supervisor
from schemas.errors import ConfigurationError, MemledgerError
from schemas.settings import Settings

_POLL_S: Final = 0.1
_DOWN_TIMEOUT_S: Final = 120.0
_GAVE_UP: Final = " supervisor ERROR supervisor: cannot run: "
_UNUSABLE_MARK: Final = "unusable: "


@click.command()
@click.option("--detach", is_flag=True, help="Return once everything is ready; go on behind.")
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Worker processes that share the partitions.",
)
@click.option(
    "--timeout",
    "timeout_s",
    default=180.0,
    show_default=True,
    help="Seconds to wait for readiness with --detach.",
)
@click.option(
    "--broker",
    default="kafka",
    show_default=True,
    envvar="MEMLEDGER_BROKER",
    type=click.Choice(("kafka", "trial")),
    help="The embedded broker: trial needs no Java, and its log is lost when it stops.",
)
@json_option
def up(
    *,
    detach: bool,
    workers: int,
    timeout_s: float,
    broker: Literal["kafka", "trial"],
    as_json: bool,
) -> None:
    """Run the whole pipeline on this machine.

    A store that DATABASE_URL or KAFKA_BOOTSTRAP does not name is embedded under MEMLEDGER_HOME.
    With --detach a pipeline that runs already is found again.
    """
    settings = Settings.from_environment().model_copy(update={"broker": broker})
    home = Home(settings.home).make()
    require_fitting_broker(settings, home)
    announce = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for note in unknown_settings(os.environ):
        announce.print(f"note: {note}")
    supervisor = None
    if supervisor_holds(home):
        if not detach:
            raise ConfigurationError(
                f"a pipeline runs under {home.root} already: see `memledger status`, stop it with "
                "`memledger down`"
            )
        announce.print(
            f"a pipeline runs under {home.root} already, as it was started: settings and options "
            "of this call apply after `memledger down`"
        )
    elif not detach:
        Supervisor(
            settings,
            workers=workers,
            announce=lambda step: announce.print(f"· {step}"),
            on_ready=lambda ready: _print_ready(
                home, ready, as_json=as_json, parts=parts_of(settings, ready) if as_json else ()
            ),
        ).run()
        return
    else:
        supervisor = start_detached(home, workers=workers, broker=broker)
    state = wait_until_ready(home, timeout_s=timeout_s, announce=announce, supervisor=supervisor)
    parts = parts_of(settings, state)
    if not as_json:
        print_parts(parts)
    _print_ready(home, state, as_json=as_json, parts=parts)


def _print_ready(
    home: Home, state: RunState, *, as_json: bool, parts: Sequence[RunningPart]
) -> None:
    if as_json:
        print_json(
            {
                "home": str(home.root),
                "url": state.gateway_url,
                "api_key_file": str(home.api_key_file),
                "parts": [part.as_json() for part in parts],
            }
        )
    else:
        click.echo(f"\nAPI  {state.gateway_url}   key in {home.api_key_file}")


@click.command()
@json_option
def down(*, as_json: bool) -> None:
    """Stop what `up` started here, and nothing else."""
    settings = Settings.from_environment()
    home = Home(settings.home)
    stopped = stop(settings, home)
    if as_json:
        print_json({"stopped": stopped})
    else:
        click.echo(
            f"stopped: {', '.join(stopped)}" if stopped else f"nothing runs under {home.root}"
        )


def supervisor_holds(home: Home) -> bool:
    """Whether a supervisor lives that holds this home."""
    try:
        # To look, not to write: the disk may be read-only.
        with home.lock_file.open("rb") as lock:
            # Shared, so that those who look do not see each other.
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    except PermissionError:
        raise ConfigurationError(
            f"{home.lock_file} belongs to another user: run the command as that user, or set "
            "MEMLEDGER_HOME to a directory of your own"
        ) from None
    return False


def start_detached(
    home: Home, *, workers: int, broker: Literal["kafka", "trial"] | None = None
) -> subprocess.Popen[bytes]:
    """Start a supervisor that outlives this process and its terminal.

    Args:
        home: what it is to hold.
        workers: how many worker processes share the partitions.
        broker: which broker it embeds; ``None`` leaves that to the environment.
    """
    told = {"MEMLEDGER_HOME": str(home.root)} | ({"MEMLEDGER_BROKER": broker} if broker else {})
    with (home.logs / "supervisor.log").open("ab") as log:
        return subprocess.Popen(
            # -P: what lies in the current directory is not ours to run.
            [sys.executable, "-P", "-m", "deploy.supervisor", str(workers)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, **told},
        )


def wait_until_ready(
    home: Home,
    *,
    timeout_s: float,
    announce: Console,
    supervisor: subprocess.Popen[bytes] | None = None,
) -> RunState:
    """Return the state of a pipeline all of whose processes answer ``/readyz`` with yes.

    Args:
        home: the pipeline's home.
        timeout_s: how long to wait, in seconds.
        announce: told of each step.
        supervisor: the supervisor, where this process started it.

    Raises:
        MemledgerError: the supervisor gave up, or time ran out; names the part and its log.
        ConfigurationError: it gave up since a setting cannot be used.
    """
    log_file = home.logs / "supervisor.log"
    began = seen = log_file.stat().st_size if log_file.exists() else 0
    deadline = time.monotonic() + timeout_s
    unready: list[RunningPart] = []
    while time.monotonic() < deadline:
        if supervisor is not None and supervisor.poll() == HELD:
            # Another `up` was first: what it starts is what this one was asked for.
            supervisor = None
        holds = supervisor_holds(home) if supervisor is None else supervisor.poll() is None
        seen = _tell_new_lines(log_file, seen, announce)
        if not holds:
            raise _given_up(log_file, began)
        state, held_by = home.read_state(), home.read_supervisor()
        if state is not None and held_by is not None and held_by.pid == state.supervisor_pid:
            unready = [part for part in readiness(state) if not part.ready]
            if all_started(state) and not unready:
                return state
        time.sleep(_POLL_S)
    waiting_for = ", ".join(f"{part.name} ({part.detail})" for part in unready) or "the supervisor"
    raise MemledgerError(
        f"not ready after {timeout_s:.0f} s: {waiting_for}; see the logs in {home.logs}, stop it "
        "with `memledger down`"
    )


def stop(settings: Settings, home: Home) -> list[str]:
    """Stop the supervisor and all it started, or what a dead one left; return their names."""
    state = home.read_state()
    supervisor = home.read_supervisor()
    stopped: list[str] = []
    stores = Stores.embedded_under(settings, state)
    running = set(stores.running)
    if supervisor is not None and is_alive(supervisor):
        end([supervisor], grace_s=_DOWN_TIMEOUT_S)
        stopped.append("supervisor")
        # One that was still starting may have started more since.
        stores = Stores.embedded_under(settings, state or home.read_state())
        running |= set(stores.running)
    if state is not None:
        # A supervisor that was killed leaves them; one that was stopped has stopped them.
        end([child for child in state.children if is_alive(child)], grace_s=_DOWN_TIMEOUT_S)
        stopped.extend(child.name for child in state.children)
    stores.stop(lambda _: None)
    stopped.extend(sorted(running))
    home.forget_state()
    home.forget_supervisor()
    return stopped


def _tell_new_lines(log_file: os.PathLike[str], seen: int, announce: Console) -> int:
    try:
        with open(log_file, "rb") as log:  # noqa: PTH123 - a seek follows
            log.seek(seen)
            fresh = log.read()
    except FileNotFoundError:
        return seen
    for line in fresh.decode(errors="replace").splitlines():
        _, found, step = line.partition(" supervisor INFO supervisor: ")
        if found:
            announce.print(f"· {step}")
    return seen + len(fresh)


def _given_up(log_file: Path, began: int) -> MemledgerError:
    problem = _last_words(log_file, began)
    error = ConfigurationError if problem.startswith(_UNUSABLE_MARK) else MemledgerError
    return error(f"the supervisor gave up: {problem.removeprefix(_UNUSABLE_MARK)}")


def _last_words(log_file: os.PathLike[str], start: int) -> str:
    """Return why a supervisor gave up, as it wrote it from ``start`` on; a message may be long."""
    try:
        with open(log_file, "rb") as log:  # noqa: PTH123 - as above
            log.seek(start)
            written = log.read().decode(errors="replace").strip()
    except FileNotFoundError:
        return f"it wrote nothing to {log_file}"
    _, _, message = written.rpartition(_GAVE_UP)
    return " ".join(message.split()) or f"it wrote nothing to {log_file}"
