"""What a verb prints: JSON for programs, tables for people."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, TypeVar

import click
from rich.console import Console
from rich.table import Table

from deploy.home import dump_json
from projections.moments import read_moment
from schemas.errors import InvalidInput

_OBEYED: Final = ("Cc", "Cf", "Zl", "Zp")
_JOINERS: Final = "\u200c\u200d"  # they only shape letters and emoji

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
    # No markup: what users wrote is printed, not obeyed.
    result = Console(highlight=False, markup=False, emoji=False)
    if not result.is_terminal:
        width = int(os.environ.get("COLUMNS", "160"))
        result = Console(highlight=False, markup=False, emoji=False, width=width)
    return result


def shown(text: str) -> str:
    """Return a user's text without characters that a terminal or an editor would obey."""
    return "".join(
        character
        if unicodedata.category(character) not in _OBEYED or character in _JOINERS
        else " "
        if character.isspace()
        else "\N{REPLACEMENT CHARACTER}"
        for character in text
    )


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
            return read_moment("the time", value)
        except InvalidInput as error:
            remedy = "give date, time and zone such as 2026-03-01T12:00:00Z, or a date alone"
            self.fail(f"{value!r} {error.problem}: {remedy}", param, ctx)
