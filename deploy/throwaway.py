"""A pipeline of its own, in a temporary directory, that is gone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from rich.console import Console

from deploy.addresses import running_settings
from deploy.cli.lifecycle import start_detached, stop, wait_until_ready
from deploy.home import Home, RunState

READY_TIMEOUT_S: Final = 180.0

_OTHERS_STORES: Final = (
    "DATABASE_URL",
    "KAFKA_BOOTSTRAP",
    "MEMLEDGER_BROKER",
    "MEMLEDGER_KEYRING_URL",
    "MEMLEDGER_KEY_DIRECTORY",
)


@contextmanager
def throwaway_pipeline(
    announce: Console,
    *,
    prefix: str,
    purpose: str,
    environment: Mapping[str, str] | None = None,
    keep_stores: bool = True,
) -> Iterator[tuple[Home, RunState]]:
    """Yield a running pipeline; stop it and remove its home on leaving.

    While it runs, this process' environment names its home, so that everything that reads the
    settings finds it.

    Args:
        announce: told of each step.
        prefix: how the directory's name begins.
        purpose: what it was started for, to be told when it is stopped.
        environment: variables to set for it.
        keep_stores: whether stores that the environment names are used, as by ``memledger up``;
            without, both are embedded whatever it names.

    Raises:
        MemledgerError: it did not get ready.
    """
    root = Path(tempfile.mkdtemp(prefix=prefix))
    root.chmod(0o755)  # Postgres runs as its own user under root, and must be able to walk here
    with _environment(
        {
            "MEMLEDGER_HOME": str(root),
            "MEMLEDGER_GATEWAY_PORT": "0",
            **dict.fromkeys(() if keep_stores else _OTHERS_STORES),
            **(environment or {}),
        }
    ):
        home = Home(root).make()
        try:
            supervisor = start_detached(home, workers=1)
            state = wait_until_ready(
                home, timeout_s=READY_TIMEOUT_S, announce=announce, supervisor=supervisor
            )
            yield home, state
        finally:
            # Told first, but stopped whether or not anybody is left to be told.
            with contextlib.suppress(OSError):
                announce.print(f"· stopping what was started for {purpose}")
            try:
                stop(running_settings(), home)
            finally:
                shutil.rmtree(root, ignore_errors=True)


@contextmanager
def _environment(wanted: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or unset those that are ``None``, and put all back on leaving."""
    before = {name: os.environ.get(name) for name in wanted}
    _apply(wanted)
    try:
        yield
    finally:
        _apply(before)


def _apply(variables: Mapping[str, str | None]) -> None:
    for name, value in variables.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
