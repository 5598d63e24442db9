"""Noticing that a directory in use was removed, replaced or unmounted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from schemas.errors import MemledgerError

_Identity: TypeAlias = tuple[int, int]


class HomeVanished(MemledgerError):
    """What a running pipeline keeps on disk is no longer there."""


class Anchors:
    """Remembers which files and directories stand at some paths."""

    def __init__(self, paths: Iterable[Path]) -> None:
        """Remember what stands at the paths now."""
        self._identities = {path: _identity(path) for path in paths}

    def require_unmoved(self) -> None:
        """Return where everything is still what it was.

        Raises:
            HomeVanished: something is gone, or something else stands in its place.
        """
        for path, identity in self._identities.items():
            if _identity(path) != identity:
                raise HomeVanished(
                    f"{path} was removed or replaced while the pipeline ran: everything is "
                    "stopped and nothing is made anew; put it back, or begin with another "
                    "MEMLEDGER_HOME"
                )


def _identity(path: Path) -> _Identity | None:
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
