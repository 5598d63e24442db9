"""Letting another account walk to a directory of pytest's, all of which are closed to others."""

from __future__ import annotations

import tempfile
from pathlib import Path


def open_up(directory: Path) -> None:
    """Open a directory, and those above it up to the one for temporary files, to everybody."""
    top = Path(tempfile.gettempdir())
    for step in (directory, *directory.parents):
        if step == top:
            return
        step.chmod(0o755)
