"""The verbs: where each one is, and how the command line fails."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import click

from deploy.embedded.errors import EmbeddedStoreError
from schemas.errors import (
    ConfigurationError,
    InvalidInput,
    MemledgerError,
    UnknownFile,
    UnknownFlag,
    UnknownMemory,
    UnknownRecall,
    UnknownTenant,
    UnknownTurn,
)

_UNKNOWN: Final = (
    UnknownFile,
    UnknownFlag,
    UnknownMemory,
    UnknownRecall,
    UnknownTenant,
    UnknownTurn,
)
"""What an argument names that there is not."""

FAILED: Final = 1
UNUSABLE_INPUT: Final = 2


class Verb(NamedTuple):
    """One verb.

    Attributes:
        module: its module in this package, imported when the verb is used.
        name: its name there.
        help: a sentence, which the list of verbs shows without importing any.
    """

    module: str
    name: str
    help: str


VERBS: Final[Mapping[str, Verb]] = MappingProxyType(
    {
        "up": Verb("lifecycle", "up", "Run the whole pipeline on this machine."),
        "down": Verb("lifecycle", "down", "Stop what `up` started here, and nothing else."),
        "status": Verb("status", "status", "Show each part's health, address, lag and disk use."),
        "demo": Verb(
            "demo",
            "demo",
            "Tell one user's story: what each stage did, what is recalled, which words caused it.",
        ),
        "import": Verb(
            "importing",
            "import_",
            "Append the turns of each FILE, a chat export, that the ledger does not hold yet.",
        ),
        "recall": Verb("reading", "recall", "Show what would be recalled for QUESTION."),
        "recalls": Verb(
            "recalls",
            "recalls",
            "Show what the recall RECALL_ID served, note by note.",
        ),
        "profile": Verb(
            "profile",
            "profile",
            "Show a user's small block for a prompt that is cached.",
        ),
        "summaries": Verb(
            "summaries",
            "summaries",
            "Show what sessions of a user came to, each made from its own turns.",
        ),
        "memories": Verb(
            "reading",
            "memories",
            "List what is remembered of a user, with the words that caused it.",
        ),
        "export": Verb(
            "exporting",
            "export",
            "Hand over all that is kept on a user: memories, files, summaries and flags.",
        ),
        "turns": Verb(
            "turns",
            "turns",
            "List what became of a user's turns, and which rules refused any of it.",
        ),
        "turn": Verb(
            "turns",
            "turn",
            "Show how TURN_ID closed, what was noted, and what was refused and why.",
        ),
        "remember": Verb(
            "remembering",
            "remember",
            "Remember CONTENT, which one of your systems knows or a person states.",
        ),
        "files": Verb(
            "files",
            "files",
            "List the files that assistants keep about a user, or show one with the verb below.",
        ),
        "memory": Verb(
            "curating", "memory", "Correct, pin, unpin or delete one memory, as a person decides."
        ),
        "flags": Verb(
            "flags",
            "flags",
            "List what code left to a person; approve or refuse it.",
        ),
        "consolidate": Verb(
            "consolidating",
            "consolidate",
            "Merge a user's small episodes and find contradictions among what is held.",
        ),
        "audit": Verb("auditing", "audit", "Account for every turn from the logs alone."),
        "costs": Verb(
            "costs",
            "costs",
            "What asking language models has cost, by tenant and model, in tokens and money.",
        ),
        "eval": Verb(
            "evaluating",
            "evaluate",
            "Measure what is kept, refused and recalled, against labelled cases.",
        ),
        "pause": Verb(
            "pausing",
            "pause",
            "Pause a user's memory: nothing is noted of them and nothing recalled.",
        ),
        "resume": Verb(
            "pausing", "resume", "Resume a user's memory: what is said from now on is noted again."
        ),
        "mcp": Verb(
            "mcp",
            "mcp",
            "Serve one user's memories as tools of the Model Context Protocol.",
        ),
        "page-link": Verb(
            "page_link",
            "page_link",
            "Print a link to the page on which users see what is remembered.",
        ),
        "keys": Verb("keys", "keys", "Make and revoke the API keys of tenants."),
        "bench": Verb(
            "benching",
            "bench",
            "Measure what this machine does against the bounds that memledger is held to.",
        ),
    }
)
"""By verb, where it is; in the order in which a user meets them."""


class VerbGroup(click.Group):
    """Imports a verb when it is asked for, and turns memledger's errors into an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a verb, or ``None`` where there is none of that name."""
        if cmd_name not in VERBS:
            return None
        entry = VERBS[cmd_name]
        verb = getattr(import_module(f"deploy.cli.{entry.module}"), entry.name)
        assert isinstance(verb, click.Command)  # noqa: S101 - the table above says so
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with the whole first sentence of its help, wrapped and never cut."""
        rows = [(name, VERBS[name].help) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a verb; an error of ours becomes its message and an exit status."""
        try:
            return super().invoke(ctx)
        except (InvalidInput, ConfigurationError, *_UNKNOWN) as error:
            _fail(error, UNUSABLE_INPUT)
        except (MemledgerError, EmbeddedStoreError, OSError) as error:
            _fail(error, FAILED)


def _fail(error: Exception, status: int) -> None:
    click.echo(f"memledger: {error}", err=True)
    sys.exit(status)
