"""The verbs: where each one is, and how the command line fails."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

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

_HELP_CHARACTERS_MAX: Final = 300
"""More than any verb's first sentence has."""

FAILED: Final = 1
UNUSABLE_INPUT: Final = 2

VERBS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "up": ("lifecycle", "up"),
        "down": ("lifecycle", "down"),
        "status": ("status", "status"),
        "demo": ("demo", "demo"),
        "import": ("importing", "import_"),
        "recall": ("reading", "recall"),
        "recalls": ("recalls", "recalls"),
        "profile": ("profile", "profile"),
        "summaries": ("summaries", "summaries"),
        "memories": ("reading", "memories"),
        "turns": ("turns", "turns"),
        "turn": ("turns", "turn"),
        "remember": ("remembering", "remember"),
        "files": ("files", "files"),
        "memory": ("curating", "memory"),
        "flags": ("flags", "flags"),
        "consolidate": ("consolidating", "consolidate"),
        "audit": ("auditing", "audit"),
        "costs": ("costs", "costs"),
        "eval": ("evaluating", "evaluate"),
        "pause": ("pausing", "pause"),
        "resume": ("pausing", "resume"),
        "mcp": ("mcp", "mcp"),
        "page-link": ("page_link", "page_link"),
        "keys": ("keys", "keys"),
        "bench": ("benching", "bench"),
    }
)
"""By verb, its module in this package and its name there; imported when it is used."""


class VerbGroup(click.Group):
    """Imports a verb when it is asked for, and turns memledger's errors into an exit status."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's own signature
        """Return the verbs in the order in which a user meets them."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - as above
        """Return a verb, or ``None`` where there is none of that name."""
        if cmd_name not in VERBS:
            return None
        module, name = VERBS[cmd_name]
        verb = getattr(import_module(f"deploy.cli.{module}"), name)
        assert isinstance(verb, click.Command)  # noqa: S101 - the table above says so
        return verb

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each verb with the whole first sentence of its help, wrapped and never cut."""
        rows = [
            (name, verb.get_short_help_str(limit=_HELP_CHARACTERS_MAX))
            for name in self.list_commands(ctx)
            if (verb := self.get_command(ctx, name)) is not None
        ]
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
