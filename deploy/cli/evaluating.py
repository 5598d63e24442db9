"""``memledger eval``: measure against labelled cases."""

from __future__ import annotations

import click

from deploy.cli.extraction_eval import extraction
from deploy.cli.gate_eval import gate


@click.group("eval")
def evaluate() -> None:
    """Measure what is kept and what is refused, against labelled cases."""


evaluate.add_command(extraction)
evaluate.add_command(gate)
