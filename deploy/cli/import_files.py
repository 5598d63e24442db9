"""The files that an import is given; one of them may be standard input."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, cast

from schemas.errors import InvalidInput

STANDARD_INPUT: Final = Path("-")
_STANDARD_INPUT_NAME: Final = Path("standard input")


@dataclass(frozen=True, kw_only=True, slots=True)
class GivenFile:
    """A file to import.

    Attributes:
        path: its path, or what standard input is called.
        size: its bytes.
        opened: what standard input held; ``None`` for a file that is opened by its path.
    """

    path: Path
    size: int
    opened: BinaryIO | None = None


def require_distinct(paths: Sequence[Path]) -> None:
    """Refuse standard input twice: it can be read to its end once.

    Raises:
        InvalidInput: it is.
    """
    if paths.count(STANDARD_INPUT) > 1:
        raise InvalidInput(
            field="FILE", problem="names standard input (-) more than once", remedy="name it once"
        )


@contextmanager
def given(path: Path) -> Iterator[GivenFile]:
    """Yield a file that can be read more than once, as an import does.

    Standard input is first copied into a file without a name, so that nothing of it stays behind,
    whatever ends the process.

    Args:
        path: the file, or ``-`` for standard input.
    """
    if path != STANDARD_INPUT:
        yield GivenFile(path=path, size=path.stat().st_size)
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(sys.stdin.buffer, copy)
        size = copy.tell()
        copy.seek(0)
        yield GivenFile(path=_STANDARD_INPUT_NAME, size=size, opened=cast("BinaryIO", copy))
