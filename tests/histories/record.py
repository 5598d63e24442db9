"""``python -m tests.histories.record NAME`` records today's scenario as a new golden log.

It is run once for each change of a schema that lands, after its new version is in
``schemas.registry`` and ``tests/histories/scenario.py`` makes use of it. What lies there already
is refused: a golden log stands for logs that were written, so it is never changed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.histories.golden import LOGS, write_log
from tests.histories.scenario import today

_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


def record(name: str, directory: Path = LOGS) -> Path:
    """Record today's scenario under the next number and return where it lies.

    Args:
        name: what the log shows, in small letters with underscores.
        directory: where the golden logs lie.

    Raises:
        ValueError: the name cannot be one of a directory here, or another log has it.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name for a log: use a-z, 0-9 and single underscores")
    present = sorted(path.name for path in directory.iterdir()) if directory.is_dir() else []
    if any(other.partition("_")[2] == name for other in present):
        raise ValueError(f"a log named {name} is there and never changes: choose another name")
    number = 1 + max((int(other.partition("_")[0]) for other in present), default=0)
    path = directory / f"{number:04d}_{name}"
    write_log(path, today(path.name))
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """Record a log and return the exit status."""
    parser = argparse.ArgumentParser(description="Record today's scenario as a golden log.")
    parser.add_argument("name", help="what it shows, such as first_records")
    try:
        path = record(parser.parse_args(arguments).name)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write(f"recorded {path.name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
