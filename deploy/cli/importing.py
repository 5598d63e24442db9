"""``memledger import``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from deploy.addresses import resolve, running_settings
from deploy.cli.import_hints import hint_for
from deploy.cli.import_report import ImportOutcome, outcome_json, print_outcome
from deploy.cli.output import json_option, print_json
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.append import TurnAppender
from producers.importers.destinations import Destination, DryRun, Ledger, Nowhere
from producers.importers.formats import AUTO, IMPORTERS
from producers.importers.report import ImportProgress
from producers.importers.run import import_file
from projections.known_turns import ProjectedTurns
from schemas.errors import MemledgerError
from schemas.settings import DEFAULT_TENANT, Settings

INTERRUPTED: Final = 130
"""The exit status after Ctrl-C: 128 and the number of SIGINT, as shells have it."""

_FORMATS: Final = "; ".join(f"{importer.name}: {importer.title}" for importer in IMPORTERS)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What the command line asks for."""

    file: Path
    format_name: str
    tenant: str
    user: str | None
    dry_run: bool


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--format",
    "format_name",
    default=AUTO,
    show_default=True,
    type=click.Choice([AUTO, *(importer.name for importer in IMPORTERS)]),
    help=f"How to read the file; auto goes by the content. {_FORMATS}.",
)
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose users these are.")
@click.option("--user", help="Whose conversations these are, where the file does not tell.")
@click.option("--dry-run", is_flag=True, help="Tell what would be added, and add nothing.")
@json_option
def import_(
    *,
    file: Path,
    format_name: str,
    tenant: str,
    user: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Append the turns of FILE, a chat export, that the ledger does not hold yet.

    FILE may be packed, by zip as the vendors send it or by gzip. The same file twice adds nothing,
    so an import that broke off is run again. Exits with 1 where something could not be imported,
    and with 130 after Ctrl-C.
    """
    asked = _Asked(file=file, format_name=format_name, tenant=tenant, user=user, dry_run=dry_run)
    latest: list[ImportProgress] = []
    try:
        with _progress_of(file) as show:

            def note(seen: ImportProgress) -> None:
                latest[:] = [seen]
                show(seen)

            outcome = asyncio.run(_import(asked, note))
    except KeyboardInterrupt:
        click.echo(_interrupted(latest[0] if latest else None, dry_run=dry_run), err=True)
        raise SystemExit(INTERRUPTED) from None
    if as_json:
        print_json(outcome_json(outcome))
    else:
        print_outcome(outcome)
    if outcome.report.totals.refused or outcome.report.unreadable.total:
        raise SystemExit(1)


@contextmanager
def _progress_of(file: Path) -> Iterator[Callable[[ImportProgress], None]]:
    """Show a bar on standard error while a file is read."""
    progress = Progress(
        BarColumn(),
        DownloadColumn(),
        TextColumn(
            "{task.fields[accepted]} appended, {task.fields[there]} there already, "
            "{task.fields[refused]} refused"
        ),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with progress:
        task = progress.add_task(
            "import", total=file.stat().st_size, accepted=0, there=0, refused=0
        )

        def show(seen: ImportProgress) -> None:
            progress.update(
                task,
                completed=seen.bytes_read,
                accepted=seen.accepted,
                there=seen.already_there,
                refused=seen.refused,
            )

        yield show


async def _import(asked: _Asked, note: Callable[[ImportProgress], None]) -> ImportOutcome:
    settings = running_settings()
    async with AsyncExitStack() as parts:
        projected: ProjectedTurns | None = None
        unasked: str | None = None
        destination: Destination
        if asked.dry_run:
            destination, unasked = await _dry_run(settings, parts)
        else:
            destination, projected = await _ledger(settings, parts)
        report = await import_file(
            destination,
            tenant=asked.tenant,
            user=asked.user,
            path=asked.file,
            format_name=asked.format_name,
            progress=note,
        )
        hint = None
        if projected is not None and isinstance(destination, Ledger):
            hint = await hint_for(
                settings.extractor, settings.generation, destination.first_appended, projected
            )
    names_users = any(one.name == report.format and one.names_users for one in IMPORTERS)
    return ImportOutcome(
        report=report,
        dry_run=asked.dry_run,
        ledger_unasked=unasked,
        names_users=names_users,
        hint=hint,
    )


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


def _interrupted(seen: ImportProgress | None, *, dry_run: bool) -> str:
    if dry_run:
        return "memledger: interrupted; nothing was appended"
    accepted = 0 if seen is None else seen.accepted
    return (
        f"memledger: interrupted after {accepted:,} turns, which stand, and so may those that were "
        "on their way: run it again, nothing is added twice"
    )
