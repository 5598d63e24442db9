"""``memledger import``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from deploy.addresses import resolve, running_settings
from deploy.cli.import_files import GivenFile, given, require_distinct
from deploy.cli.import_hints import hint_for
from deploy.cli.import_report import ImportOutcome, outcome_json, print_outcome
from deploy.cli.output import json_option, print_json, shown
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.append import TurnAppender
from producers.importers.destinations import Destination, DryRun, Ledger, Nowhere
from producers.importers.formats import AUTO, IMPORTERS
from producers.importers.report import ImportProgress, ImportReport
from producers.importers.run import import_file
from projections.known_turns import ProjectedTurns
from schemas.errors import InvalidInput, MemledgerError
from schemas.settings import DEFAULT_TENANT, Settings

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

_FORMATS: Final = "; ".join(f"{importer.name}: {importer.title}" for importer in IMPORTERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What the command line asks for."""

    files: tuple[Path, ...]
    format_name: str
    tenant: str
    user: str | None
    dry_run: bool


Note = Callable[[GivenFile, ImportProgress], None]
"""Is told after every batch of a file how far it has come."""


@click.command("import")
@click.argument(
    "files",
    metavar="FILE...",
    nargs=-1,
    required=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path),
)
@click.option(
    "--format",
    "format_name",
    default=AUTO,
    show_default=True,
    type=click.Choice([AUTO, *(importer.name for importer in IMPORTERS)]),
    help=f"How to read the files; auto goes by the content of each. {_FORMATS}.",
)
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose users these are.")
@click.option("--user", help="Whose conversations these are, where a file does not tell.")
@click.option("--dry-run", is_flag=True, help="Tell what would be added, and add nothing.")
@json_option
def import_(
    *,
    files: tuple[Path, ...],
    format_name: str,
    tenant: str,
    user: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Append the turns of each FILE, a chat export, that the ledger does not hold yet.

    A FILE may be packed, by zip as the vendors send it or by gzip; - is standard input. The same
    file twice adds nothing, so an import that broke off is run again. Of several files one that
    cannot be read costs no other. Exits with 1 where something could not be imported, and with 130
    after Ctrl-C.
    """
    require_distinct(files)
    asked = _Asked(files=files, format_name=format_name, tenant=tenant, user=user, dry_run=dry_run)
    latest: dict[GivenFile, ImportProgress] = {}
    try:
        with _progress() as show:

            def note(file: GivenFile, seen: ImportProgress) -> None:
                latest[file] = seen
                show(file, seen)

            imported = asyncio.run(_import(asked, note))
    except KeyboardInterrupt:
        accepted = sum(seen.accepted for seen in latest.values())
        click.echo(_interrupted(accepted, dry_run=dry_run), err=True)
        raise SystemExit(INTERRUPTED) from None
    if as_json:
        documents = [_file_json(file) for file in imported]
        print_json(documents[0] if len(documents) == 1 else {"files": documents})
    else:
        for file in imported:
            _print_file(file, alone=len(imported) == 1)
    if any(file.failed for file in imported):
        raise SystemExit(1)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Imported:
    """A file and what became of it.

    Attributes:
        name: the file, as it was given.
        outcome: what became of it, or why it could not be read.
    """

    name: str
    outcome: ImportOutcome | InvalidInput

    @property
    def failed(self) -> bool:
        """Whether something of it could not be imported."""
        if isinstance(self.outcome, InvalidInput):
            return True
        report = self.outcome.report
        return report.totals.refused + report.unreadable.total > 0


def _file_json(file: _Imported) -> dict[str, Any]:
    if isinstance(file.outcome, InvalidInput):
        return {"file": file.name, "error": str(file.outcome)}
    return {"file": file.name, **outcome_json(file.outcome)}


def _print_file(file: _Imported, *, alone: bool) -> None:
    if isinstance(file.outcome, InvalidInput):
        click.echo(f"memledger: {shown(file.name)}: {file.outcome}", err=True)
        return
    if not alone:
        click.echo(f"\n{shown(file.name)}")
    print_outcome(file.outcome)


@contextmanager
def _progress() -> Iterator[Note]:
    """Show a bar for each file on standard error while it is read, where that is a terminal."""
    console = Console(stderr=True)
    progress = Progress(
        BarColumn(),
        DownloadColumn(),
        TextColumn(
            "{task.fields[accepted]} appended, {task.fields[there]} there already, "
            "{task.fields[refused]} refused"
        ),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,  # which else gets an empty line
    )
    tasks: dict[GivenFile, TaskID] = {}

    def show(file: GivenFile, seen: ImportProgress) -> None:
        if file not in tasks:
            tasks[file] = progress.add_task(
                "import", total=file.size, accepted=0, there=0, refused=0
            )
        progress.update(
            tasks[file],
            completed=seen.bytes_read,
            accepted=seen.accepted,
            there=seen.already_there,
            refused=seen.refused,
        )

    with progress:
        yield show


async def _import(asked: _Asked, note: Note) -> list[_Imported]:
    settings = running_settings()
    async with AsyncExitStack() as parts:
        projected: ProjectedTurns | None = None
        unasked: str | None = None
        destination: Destination
        if asked.dry_run:
            destination, unasked = await _dry_run(settings, parts)
        else:
            destination, projected = await _ledger(settings, parts)
        reports = [await _report_of(asked, path, destination, note) for path in asked.files]
        hint = None
        if projected is not None and isinstance(destination, Ledger):
            hint = await hint_for(
                settings.extractor, settings.generation, destination.first_appended, projected
            )
    last = len(reports) - 1
    return [
        _Imported(
            name=str(path),
            outcome=report
            if isinstance(report, InvalidInput)
            else ImportOutcome(
                report=report,
                dry_run=asked.dry_run,
                ledger_unasked=unasked if place == last else None,
                names_users=any(one.name == report.format and one.names_users for one in IMPORTERS),
                hint=hint if place == last else None,
            ),
        )
        for place, (path, report) in enumerate(zip(asked.files, reports, strict=True))
    ]


async def _report_of(
    asked: _Asked, path: Path, destination: Destination, note: Note
) -> ImportReport | InvalidInput:
    """Import a file; of several, one that cannot be read is told and costs no other.

    Raises:
        InvalidInput: it cannot be read, and is the only one.
    """
    with given(path) as file:
        try:
            return await import_file(
                destination,
                tenant=asked.tenant,
                user=asked.user,
                path=file.path,
                opened=file.opened,
                format_name=asked.format_name,
                progress=partial(note, file),
            )
        except InvalidInput as error:
            if len(asked.files) == 1:
                raise
            return error


async def _ledger(settings: Settings, parts: AsyncExitStack) -> tuple[Ledger, ProjectedTurns]:
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    embedder = await parts.enter_async_context(embedder_of(settings))
    keyring = await parts.enter_async_context(keyring_of(settings, addresses))
    read_model = await parts.enter_async_context(
        read_model_of(settings, addresses, embedder, name="import")
    )
    producer = await parts.enter_async_context(producer_of(addresses, name="import", quiet=True))
    projected = ProjectedTurns(read_model)
    return Ledger(TurnAppender(keyring, producer, settings.partitions), projected), projected


async def _dry_run(settings: Settings, parts: AsyncExitStack) -> tuple[Destination, str | None]:
    """Return where nothing is appended, and why no ledger is asked, where none can be."""
    try:
        addresses = resolve(settings)
        embedder = await parts.enter_async_context(embedder_of(settings))
        keyring = await parts.enter_async_context(keyring_of(settings, addresses))
        read_model = await parts.enter_async_context(
            read_model_of(settings, addresses, embedder, name="import")
        )
    except MemledgerError as error:
        return Nowhere(), str(error)
    return DryRun(keyring, ProjectedTurns(read_model)), None


def _interrupted(accepted: int, *, dry_run: bool) -> str:
    if dry_run:
        return "memledger: interrupted; nothing was appended"
    return (
        f"memledger: interrupted after {accepted:,} turns, which stand, and so may those that were "
        "on their way: run it again, nothing is added twice"
    )
