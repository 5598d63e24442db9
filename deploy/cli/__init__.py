"""The command line: ``memledger``."""

from __future__ import annotations

import click

from deploy.cli.verbs import VerbGroup


@click.group(cls=VerbGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="memledger")
def main() -> None:
    """Long-term memory for fleets of chat assistants, kept as a ledger.

    Every verb but mcp takes --json. Exit status: 0 done, 1 failed, 2 unusable input.
    """
