"""The command line: ``memledger``."""

from __future__ import annotations

import click

from deploy.cli.auditing import audit
from deploy.cli.demo import demo
from deploy.cli.failures import FailureReportingGroup
from deploy.cli.importing import import_
from deploy.cli.lifecycle import down, up
from deploy.cli.reading import memories, recall
from deploy.cli.status import status


@click.group(cls=FailureReportingGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="memledger")
def main() -> None:
    """Long-term memory for fleets of chat assistants, kept as a ledger.

    Every verb takes --json. Exit status: 0 done, 1 failed, 2 unusable input.
    """


for _verb in (up, down, status, demo, import_, recall, memories, audit):
    main.add_command(_verb)
