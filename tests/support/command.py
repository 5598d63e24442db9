"""Running the command line as a user does: another process, its output and its exit status."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.brokers import broker_choice

_TIMEOUT_S = 180.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Finished:
    """What a run of the command left.

    Attributes:
        status: the exit status.
        output: standard output.
        errors: standard error.
    """

    status: int
    output: str
    errors: str

    def json(self) -> Any:
        """Return standard output as the one JSON document that it is."""
        return json.loads(self.output)


def clean_environment() -> dict[str, str]:
    """Return this process' environment without settings, but for the kind of broker of this run.

    The width of whatever terminal the tests run in is left out too.
    """
    clean = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMLEDGER_", "DATABASE_URL", "KAFKA_BOOTSTRAP", "COLUMNS"))
    }
    if broker_choice().kind == "trial":
        clean["MEMLEDGER_BROKER"] = "trial"
    return clean


def memledger(*arguments: str, environment: Mapping[str, str]) -> Finished:
    """Run ``memledger`` with nothing of ours in its environment but what is given.

    A broker that it is to embed is of the kind that this run has.
    """
    command = Path(sys.executable).with_name("memledger")
    finished = subprocess.run(
        [command, *arguments],
        env={**clean_environment(), **environment},
        capture_output=True,
        text=True,
        timeout=_TIMEOUT_S,
        check=False,
    )
    return Finished(status=finished.returncode, output=finished.stdout, errors=finished.stderr)
