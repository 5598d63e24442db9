"""The postmaster of a data directory: found, told from a stranger, waited for."""

from dataclasses import dataclass
from pathlib import Path

import psutil

from deploy.embedded.processes import living, wait_until

_PID_FILE = "postmaster.pid"
_PROGRAM = "postgres"

# Lines of postmaster.pid (PostgreSQL's src/include/utils/pidfile.h), counted from 0.
_PID_LINE = 0
_PORT_LINE = 3
_STATUS_LINE = 7
_READY = "ready"
_STOPPING = "stopping"


@dataclass(frozen=True, kw_only=True)
class Postmaster:
    """A running postmaster.

    Attributes:
        process: Its process.
        port: The TCP port it was told to listen on; None in the first moments of its life.
        status: "starting", "ready" or "stopping"; None in the first moments of its life.
    """

    process: psutil.Process
    port: int | None
    status: str | None

    @property
    def is_ready(self) -> bool:
        """Whether it answers connections."""
        return self.status == _READY

    @property
    def is_stopping(self) -> bool:
        """Whether it was told to stop, and takes no new connections."""
        return self.status == _STOPPING


def find_postmaster(cluster: Path) -> Postmaster | None:
    """Find the postmaster that serves a data directory.

    Args:
        cluster: PostgreSQL's own data directory, resolved; it may be missing.

    Returns:
        The postmaster; None where the pid file is missing or names a process that is none.
    """
    lines = _pid_file_lines(cluster)
    process = _named_process(lines, cluster)
    if process is None:
        return None
    port = lines[_PORT_LINE].strip() if len(lines) > _PORT_LINE else ""
    status = lines[_STATUS_LINE].strip() if len(lines) > _STATUS_LINE else ""
    return Postmaster(
        process=process, port=int(port) if port.isdigit() else None, status=status or None
    )


def clear_remains(cluster: Path, *, timeout_seconds: float) -> bool:
    """Make way for a new postmaster after one that was killed.

    Its children notice and end by themselves; only when none is left is it safe to remove the pid
    file. That is done because PostgreSQL itself refuses to start while the file names any living
    process or zombie, whatever program that is by now.

    Args:
        cluster: PostgreSQL's own data directory, resolved, without a postmaster.
        timeout_seconds: How long to wait for the children.

    Returns:
        Whether all children ended in time; where not, nothing was removed.
    """
    if not wait_until(lambda: not _has_server_process(cluster), timeout_seconds=timeout_seconds):
        return False
    (cluster / _PID_FILE).unlink(missing_ok=True)
    return True


def _pid_file_lines(cluster: Path) -> list[str]:
    try:
        return (cluster / _PID_FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []


def _named_process(lines: list[str], cluster: Path) -> psutil.Process | None:
    text = lines[_PID_LINE].strip() if lines else ""
    process = living(int(text)) if text.isdigit() else None
    return process if process is not None and _serves(process, cluster) else None


def _has_server_process(cluster: Path) -> bool:
    return any(_serves(process, cluster) for process in psutil.process_iter())


def _serves(process: psutil.Process, cluster: Path) -> bool:
    try:
        if process.name() != _PROGRAM or process.status() == psutil.STATUS_ZOMBIE:
            return False
        # PostgreSQL runs only as the owner of its data directory, and works in it.
        if process.uids().effective != cluster.stat().st_uid:
            return False
        return process.cwd() == str(cluster)
    except psutil.NoSuchProcess:
        return False
    except psutil.AccessDenied:
        # The owner's postgres that hides where it works is never taken for a stranger.
        return True
