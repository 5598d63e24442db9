"""How the command line fails: one message on standard error and a status that scripts can read."""

from __future__ import annotations

import sys
from typing import Any, Final

import click

from deploy.embedded import EmbeddedStoreError
from schemas.errors import ConfigurationError, InvalidInput, MemledgerError, UnknownTenant

FAILED: Final = 1
UNUSABLE_INPUT: Final = 2


class FailureReportingGroup(click.Group):
    """A group whose verbs may raise memledger's errors."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's own signature
        """Run a verb; an error of ours becomes its message and an exit status."""
        try:
            return super().invoke(ctx)
        except (InvalidInput, ConfigurationError, UnknownTenant) as error:
            _fail(error, UNUSABLE_INPUT)
        except (MemledgerError, EmbeddedStoreError) as error:
            _fail(error, FAILED)
        except OSError as error:
            _fail(error, FAILED)


def _fail(error: Exception, status: int) -> None:
    click.echo(f"memledger: {error}", err=True)
    sys.exit(status)
