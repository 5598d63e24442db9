"""Telling a data directory's postmaster from a stranger that has its process id."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from deploy.embedded.postmaster import clear_remains, find_postmaster
from deploy.embedded.processes import end, launch_detached


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    cluster = (tmp_path / "cluster").resolve()
    cluster.mkdir()
    return cluster


@pytest.fixture
def look_alike(tmp_path: Path, cluster: Path) -> Iterator[psutil.Process]:
    """A process that is called postgres and works in the data directory."""
    program = tmp_path / "postgres"
    shutil.copy("/bin/sleep", program)
    with (tmp_path / "output").open("wb") as output:
        pid = launch_detached([program, "60"], output=output, directory=cluster)
    process = psutil.Process(pid)
    yield process
    end(process, signal.SIGKILL, timeout_seconds=5.0)


def write_pid_file(cluster: Path, pid: int, *more: str) -> Path:
    path = cluster / "postmaster.pid"
    path.write_text("\n".join([str(pid), str(cluster), "1700000000", *more]) + "\n")
    return path


def test_a_postmaster_is_found_with_port_and_status(
    cluster: Path, look_alike: psutil.Process
) -> None:
    write_pid_file(cluster, look_alike.pid, "5433", "", "127.0.0.1", "", "ready   ")

    found = find_postmaster(cluster)

    assert found is not None
    assert (found.process.pid, found.port) == (look_alike.pid, 5433)
    assert found.is_ready
    assert not found.is_stopping


def test_a_postmaster_in_its_first_moments_is_not_ready(
    cluster: Path, look_alike: psutil.Process
) -> None:
    write_pid_file(cluster, look_alike.pid)

    found = find_postmaster(cluster)

    assert found is not None
    assert (found.port, found.status, found.is_ready) == (None, None, False)


@pytest.mark.parametrize("content", [None, "", "\n", "garbage\n", "-1\n", "999999999\n"])
def test_a_pid_file_that_names_nobody_finds_nothing(cluster: Path, content: str | None) -> None:
    if content is not None:
        (cluster / "postmaster.pid").write_text(content)

    assert find_postmaster(cluster) is None


def test_another_program_with_the_id_is_not_the_postmaster(cluster: Path) -> None:
    pid_file = write_pid_file(cluster, os.getpid())

    assert find_postmaster(cluster) is None
    assert clear_remains(cluster, timeout_seconds=0.0)
    assert not pid_file.exists()


def test_the_postgres_of_another_directory_is_not_the_postmaster(
    tmp_path: Path, cluster: Path, look_alike: psutil.Process
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_pid_file(other, look_alike.pid)

    assert find_postmaster(other) is None
    assert clear_remains(other, timeout_seconds=0.0)
    assert find_postmaster(cluster) is None


def test_the_pid_file_stays_while_any_server_process_is_left(
    cluster: Path, look_alike: psutil.Process
) -> None:
    pid_file = write_pid_file(cluster, os.getpid())

    assert not clear_remains(cluster, timeout_seconds=0.05)
    assert pid_file.exists()

    assert end(look_alike, signal.SIGKILL, timeout_seconds=5.0)
    assert clear_remains(cluster, timeout_seconds=0.0)
    assert not pid_file.exists()


@pytest.mark.parametrize(("owns_the_cluster", "is_cleared"), [(True, False), (False, True)])
def test_a_postgres_that_hides_counts_only_where_it_could_serve_the_directory(
    cluster: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    owns_the_cluster: bool,
    is_cleared: bool,
) -> None:
    owner = cluster.stat().st_uid

    def deny() -> str:
        raise psutil.AccessDenied

    hidden = SimpleNamespace(
        name=lambda: "postgres",
        status=lambda: psutil.STATUS_SLEEPING,
        uids=lambda: SimpleNamespace(effective=owner if owns_the_cluster else owner + 1),
        cwd=deny,
    )
    monkeypatch.setattr(psutil, "process_iter", lambda: iter([hidden]))

    assert clear_remains(cluster, timeout_seconds=0.0) is is_cleared
