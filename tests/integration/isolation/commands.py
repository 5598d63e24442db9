"""Every verb of the command line: what is asked with it, and why some need not be asked."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from click.testing import CliRunner

from deploy.cli import main
from tests.integration.isolation.doors import NOBODYS
from tests.integration.isolation.people import Person
from tests.integration.isolation.scene import IsolationScene

NOT_RUN: Final[Mapping[str, str]] = {
    **dict.fromkeys(("up", "down", "status", "keys"), "the operator's, and tells of no user"),
    **dict.fromkeys(("demo", "eval", "bench"), "makes users of its own"),
    **dict.fromkeys(("import", "remember", "consolidate"), "tells what was appended, not words"),
    **dict.fromkeys(("pause", "resume"), "tells of one user whether memory is paused, no words"),
    "page-link": "prints a token, with which every door under /v1/me is asked",
    "mcp": "asks the gateway as an API key does; its tools are asked over HTTP",
    "audit": "counts turns, and tells of no user",
    "costs": "sums by tenant and model, and tells of no user",
}
"""By verb, why it tells nothing that could be another's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What a run of the command told.

    Attributes:
        arguments: what was run.
        status: the exit status.
        output: standard output.
        errors: standard error.
    """

    arguments: Sequence[str]
    status: int
    output: str
    errors: str


class CommandLine:
    """Runs the command in this process, against the stores of a scene."""

    def __init__(self, scene: IsolationScene, home: Path) -> None:
        self._environment = scene.environment | {
            "MEMLEDGER_HOME": str(home),
            "MEMLEDGER_EMBEDDER": "hash",
            "MEMLEDGER_EMBEDDER_DIMENSION": "64",
            "MEMLEDGER_PARTITIONS": "4",
        }

    def run(self, *arguments: str) -> Run:
        """Return what came of a run."""
        ran = CliRunner().invoke(main, arguments, env=self._environment)
        if ran.exception is not None and not isinstance(ran.exception, SystemExit):
            raise ran.exception
        return Run(arguments=arguments, status=ran.exit_code, output=ran.stdout, errors=ran.stderr)


def listing(reader: Person, other: Person) -> Iterator[list[str]]:
    """Yield every run that tells a reader of what is kept on them."""
    whose = ["--user", reader.user_id, "--tenant", reader.tenant, "--json"]
    words = " ".join(other.word(kind) for kind in "frs")
    yield ["recall", words, "--min-similarity", "-1", *whose]
    yield ["memories", "--history", *whose]
    yield ["profile", *whose]
    yield ["summaries", *whose]
    yield ["export", *whose]
    yield ["turns", "--closing", "all", *whose]
    yield ["files", *whose]
    yield ["flags", "--state", "all", *whose]


def naming(reader: Person, other: Person) -> Iterator[tuple[list[str], list[str]]]:
    """Yield every run that names something of another user, and the same of nobody's."""
    whose = ["--user", reader.user_id, "--tenant", reader.tenant, "--json"]
    decided = ["--timeout", "0"]
    verbs = {
        ("recalls",): ("recall", []),
        ("turn",): ("turn", []),
        ("memory", "correct"): ("memory", ["--content", "Keeps nothing", *decided]),
        ("memory", "pin"): ("memory", decided),
        ("memory", "delete"): ("memory", ["--yes", *decided]),
    }
    for verb, (kind, more) in verbs.items():
        theirs, nobodys = ([*verb, one, *more, *whose] for one in (other.ids[kind], NOBODYS))
        yield theirs, nobodys
    if reader.tenant != other.tenant:
        ruling = ["--reason", "so", *decided, "--tenant", reader.tenant, "--json"]
        # Staff decides about everybody's of the tenant.
        theirs, nobodys = (
            ["flags", "approve", one, *ruling] for one in (other.ids["flag"], NOBODYS)
        )
        yield theirs, nobodys
    shown, none = (["files", "show", path, *whose] for path in (other.path, "/memories/none.md"))
    yield shown, none


def verbs_of(reader: Person, other: Person) -> set[str]:
    """Return the verbs that are asked."""
    named = (theirs for theirs, _ in naming(reader, other))
    return {arguments[0] for arguments in itertools.chain(listing(reader, other), named)}
