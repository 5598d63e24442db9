"""Embedded stores without a pipeline, in a temporary directory, that are gone afterwards."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.embedded import EmbeddedBroker, EmbeddedPostgres


@contextmanager
def throwaway_home() -> Iterator[Path]:
    """Yield an empty directory that Postgres' own user can walk to; remove it on leaving."""
    root = Path(tempfile.mkdtemp(prefix="memledger-bench-"))
    root.chmod(0o755)
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


@contextmanager
def throwaway_postgres(home: Path, shared_buffers_mb: int = 256) -> Iterator[EmbeddedPostgres]:
    """Yield a running Postgres with a cache of that many MiB; stop it on leaving."""
    server = EmbeddedPostgres(home / "postgres", shared_buffers_mb=shared_buffers_mb)
    try:
        server.start()
        yield server
    finally:
        server.stop()


@contextmanager
def throwaway_broker(home: Path) -> Iterator[str]:
    """Yield a running broker's address; stop it on leaving."""
    server = EmbeddedBroker(home / "kafka")
    try:
        yield server.start()
    finally:
        server.stop()
