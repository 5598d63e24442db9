"""What a verb prints: JSON for programs, tables for people."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.table import Table

from deploy.home import dump_json

Verb = TypeVar("Verb", bound=Callable[..., Any])


def json_option(verb: Verb) -> Verb:
    """Add ``--json`` to a verb."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else.")(
        verb
    )


def print_json(value: object) -> None:
    """Print one JSON document on standard output."""
    click.echo(dump_json(value))


def console() -> Console:
    """Return a console for standard output; a pipe gets plain, unwrapped lines."""
    result = Console(highlight=False)
    if not result.is_terminal:
        result = Console(highlight=False, width=int(os.environ.get("COLUMNS", "160")))
    return result


def table(*columns: str, title: str | None = None) -> Table:
    """Return an empty table with the house's look."""
    result = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        result.add_column(column, overflow="fold")
    return result


class Moment(click.ParamType):
    """A time on the command line: ISO 8601; a date alone means its end, in UTC."""

    name = "time"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> datetime:
        """Return an aware time in UTC."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is no ISO 8601 time such as 2026-03-01T12:00:00Z", param, ctx)
        if len(value) == len("2026-03-01"):
            moment = moment.replace(hour=23, minute=59, second=59, microsecond=999_999)
            return moment.replace(tzinfo=UTC)
        if moment.tzinfo is None:
            self.fail(f"{value!r} has no time zone: add Z or an offset such as +05:30", param, ctx)
        return moment.astimezone(UTC)
