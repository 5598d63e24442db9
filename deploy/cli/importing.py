"""``memledger import``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

from deploy.addresses import resolve, running_settings
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.append import TurnAppender
from producers.importers.formats import AUTO, IMPORTERS
from producers.importers.report import ConversationReport, ImportProgress, ImportReport
from producers.importers.run import import_file
from projections.known_turns import ProjectedTurns
from schemas.settings import DEFAULT_TENANT

_ROWS_SHOWN_MAX = 50


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--format",
    "format_name",
    default=AUTO,
    show_default=True,
    type=click.Choice([AUTO, *(importer.name for importer in IMPORTERS)]),
    help="How to read the file.",
)
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose users these are.")
@click.option("--user", help="Whose conversations these are, where the file does not tell.")
@json_option
def import_(*, file: Path, format_name: str, tenant: str, user: str | None, as_json: bool) -> None:
    """Append the turns of FILE, a chat export, that the ledger does not hold yet.

    The same file twice adds nothing. Exits with 1 where something could not be imported.
    """
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

        report = asyncio.run(_import(file, format_name, tenant, user, show))
    if as_json:
        print_json(_as_json(report))
    else:
        _print(report)
    if report.refused or report.unreadable:
        raise SystemExit(1)


async def _import(
    file: Path,
    format_name: str,
    tenant: str,
    user: str | None,
    show: Callable[[ImportProgress], None],
) -> ImportReport:
    settings = running_settings()
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with (
        embedder_of(settings) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(settings, addresses, embedder, name="import") as read_model,
        producer_of(addresses, name="import") as producer,
    ):
        return await import_file(
            TurnAppender(keyring, producer, settings.partitions),
            ProjectedTurns(read_model),
            tenant=tenant,
            user=user,
            path=file,
            format_name=format_name,
            progress=show,
        )


def _as_json(report: ImportReport) -> dict[str, Any]:
    return {
        "format": report.format,
        "accepted": report.accepted,
        "already_there": report.already_there,
        "repeated": report.repeated,
        "refused": report.refused,
        "left_out": report.left_out,
        "conversations": [_conversation_json(part) for part in report.conversations],
        "unreadable": [asdict(part) for part in report.unreadable],
    }


def _conversation_json(report: ConversationReport) -> dict[str, Any]:
    return {
        "user_id": report.user_id,
        "conversation_id": report.conversation_id,
        "title": report.title,
        "accepted": report.accepted,
        "already_there": report.already_there,
        "repeated": report.repeated,
        "refused": [asdict(turn) for turn in report.refused],
        "left_out": dict(report.left_out),
        "notes": dict(report.notes),
    }


def _print(report: ImportReport) -> None:
    rows = table("conversation", "appended", "there already", "refused", "left out")
    for conversation in report.conversations[:_ROWS_SHOWN_MAX]:
        left_out = ", ".join(f"{count} {why}" for why, count in conversation.left_out.items())
        rows.add_row(
            shown(conversation.title or conversation.conversation_id),
            str(conversation.accepted),
            str(conversation.already_there + conversation.repeated),
            str(len(conversation.refused)),
            left_out,
        )
    console().print(rows)
    if len(report.conversations) > _ROWS_SHOWN_MAX:
        click.echo(f"... and {len(report.conversations) - _ROWS_SHOWN_MAX} more: see --json")
    for conversation in report.conversations:
        for turn in conversation.refused:
            click.echo(shown(f"refused {turn.turn_id}: {turn.reason}"), err=True)
    for part in report.unreadable:
        click.echo(shown(f"unreadable {part.place}: {part.reason}"), err=True)
    click.echo(
        f"\n{report.format}: {report.accepted} appended, {report.already_there} there already, "
        f"{report.refused} refused, {len(report.unreadable)} unreadable"
    )
