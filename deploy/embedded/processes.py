"""Processes that outlive the one that started them."""

import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import psutil

from deploy.embedded.accounts import ServiceAccount

# The programs need nothing of the caller's environment, whose PG* variables would mislead them.
ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"}

_POLL_SECONDS = 0.02

# The shell puts the program in the background, prints its process id and ends, so that the program
# belongs to init: it neither dies with its starter nor stays behind as the starter's zombie.
_DETACH = '"$@" >&2 & echo $!'


def wait_until(condition: Callable[[], bool], *, timeout_seconds: float) -> bool:
    """Poll until a condition holds.

    Args:
        condition: Asked at least once, then every 20 ms.
        timeout_seconds: How long to go on asking.

    Returns:
        Whether it held in time.
    """
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def run_tool(
    command: Sequence[str | Path],
    *,
    directory: Path,
    timeout_seconds: float,
    account: ServiceAccount | None = None,
) -> str | None:
    """Run a program to its end.

    Args:
        command: The program and its arguments.
        directory: The directory it runs in.
        timeout_seconds: How long it may take before it is killed.
        account: Whom it runs as; the caller where left out.

    Returns:
        None where it succeeded; else what it wrote.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=ENVIRONMENT,
            cwd=directory,
            user=account.user_id if account else None,
            group=account.group_id if account else None,
            extra_groups=[] if account else None,
            timeout=timeout_seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{command[0]} did not end within {timeout_seconds:.0f} seconds"
    return None if done.returncode == 0 else done.stdout


def launch_detached(
    command: Sequence[str | Path],
    *,
    output: IO[bytes],
    directory: Path,
    account: ServiceAccount | None = None,
) -> int:
    """Start a program in a session of its own that survives this process.

    Args:
        command: The program and its arguments.
        output: Open file that receives its standard output and standard error.
        directory: The directory it runs in.
        account: Whom it runs as; the caller where left out.

    Returns:
        Its process id.
    """
    shell = subprocess.run(
        ["/bin/sh", "-c", _DETACH, "sh", *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=output,
        env=ENVIRONMENT,
        cwd=directory,
        start_new_session=True,
        user=account.user_id if account else None,
        group=account.group_id if account else None,
        extra_groups=[] if account else None,
        check=True,
    )
    return int(shell.stdout)


def living(pid: int) -> psutil.Process | None:
    """Find a process that still runs; a zombie, which can do nothing any more, does not.

    Args:
        pid: The process id.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
    except psutil.NoSuchProcess:
        return None
    return process


def has_ended(process: psutil.Process) -> bool:
    """Tell whether a process is gone, or its id belongs to another by now.

    Args:
        process: The process as it was found.
    """
    return living(process.pid) != process


def end(process: psutil.Process, number: signal.Signals, *, timeout_seconds: float) -> bool:
    """Send a process a signal and wait for its end.

    Args:
        process: The process.
        number: The signal.
        timeout_seconds: How long to wait.

    Returns:
        Whether it ended in time.
    """
    try:
        process.send_signal(number)
    except psutil.NoSuchProcess:
        return True
    return wait_until(lambda: has_ended(process), timeout_seconds=timeout_seconds)
