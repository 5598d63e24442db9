"""The broker's jars: resolved once with Maven, checked against checksums at every use."""

import hashlib
import logging
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from deploy.embedded.directories import explained, locked, make_writable
from deploy.embedded.errors import (
    JarChecksumMismatchError,
    JarsUnavailableError,
    MavenMissingError,
)

JARS_VARIABLE = "MEMLEDGER_KAFKA_JARS"
KAFKA_DIRECTORY = Path(__file__).parent / "kafka"

_CACHE_NAME = "kafka-4.4.0"
# On a slow line: about 45 MB of jars, and as much again of Maven's own plugins the first time.
_MAVEN_TIMEOUT_SECONDS = 900.0
_DETAIL_LINES = 3

_logger = logging.getLogger(__name__)


def jars_directory() -> Path:
    """Give the directory in which the jars are looked for and kept.

    Returns:
        `MEMLEDGER_KAFKA_JARS` where set; else `memledger/kafka-4.4.0` in `XDG_CACHE_HOME`, or in
        `~/.cache`.
    """
    chosen = os.environ.get(JARS_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    # The XDG base directory specification: a relative path is invalid and ignored.
    base = Path(cache) if cache and Path(cache).is_absolute() else Path.home() / ".cache"
    return base / "memledger" / _CACHE_NAME


def pinned_checksums() -> dict[str, str]:
    """Read the checksums that the project was released with.

    Returns:
        SHA-256 in lower-case hexadecimal by file name, in the order of the class path.
    """
    lines = (KAFKA_DIRECTORY / "jars.sha256").read_text(encoding="ascii").splitlines()
    return {name: digest for digest, name in (line.split() for line in lines)}


def resolve_jars(directory: Path | None = None) -> tuple[Path, ...]:
    """Give the verified jars, resolving them with Maven where the set is not complete.

    Several processes may do this at once: one resolves, the others wait for it.

    Args:
        directory: Where they are kept; `jars_directory()` where left out.

    Returns:
        The jars in the order of the class path.

    Raises:
        JarChecksumMismatchError: A file is not the one that was pinned.
        MavenMissingError: They have to be resolved and there is no Maven.
        JarsUnavailableError: Maven did not deliver exactly the pinned files.
        DataDirectoryError: The cache cannot be written.
    """
    directory = directory or jars_directory()
    pinned = pinned_checksums()
    if not is_complete(directory, pinned):
        maven = shutil.which("mvn")
        if maven is None:
            raise MavenMissingError(directory)
        make_writable(directory.parent, mode=0o755)
        with locked(
            directory.with_name(f".{directory.name}.lock"), timeout_seconds=_MAVEN_TIMEOUT_SECONDS
        ):
            # Another process may have resolved them while this one waited for the lock.
            if not is_complete(directory, pinned):
                _resolve_into(directory, pinned, maven)
    verify(directory, pinned)
    return tuple(directory / name for name in pinned)


def are_at_hand() -> bool:
    """Tell whether the jars need not be fetched."""
    return is_complete(jars_directory(), pinned_checksums())


def is_complete(directory: Path, pinned: dict[str, str]) -> bool:
    """Tell whether a directory holds the pinned file names and no others.

    Args:
        directory: The directory; it may be missing.
        pinned: SHA-256 by file name.
    """
    return directory.is_dir() and {file.name for file in directory.iterdir()} == set(pinned)


def verify(directory: Path, pinned: dict[str, str]) -> None:
    """Check every jar's content.

    Args:
        directory: The directory that holds them all.
        pinned: SHA-256 by file name.

    Raises:
        JarChecksumMismatchError: A file differs.
    """
    for name, digest in pinned.items():
        jar = directory / name
        with jar.open("rb") as content:
            if hashlib.file_digest(content, "sha256").hexdigest() != digest:
                raise JarChecksumMismatchError(jar)


def _resolve_into(directory: Path, pinned: dict[str, str], maven: str) -> None:
    _logger.info("fetching the embedded broker's jars with Maven into %s, once", directory)
    with explained(directory.parent):
        workspace = Path(tempfile.mkdtemp(dir=directory.parent, prefix=f".{directory.name}."))
    try:
        fetched = workspace / "fetched"
        _run_maven(maven, fetched)
        if not is_complete(fetched, pinned):
            raise JarsUnavailableError(_difference(fetched, pinned))
        verify(fetched, pinned)
        with explained(directory):
            workspace.chmod(0o755)
            if directory.exists():
                directory.replace(workspace / "replaced")
            fetched.replace(directory)
    finally:
        shutil.rmtree(workspace, ignore_errors=True)


def _run_maven(maven: str, destination: Path) -> None:
    command = [
        maven,
        "--batch-mode",
        "--quiet",
        f"--file={KAFKA_DIRECTORY / 'pom.xml'}",
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={destination}",
    ]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_MAVEN_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise JarsUnavailableError(
            f"it did not end within {_MAVEN_TIMEOUT_SECONDS:.0f} seconds"
        ) from error
    except OSError as error:
        raise JarsUnavailableError(f"{maven} could not be run ({error.strerror})") from error
    if done.returncode != 0:
        raise JarsUnavailableError(_first_errors(done.stdout) or f"exit status {done.returncode}")


def _first_errors(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if "ERROR" in line]
    return " | ".join(lines[:_DETAIL_LINES])


def _difference(directory: Path, pinned: dict[str, str]) -> str:
    found = {file.name for file in directory.iterdir()} if directory.is_dir() else set()
    missing = ", ".join(sorted(set(pinned) - found)) or "nothing"
    unknown = ", ".join(sorted(found - set(pinned))) or "nothing"
    return f"it delivered other files than the pinned ones ({missing} missing, {unknown} unknown)"
