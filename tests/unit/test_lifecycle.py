"""Waiting for a pipeline: whose word counts, and when waiting is over."""

from __future__ import annotations

import fcntl
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from click.testing import CliRunner
from rich.console import Console

from deploy.cli import lifecycle
from deploy.cli.lifecycle import supervisor_holds, wait_until_ready
from deploy.home import ChildState, Home, RunState
from deploy.supervisor.children import child_state
from deploy.supervisor.readiness import RunningPart
from deploy.supervisor.supervisor import HELD
from schemas.errors import ConfigurationError, MemledgerError

WAIT_S = 0.4


class _Yes(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """Where something says that it is ready."""
    with HTTPServer(("127.0.0.1", 0), _Yes) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def home(tmp_path: os.PathLike[str]) -> Home:
    return Home(tmp_path / "home").make()  # type: ignore[operator] # pytest gives a Path


@contextmanager
def held(home: Home) -> Iterator[None]:
    """Hold the home as a supervisor does."""
    with home.lock_file.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def us(name: str, url: str = "") -> ChildState:
    return child_state(name, os.getpid(), url)


def all_ready(url: str, *, said_by: int) -> RunState:
    return RunState(
        supervisor_pid=said_by,
        settings={},
        database_url="",
        keyring_url="",
        kafka_bootstrap="",
        embedded_postgres=True,
        broker="kafka",
        gateway_url=url,
        children=tuple(us(name, url) for name in ("projector", "worker-1", "gateway")),
    )


def wait(home: Home, supervisor: subprocess.Popen[bytes] | None = None) -> tuple[RunState, str]:
    told = io.StringIO()
    state = wait_until_ready(
        home,
        timeout_s=WAIT_S if supervisor is None else 20,
        announce=Console(file=told, soft_wrap=True),
        supervisor=supervisor,
    )
    return state, told.getvalue()


def ended(script: str) -> subprocess.Popen[bytes]:
    """Return a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", script])
    process.wait()
    return process


def test_the_living_supervisor_s_word_counts(home: Home, url: str) -> None:
    home.write_supervisor(us("supervisor"))
    home.write_state(all_ready(url, said_by=os.getpid()))
    with held(home):
        state, _ = wait(home)
    assert state.gateway_url == url


def test_what_a_dead_supervisor_said_is_not_believed(home: Home, url: str) -> None:
    home.write_supervisor(us("supervisor"))
    home.write_state(all_ready(url, said_by=os.getpid() + 1))
    with held(home), pytest.raises(MemledgerError, match="not ready after"):
        wait(home)


def test_a_part_that_was_not_started_yet_is_waited_for(home: Home, url: str) -> None:
    home.write_supervisor(us("supervisor"))
    state = all_ready(url, said_by=os.getpid())
    home.write_state(state.model_copy(update={"children": state.children[:2]}))
    with held(home), pytest.raises(MemledgerError, match="not ready after"):
        wait(home)


def test_whoever_came_second_waits_for_the_first(home: Home, url: str) -> None:
    home.write_supervisor(us("supervisor"))
    home.write_state(all_ready(url, said_by=os.getpid()))
    with held(home):
        state, _ = wait(home, ended(f"raise SystemExit({HELD})"))
    assert state.gateway_url == url


def test_nobody_waits_for_a_first_that_gave_up(home: Home) -> None:
    with pytest.raises(MemledgerError, match="gave up"):
        wait(home, ended(f"raise SystemExit({HELD})"))


@pytest.mark.parametrize(
    ("mark", "error"), [("", MemledgerError), ("unusable: ", ConfigurationError)]
)
@pytest.mark.parametrize("problem", ["no disk", "no disk: it cannot run: unusable: by anybody"])
def test_a_supervisor_that_gave_up_is_quoted(
    home: Home, mark: str, error: type[MemledgerError], problem: str
) -> None:
    log = home.logs / "supervisor.log"
    log.write_text("cannot run: what an earlier one said\n")
    line = f"x supervisor ERROR supervisor: cannot run: {mark}{problem}"
    script = f"open({str(log)!r}, 'a').write({line!r})"

    class Late(subprocess.Popen[bytes]):
        """Says why only after it was looked at first."""

        def poll(self) -> int | None:
            self.wait()
            return super().poll()

    process = Late([sys.executable, "-c", f"{script}; raise SystemExit(1)"])
    with pytest.raises(error, match=f"gave up: {problem}$") as raised:
        wait(home, process)
    assert type(raised.value) is error


def test_in_the_foreground_the_parts_are_told_when_they_are_ready(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = all_ready("http://127.0.0.1:1", said_by=os.getpid())
    part = RunningPart(name="gateway", ready=True, detail="", address=state.gateway_url)

    class Ready:
        def __init__(self, *_: object, on_ready: Callable[[RunState], None], **__: object) -> None:
            self.run = lambda: on_ready(state)

    monkeypatch.setenv("MEMLEDGER_HOME", str(home.root))
    monkeypatch.setattr(lifecycle, "Supervisor", Ready)
    monkeypatch.setattr(lifecycle, "parts_of", lambda _, told: [part] if told is state else [])
    finished = CliRunner().invoke(lifecycle.up, ["--json"], catch_exceptions=False)
    assert json.loads(finished.stdout)["parts"] == [part.as_json()]


def test_looking_at_a_home_does_not_write_to_it(home: Home) -> None:
    assert not supervisor_holds(home)
    assert not home.lock_file.exists()
    with held(home):
        assert supervisor_holds(home)
    assert not supervisor_holds(home)
