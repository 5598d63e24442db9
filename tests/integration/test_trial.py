"""A trial: a pipeline on a broker that keeps nothing, told so, and begun anew with its log."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import psutil
import pytest

from deploy.cli.lifecycle import supervisor_holds
from deploy.embedded import TrialBroker
from deploy.home import Home
from deploy.supervisor.children import is_alive
from deploy.supervisor.log_mark import TRIAL_NOTE
from tests.support.command import clean_environment, memledger
from tests.support.waiting import wait_until

MEMLEDGER: Final = Path(sys.executable).with_name("memledger")

SMALL: Final = {
    "MEMLEDGER_EMBEDDER": "hash",
    "MEMLEDGER_EXTRACTOR": "verbatim",
    "MEMLEDGER_GATEWAY_PORT": "0",
    "MEMLEDGER_PARTITIONS": "1",
}


@contextmanager
def temporary_home() -> Iterator[Path]:
    """A directory that Postgres' own user can walk to."""
    root = Path(tempfile.mkdtemp(prefix="memledger-trial-"))
    root.chmod(0o755)
    try:
        yield root
    finally:
        if root.exists():
            memledger("down", environment={"MEMLEDGER_HOME": str(root)})
        shutil.rmtree(root, ignore_errors=True)


def up(environment: Mapping[str, str], *arguments: str) -> Any:
    finished = memledger(
        "up", "--detach", "--broker", "trial", "--json", *arguments, environment=environment
    )
    assert finished.status == 0, finished.errors
    return finished.json()


def running_below(root: Path) -> list[str]:
    """Return the command lines and homes of the processes that have to do with a directory."""
    return [
        command
        for process in psutil.process_iter(["cmdline"])
        if str(root) in (command := " ".join(process.info["cmdline"] or ()))
    ]


def call(home: Home, url: str, method: str, path: str, **arguments: Any) -> Any:
    key = home.api_key_file.read_text().strip()
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.request(method, f"{url}{path}", headers=headers, timeout=30, **arguments)
    assert answer.is_success, answer.text
    return answer.json()


def remembered(home: Home, url: str) -> list[str]:
    listed = call(home, url, "GET", "/v1/memories", params={"user_id": "ann"})
    return [memory["content"] for memory in listed["memories"]]


def test_a_trial_is_found_by_all_begins_anew_with_its_log_and_ends_with_its_home() -> None:
    with temporary_home() as root:
        home = Home(root)
        environment = {**SMALL, "MEMLEDGER_HOME": str(root)}
        with ThreadPoolExecutor(2) as pool:
            started = list(pool.map(up, [environment] * 2))
        assert len({one["url"] for one in started}) == 1
        url, key = started[0]["url"], home.api_key_file.read_text()
        (broker,) = (part for part in started[0]["parts"] if part["name"] == "trial-broker")
        assert broker["note"] == TRIAL_NOTE
        refused = memledger("up", "--detach", "--broker", "kafka", environment=environment)
        assert (refused.status, "go on with --broker trial" in refused.errors) == (2, True)

        turn = {"user_id": "ann", "conversation_id": "c", "user_text": "I live in Pune."}
        position = call(home, url, "POST", "/v1/turns", json=turn)["position"]
        question = {"user_id": "ann", "query": "Where?", "at_least": position}
        call(home, url, "POST", "/v1/recall", json=question)
        assert remembered(home, url) == ["I live in Pune."]

        pid = TrialBroker(home.trial_broker).pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        log = home.logs / "supervisor.log"
        wait_until(lambda: "begins anew" in log.read_text(), what="a new beginning", timeout_s=60)
        again = up(environment)
        assert (again["url"], home.api_key_file.read_text()) == (url, key)
        assert remembered(home, url) == []

        state, supervisor = home.read_state(), home.read_supervisor()
        assert state is not None
        assert supervisor is not None
        processes = [*state.children, supervisor]
        moved = root.with_name(f"{root.name}-moved")
        root.rename(moved)
        try:
            wait_until(
                lambda: not any(map(is_alive, processes)) and running_below(root) == [],
                what="everything to be stopped",
                timeout_s=60,
            )
            assert not root.exists()
            told = (moved / "logs" / "supervisor.log").read_text()
            assert f"{root}/run/supervisor.lock was removed or replaced" in told
        finally:
            shutil.rmtree(moved)


def test_a_home_on_a_lasting_log_takes_no_trial(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text('{"lasting": true}')
    environment = {**SMALL, "MEMLEDGER_HOME": str(tmp_path)}
    refused = memledger("up", "--detach", "--broker", "trial", environment=environment)
    assert refused.status == 2
    assert "another MEMLEDGER_HOME" in refused.errors
    assert not supervisor_holds(Home(tmp_path))


@pytest.mark.parametrize("end", ["terminated", "unheard"])
def test_a_demonstration_that_is_cut_off_leaves_nothing(end: str, tmp_path: Path) -> None:
    temporary = tmp_path if os.geteuid() else Path(tempfile.mkdtemp(prefix="memledger-cut-"))
    temporary.chmod(0o755)
    environment = {
        **clean_environment(),
        **SMALL,
        "MEMLEDGER_BROKER": "trial",
        "MEMLEDGER_HOME": str(temporary / "nothing-runs-here"),
        "TMPDIR": str(temporary),
    }
    reading, writing = os.pipe()
    try:
        demo = subprocess.Popen(
            [MEMLEDGER, "demo"], env=environment, stdout=subprocess.DEVNULL, stderr=writing
        )
        os.close(writing)
        if end == "terminated":
            wait_until(lambda: any(temporary.glob("*/run/supervisor.json")), what="a supervisor")
            demo.terminate()
            assert demo.wait(60) == 128 + signal.SIGTERM
        else:
            # The reader of its progress goes away, as `head` does.
            os.close(reading)
            reading = -1
            assert demo.wait(60) != 0
        assert running_below(temporary) == []
        assert list(temporary.iterdir()) == []
    finally:
        if reading != -1:
            os.close(reading)
        if temporary != tmp_path:
            shutil.rmtree(temporary, ignore_errors=True)
