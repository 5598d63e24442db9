"""Processes that outlive their starter, and how their end is told."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from deploy.embedded.processes import (
    end,
    has_ended,
    launch_detached,
    living,
    run_tool,
    wait_until,
)


@contextmanager
def detached(tmp_path: Path, script: str) -> Iterator[psutil.Process]:
    with (tmp_path / "output").open("wb") as output:
        pid = launch_detached(["/bin/sh", "-c", script], output=output, directory=tmp_path)
    process = psutil.Process(pid)
    try:
        yield process
    finally:
        end(process, signal.SIGKILL, timeout_seconds=5.0)


def test_a_detached_process_is_no_child_and_has_its_own_session(tmp_path: Path) -> None:
    with detached(tmp_path, "echo started; exec sleep 60") as process:
        assert process.ppid() != os.getpid()
        assert os.getsid(process.pid) != os.getsid(0)
        output = tmp_path / "output"
        assert wait_until(lambda: output.read_text() == "started\n", timeout_seconds=5.0)


def test_words_reach_a_detached_process_as_they_are(tmp_path: Path) -> None:
    word = "a b'c\"d$HOME;e\\f*"
    with (tmp_path / "output").open("wb") as output:
        launch_detached(["/bin/echo", word], output=output, directory=tmp_path)

    output_file = tmp_path / "output"
    assert wait_until(lambda: output_file.read_text() == f"{word}\n", timeout_seconds=5.0)


def test_an_ended_process_is_told_from_a_living_one(tmp_path: Path) -> None:
    with detached(tmp_path, "exec sleep 60") as process:
        assert living(process.pid) == process
        assert not has_ended(process)

        assert end(process, signal.SIGTERM, timeout_seconds=5.0)

        assert living(process.pid) is None
        assert has_ended(process)


def test_a_process_that_ignores_the_signal_is_reported(tmp_path: Path) -> None:
    with detached(tmp_path, "trap '' TERM; echo deaf; while :; do sleep 1; done") as process:
        output = tmp_path / "output"
        assert wait_until(lambda: output.read_text() == "deaf\n", timeout_seconds=5.0)

        assert not end(process, signal.SIGTERM, timeout_seconds=0.1)


def test_a_zombie_does_not_live() -> None:
    with subprocess.Popen(["/bin/true"]) as child:
        assert wait_until(lambda: living(child.pid) is None, timeout_seconds=5.0)
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE


def test_a_condition_is_asked_once_even_without_time() -> None:
    assert wait_until(lambda: True, timeout_seconds=0.0)
    assert not wait_until(lambda: False, timeout_seconds=0.0)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("echo fine", None),
        ("echo one; echo two >&2; exit 3", "one\ntwo\n"),
        ("exec sleep 60", "/bin/sh did not end within 0 seconds"),
    ],
)
def test_a_tool_answers_only_where_it_failed(
    tmp_path: Path, script: str, expected: str | None
) -> None:
    command = ["/bin/sh", "-c", script]

    assert run_tool(command, directory=tmp_path, timeout_seconds=0.4) == expected
