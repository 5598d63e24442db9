"""Noticing that a directory in use was removed, replaced or unmounted."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final, Self

from schemas.errors import MemledgerError

_GONE: Final = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.ENOTCONN, errno.ESTALE, errno.EIO},
)
"""What the system says of a path whose file was removed, or whose network or user-space file system
was unmounted or has ended."""


class HomeVanished(MemledgerError):
    """What a running pipeline keeps on disk is no longer there."""


class Anchors:
    """Remembers which files and directories stand at some paths; to be used in a ``with``."""

    def __init__(self, paths: Iterable[Path]) -> None:
        """Remember what stands at the paths now.

        Raises:
            OSError: nothing does.
        """
        # Held open: a number that is free may be given to what is made in the same place.
        self._held = {path: os.open(path, os.O_PATH) for path in paths}
        self._remembered = {path: os.fstat(held) for path, held in self._held.items()}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what is remembered."""
        for descriptor in self._held.values():
            os.close(descriptor)
        self._held.clear()

    def require_unmoved(self) -> None:
        """Return where everything is still what it was.

        Raises:
            HomeVanished: something is gone, or something else stands in its place.
        """
        for path in self._held:
            if not _stands_at(path, self._remembered[path]):
                raise HomeVanished(
                    f"{path} was removed or replaced while the pipeline ran, or its file system "
                    "is gone: everything is stopped and nothing is made anew; put it back, or "
                    "begin with another MEMLEDGER_HOME"
                )


def _stands_at(path: Path, remembered: os.stat_result) -> bool:
    try:
        return os.path.samestat(path.stat(), remembered)
    except OSError as error:
        if error.errno in _GONE:
            return False
        raise
