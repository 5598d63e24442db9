"""``memledger files``: what assistants keep about a user by the memory tool."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from functools import partial
from typing import Final, TypeVar
from uuid import UUID

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.cli.reading import user_options
from projections.files.listings import (
    LIMIT_MAX,
    UNREAD_DAYS_MAX,
    FileListings,
    ListedEvent,
    ListedFile,
)
from projections.files.sizes import size_text
from schemas.errors import InvalidInput, UnknownFile
from schemas.settings import DEFAULT_TENANT

Answer = TypeVar("Answer")

_MINUTE: Final = "%Y-%m-%d %H:%M"


@click.group(invoke_without_command=True)
@click.option("--user", help="The user's id, as the chat app knows it.")
@click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose user.")
@click.option("--history", is_flag=True, help="What became of the files, the latest first.")
@click.option(
    "--stale",
    type=click.IntRange(1, UNREAD_DAYS_MAX),
    metavar="DAYS",
    help="Only those that nobody read or wrote for so many days: proposals for tidying.",
)
@json_option
@click.pass_context
def files(
    context: click.Context,
    *,
    user: str | None,
    tenant: str,
    history: bool,
    stale: int | None,
    as_json: bool,
) -> None:
    """List the files that assistants keep about a user, or show one with the verb below.

    Times are in UTC.
    """
    if context.invoked_subcommand is not None:
        _require_alone(context, user)
        return
    if user is None:
        raise InvalidInput(field="--user", problem="is missing", remedy="give the user's id")
    if history and stale is not None:
        raise InvalidInput(
            field="--stale",
            problem="chooses among the files that are there, and --history tells what happened",
            remedy="give one of the two",
        )
    if history:
        events = asyncio.run(_asked(tenant, user, _history))
        _tell_history(events, as_json=as_json)
        return
    listed = asyncio.run(_asked(tenant, user, partial(_list, stale=stale)))
    _tell_files(listed, stale, as_json=as_json)


@files.command()
@click.argument("path")
@user_options
@click.option("--version", type=click.IntRange(1, 2**31 - 1), help="A version of its history.")
@json_option
def show(*, path: str, user: str, tenant: str, version: int | None, as_json: bool) -> None:
    """Print what the file at PATH holds; it does not count as read by an assistant."""

    async def ask(listings: FileListings, subject: UUID | None) -> str | None:
        return await listings.content(subject, path, version=version)

    content = asyncio.run(_asked(tenant, user, ask))
    if content is None:
        raise UnknownFile(
            "the user has no such file, or no such version of it is kept: take a path from "
            "`memledger files`, a version from `memledger files --history`"
        )
    if as_json:
        print_json({"path": path, "version": version, "content": content})
        return
    for line in content.split("\n"):
        click.echo(shown(line))


def _require_alone(context: click.Context, user: str | None) -> None:
    """Refuse a user in front of a verb, which would be that of the list."""
    if user is not None:
        raise InvalidInput(
            field="--user",
            problem=f"stands in front of {context.invoked_subcommand}",
            remedy=f"put it behind: memledger files {context.invoked_subcommand} PATH --user ...",
        )


async def _asked(
    tenant: str, user: str, ask: Callable[[FileListings, UUID | None], Awaitable[Answer]]
) -> Answer:
    async with one_user(tenant, user) as opened:
        return await ask(FileListings(opened.read_model), opened.subject)


async def _list(
    listings: FileListings, subject: UUID | None, *, stale: int | None
) -> list[ListedFile]:
    found: list[ListedFile] = []
    cursor: str | None = None
    while True:
        page = await listings.page(subject, unread_days=stale, cursor=cursor, limit=LIMIT_MAX)
        found += page.files
        cursor = page.next_cursor
        if cursor is None:
            return found


async def _history(listings: FileListings, subject: UUID | None) -> list[ListedEvent]:
    found: list[ListedEvent] = []
    cursor: str | None = None
    while True:
        page = await listings.history(subject, cursor=cursor, limit=LIMIT_MAX)
        found += page.events
        cursor = page.next_cursor
        if cursor is None:
            return found


def _tell_files(listed: list[ListedFile], stale: int | None, *, as_json: bool) -> None:
    if as_json:
        print_json({"files": [asdict(file) for file in listed]})
        return
    if not listed:
        unread = "" if stale is None else f" that nobody read or wrote for {stale} days"
        click.echo(f"no files{unread}: ids are matched exactly")
        return
    rows = table("path", "size", "version", "written", "read")
    for file in listed:
        rows.add_row(
            shown(file.path),
            size_text(file.size_bytes),
            str(file.version),
            f"{file.changed_at:{_MINUTE}}",
            "" if file.viewed_at is None else f"{file.viewed_at:{_MINUTE}}",
        )
    console().print(rows)


def _tell_history(events: list[ListedEvent], *, as_json: bool) -> None:
    if as_json:
        print_json({"events": [asdict(event) for event in events]})
        return
    if not events:
        click.echo("nothing became of any file: ids are matched exactly")
        return
    rows = table("when", "what", "path", "version", "characters")
    for event in events:
        was = "" if event.old_path is None else f" (was {shown(event.old_path)})"
        rows.add_row(
            f"{event.happened_at:{_MINUTE}}",
            event.kind.value,
            shown(event.path) + was,
            str(event.version),
            "" if event.characters is None else f"{event.characters:,}",
        )
    console().print(rows)
