"""``memledger eval``: measure against labelled cases."""

from __future__ import annotations

import click

from deploy.cli.extraction_eval import extraction
from deploy.cli.gate_eval import gate
from deploy.cli.recall_eval import recall


@click.group("eval")
def evaluate() -> None:
    """Measure what is kept, refused and recalled, against labelled cases."""


evaluate.add_command(extraction)
evaluate.add_command(gate)
evaluate.add_command(recall)
