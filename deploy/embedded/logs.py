"""Log files of the embedded stores."""

from pathlib import Path

# How the system's ENOSPC reads in the logs of PostgreSQL and of Java.
NO_SPACE = "No space left on device"
ADDRESS_IN_USE = "Address already in use"

_LINES_MAX = 15
_TAIL_BYTES_MAX = 16_384


def size(log: Path) -> int:
    """Give a log's size.

    Args:
        log: The log file; one that is missing has the size 0.

    Returns:
        Size in bytes.
    """
    try:
        return log.stat().st_size
    except FileNotFoundError:
        return 0


def rotate(log: Path, *, bytes_max: int) -> None:
    """Move a log that has grown large aside, over the one that was moved there before.

    Args:
        log: The log file; nothing writes to it now.
        bytes_max: The size from which it is moved.
    """
    if size(log) > bytes_max:
        log.replace(log.with_name(f"{log.name}.1"))


def last_lines(log: Path, *, since: int = 0) -> tuple[str, ...]:
    """Read the end of a log.

    Args:
        log: The log file.
        since: Position in bytes before which nothing is read.

    Returns:
        At most 15 lines that are not blank, oldest first; none where the file is missing.
    """
    try:
        with log.open("rb") as file:
            length = file.seek(0, 2)
            file.seek(max(0, min(since, length), length - _TAIL_BYTES_MAX))
            text = file.read().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return ()
    return last_of(text)


def last_of(text: str) -> tuple[str, ...]:
    """Give the end of what a program wrote.

    Args:
        text: All of it.

    Returns:
        At most 15 lines that are not blank, oldest first.
    """
    return tuple(line for line in text.splitlines() if line.strip())[-_LINES_MAX:]
