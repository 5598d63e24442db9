"""``memledger export``: all that is kept on one user, as one JSON document."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click
from rich.console import Console
from rich.filesize import decimal
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from deploy.cli.one_user import one_user
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from projections.export import Export, Exported
from schemas.errors import InvalidInput
from schemas.text import clean_identifier

_UNKNOWN: Final = "note: nothing was ever heard of this user: ids are matched exactly"

Note = Callable[[int], None]
"""Is told how many bytes were written so far."""


@click.command()
@user_options
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file for it, which nobody else may read; else it goes to standard output.",
)
@click.option("--force", is_flag=True, help="Write over the file where there is one.")
@json_option
def export(*, user: str, tenant: str, output: Path | None, force: bool, as_json: bool) -> None:
    """Hand over all that is kept on a user: memories, files, summaries and flags.

    It is the document of GET /v1/export, JSON also without --json. With --output a short account
    is printed. One that breaks off leaves no file, and on standard output no JSON.
    """
    if output is None:
        if force:
            raise InvalidInput(
                field="--force",
                problem="speaks of a file, and there is none without --output",
                remedy="give --output FILE, or leave it out",
            )
        with _progress(shown=not sys.stdout.isatty()) as note:
            asyncio.run(_write(tenant, user, click.get_binary_stream("stdout"), note))
        return
    if output.exists() and not force:
        raise InvalidInput(
            field="--output",
            problem=f"names {output}, which exists",
            remedy="give another name, or --force to write over it",
        )
    with _progress(shown=True) as note, _replaced(output) as file:
        written = asyncio.run(_write(tenant, user, file, note))
    if as_json:
        print_json({"user": user, "file": str(output), "bytes": written})
    else:
        click.echo(f"{decimal(written)} written to {output}")


async def _write(tenant: str, user: str, file: BinaryIO, note: Note) -> int:
    """Write the document; return how many bytes it has."""
    async with one_user(tenant, user) as opened:
        if opened.subject is None:
            click.echo(_UNKNOWN, err=True)
        whose = Exported(
            tenant=clean_identifier("--tenant", tenant),
            user_id=clean_identifier("--user", user),
            subject=opened.subject,
        )
        written = 0
        async for piece in await Export.of(opened.read_model).begin(whose):
            written += file.write(piece)
            note(written)
        return written


@contextmanager
def _replaced(path: Path) -> Iterator[BinaryIO]:
    """Yield a file that takes the path's place once it is whole, and is removed if it never is."""
    # Made for its owner alone, beside the path: only there can it be put in its place at once.
    opened, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    part = Path(name)
    try:
        with os.fdopen(opened, "wb") as file:
            yield file
        part.replace(path)
    except BaseException:
        part.unlink()
        raise


@contextmanager
def _progress(*, shown: bool) -> Iterator[Note]:
    """Show on a terminal's standard error how far it has come; elsewhere say nothing."""
    console = Console(stderr=True)
    hidden = not (shown and console.is_terminal)
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task("reading")
        yield lambda written: bar.update(task, description=f"{decimal(written)} written")
