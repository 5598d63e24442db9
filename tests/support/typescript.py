"""Node.js and the TypeScript compiler, where they are there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

VARIABLE: Final = "MEMLEDGER_TEST_TYPESCRIPT"
"""Set to ``node``, what is missing fails the tests instead of leaving them out."""

_NODE_MAJOR_MIN: Final = 20
_PROJECT: Final = Path(__file__).parents[1] / "typescript"
_COMPILER: Final = _PROJECT / "node_modules" / "typescript" / "bin" / "tsc"
_TIMEOUT_S: Final = 120.0


def missing_typescript() -> str | None:
    """Return what is missing to run TypeScript, and how to have it; ``None`` where it is there.

    Raises:
        AssertionError: it is missing, and the variable says that it must not be.
    """
    reason = _missing()
    assert reason is None or os.environ.get(VARIABLE) != "node", f"{VARIABLE} is node, and {reason}"
    return reason


def compiled(directory: Path) -> Path:
    """Check the types of the project's TypeScript and return the directory of the JavaScript.

    Args:
        directory: an empty directory, which is the one that is returned.

    Raises:
        AssertionError: the compiler has an objection; it is told.
    """
    told = subprocess.run(
        ["node", _COMPILER, "--project", _PROJECT, "--outDir", directory],
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    # What imports is a module; without this, Node.js would have to guess so.
    (directory / "package.json").write_text('{"type": "module"}')
    return directory


def _missing() -> str | None:
    wanted = f"install Node.js {_NODE_MAJOR_MIN} or newer with npm, and run `make typescript`"
    if shutil.which("node") is None:
        return f"there is no node on the PATH: {wanted}"
    told = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    version = told.stdout.strip()
    if int(version.lstrip("v").partition(".")[0]) < _NODE_MAJOR_MIN:
        return f"node is {version}: {wanted}"
    if not _COMPILER.exists():
        return "the TypeScript compiler is not installed: run `make typescript`, which needs npm"
    return None
