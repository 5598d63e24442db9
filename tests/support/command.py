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
from unittest import mock

from click.testing import CliRunner

from deploy.cli import main
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


def memledger_here(*arguments: str, environment: Mapping[str, str]) -> Finished:
    """Run ``memledger`` likewise, but in this process, which spares a second of imports.

    For verbs of which a test asks what they do: not how a process of theirs starts and ends.
    """
    with mock.patch.dict(os.environ, {**clean_environment(), **environment}, clear=True):
        ran = CliRunner().invoke(main, arguments, prog_name="memledger")
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return Finished(status=ran.exit_code, output=ran.stdout, errors=ran.stderr)
