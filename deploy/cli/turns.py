"""``memledger turns`` and ``memledger turn``: what became of what a user said, and why."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Final, TypeVar
from uuid import UUID

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.cli.reading import user_options
from projections.positions import TurnPosition
from projections.turns import (
    LIMIT_DEFAULT,
    LIMIT_MAX,
    OPEN,
    PostgresTurns,
    RefusedOperation,
    TurnAccount,
    TurnPage,
    TurnSummary,
    unknown_turn,
)
from schemas.records import Closing

Answer = TypeVar("Answer")

ALL: Final = "all"


@click.command()
@user_options
@click.option(
    "--closing",
    type=click.Choice([ALL, OPEN, *(closing.value for closing in Closing)]),
    default=ALL,
    show_default=True,
    help="Only those that closed like this, or that are open.",
)
@click.option("--before", help="Only those in front of this position: the last of the list before.")
@click.option(
    "--limit",
    type=click.IntRange(1, LIMIT_MAX),
    default=LIMIT_DEFAULT,
    show_default=True,
    help="Most turns.",
)
@json_option
def turns(
    *, user: str, tenant: str, closing: str, before: str | None, limit: int, as_json: bool
) -> None:
    """List what became of a user's turns, the latest first, with the rules that refused any of it.

    Facts of your systems, decisions about flags and ends of sessions stand among them.
    """
    position = None if before is None else TurnPosition.parse("--before", before)

    async def ask(found: PostgresTurns, subject: UUID | None) -> TurnPage:
        return await found.page(
            subject,
            closing=None if closing in {ALL, OPEN} else Closing(closing),
            still_open=closing == OPEN,
            before=position,
            limit=limit,
        )

    page = asyncio.run(_asked(tenant, user, ask))
    if as_json:
        print_json({"user": user, **asdict(page)})
    elif not page.turns:
        earlier = "" if before is None else f" in front of {before}"
        closed = "" if closing == ALL else f" are {closing}"
        click.echo(f"no turns of this user{earlier}{closed}: ids are matched exactly")
    else:
        _print_page(page)


@click.command()
@click.argument("turn_id")
@user_options
@json_option
def turn(*, turn_id: str, user: str, tenant: str, as_json: bool) -> None:
    """Show how TURN_ID closed, what was noted of it, and by which rules the rest was refused."""

    async def ask(found: PostgresTurns, subject: UUID | None) -> TurnAccount:
        try:
            named = UUID(turn_id)
        except ValueError:
            raise unknown_turn() from None
        return await found.account(subject, named)

    account = asyncio.run(_asked(tenant, user, ask))
    if as_json:
        print_json(asdict(account))
    else:
        _print_account(account)


async def _asked(
    tenant: str, user: str, ask: Callable[[PostgresTurns, UUID | None], Awaitable[Answer]]
) -> Answer:
    async with one_user(tenant, user) as opened:
        turns = PostgresTurns(opened.read_model, partitions=opened.settings.partitions)
        return await ask(turns, opened.subject)


def _print_page(page: TurnPage) -> None:
    rows = table("turn", "position", "closed", "memories", "refused by")
    rows.columns[0].no_wrap = True  # an id in two pieces cannot be copied
    for summary in page.turns:
        rows.add_row(
            str(summary.turn_id),
            summary.position,
            _closed(summary),
            str(summary.memories),
            ", ".join(reason.value for reason in summary.reasons),
        )
    console().print(rows)
    if page.more:
        click.echo(f"there are earlier ones: --before {page.turns[-1].position}")


def _print_account(account: TurnAccount) -> None:
    click.echo(f"{account.turn_id} at {account.position}: {_closed(account)}")
    if account.settled_by is not None:
        click.echo(f"settled by the end of its session, {account.settled_by}")
    if account.settled:
        click.echo(f"settled: {', '.join(map(str, account.settled))}")
    if account.recall_id is not None:
        click.echo(f"answered with the recall {account.recall_id}")
    for memory in account.memories:
        click.echo(f"noted ({memory.state.value}): {shown(memory.content)}")
    for rejected in account.rejected:
        click.echo(f"refused: {_refused(rejected)}")
    for flag in account.flags:
        reasons = ", ".join(reason.value for reason in flag.reasons)
        click.echo(f"left to a person ({flag.state.value}): {reasons}, flag {flag.flag_id}")


def _refused(rejected: RefusedOperation) -> str:
    reasons = ", ".join(reason.value for reason in rejected.reasons)
    whose = "" if rejected.turn_id is not None else ", nobody can tell of which turn"
    return f"{reasons} (operation {rejected.place} of {rejected.record_id}{whose})"


def _closed(turn: TurnAccount | TurnSummary) -> str:
    if turn.closing is None:
        return "open"
    if turn.waits_for is not None:
        return f"{turn.closing.value}: waits for its {turn.waits_for.value}"
    return turn.closing.value
