"""Directories and files of the embedded stores: made, locked, written whole."""

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded.errors import (
    DataDirectoryNotWritableError,
    DiskFullError,
    StoreBusyError,
)
from deploy.embedded.processes import wait_until

# ENOSPC and EDQUOT: to the user, a used-up quota is a full disk.
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn an operating-system error of the body into one that says what to do.

    Args:
        path: The directory or file that the body writes.

    Raises:
        DiskFullError: No space or quota is left.
        DataDirectoryNotWritableError: Any other reason why it cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFullError(path) from error
        reason = error.strerror or str(error)
        raise DataDirectoryNotWritableError(path, reason[:1].lower() + reason[1:]) from error


def make_writable(path: Path, *, mode: int) -> None:
    """Make a directory with its missing parents, and prove that it can be written.

    Args:
        path: The directory; one that exists keeps its mode.
        mode: Permissions of each directory that has to be made, whatever the umask.

    Raises:
        DataDirectoryError: It cannot be made or written.
    """
    with explained(path):
        missing = [parent for parent in (path, *path.parents) if not parent.exists()]
        for directory in reversed(missing):
            directory.mkdir(exist_ok=True)
            directory.chmod(mode)
        with tempfile.TemporaryFile(dir=path) as probe:
            probe.write(b"0")


def write_private(path: Path, text: str) -> None:
    """Replace a file by one that only its owner can read; a crash leaves the old or the new one.

    Args:
        path: The file to replace.
        text: Its new content, written as UTF-8.

    Raises:
        DataDirectoryError: It cannot be written.
    """
    with explained(path):
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        sync_directory(path.parent)


@contextmanager
def made_whole(path: Path) -> Iterator[Path]:
    """Let the body fill a new directory that takes its name only when the body has succeeded.

    What an earlier attempt left that was cut off is removed first. The new directory has a name of
    its own, so that a program such an attempt left running cannot write into it.

    Args:
        path: The directory to make; it does not exist.

    Yields:
        The directory to fill, beside `path`.

    Raises:
        DataDirectoryError: It cannot be written.
    """
    prefix = f"{path.name}.partial-"
    with explained(path):
        for leftover in path.parent.glob(f"{prefix}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        partial = Path(tempfile.mkdtemp(dir=path.parent, prefix=prefix))
        try:
            yield partial
            partial.replace(path)
            sync_directory(path.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def sync_directory(path: Path) -> None:
    """Make the names in a directory survive a power cut.

    Args:
        path: The directory.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def locked(path: Path, *, timeout_seconds: float) -> Iterator[None]:
    """Hold a lock among processes while the body runs; a process that dies lets go of it.

    Args:
        path: The lock file; it is made where missing and stays.
        timeout_seconds: How long to wait for another holder.

    Raises:
        StoreBusyError: Another process held it for all that time.
        DataDirectoryError: The lock file cannot be made.
    """
    with explained(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if not wait_until(lambda: _try_lock(descriptor), timeout_seconds=timeout_seconds):
            raise StoreBusyError(path, timeout_seconds)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
