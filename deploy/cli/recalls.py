"""``memledger recalls``: what a recall served, by its id."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Final
from uuid import UUID

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.cli.reading import user_options
from deploy.home import dump_json
from projections.recalls import BlockState, PostgresRecalls, RecallAccount, unknown_recall

NOT_SHOWN: Final = {
    BlockState.INCOMPLETE: "the notes cannot be shown as they were: what they held was deleted or "
    "forgotten since",
    BlockState.DIFFERS: "the notes cannot be shown as they were: what is stored now does not come "
    "to them; a later release may write them otherwise",
}
"""What is told in place of the notes."""


@click.command()
@click.argument("recall_id")
@user_options
@json_option
def recalls(*, recall_id: str, user: str, tenant: str, as_json: bool) -> None:
    """Show what the recall RECALL_ID served, and the very notes that it handed over."""
    account = asyncio.run(_asked(tenant, user, recall_id))
    if as_json:
        print_json(asdict(account))
    else:
        _print(account)


async def _asked(tenant: str, user: str, recall_id: str) -> RecallAccount:
    try:
        named = UUID(recall_id)
    except ValueError:
        raise unknown_recall() from None
    async with one_user(tenant, user) as opened:
        found = PostgresRecalls(
            opened.read_model, opened.keyring.keys, days=opened.settings.recalls_days
        )
        return await found.account(opened.subject, named)


def _print(account: RecallAccount) -> None:
    click.echo(
        f"{account.recall_id} at {account.served_at:%Y-%m-%d %H:%M:%S}Z, policy {account.policy}, "
        f"generation {account.generation}, {account.format.value}"
    )
    for turn_id in account.turn_ids:
        click.echo(f"answered: turn {turn_id}")
    if account.reason is not None:
        click.echo(f"the question brought nothing: {account.reason}")
    if account.memories:
        rows = table("score", "memory", "id", "served")
        rows.columns[2].no_wrap = True  # an id in two pieces cannot be copied
        for memory in account.memories:
            rows.add_row(
                "" if memory.score is None else f"{memory.score:.2f}",
                "(gone)" if memory.content is None else shown(memory.content),
                str(memory.memory_id),
                f"{memory.times_served} times",
            )
        console().print(rows)
    if account.block is not BlockState.REPRODUCED:
        click.echo(f"\n{NOT_SHOWN[account.block]}")
    elif isinstance(account.injection, str):
        click.echo(f"\n{account.injection}" if account.injection else "\nno notes")
    else:
        click.echo(f"\n{dump_json(account.injection)}" if account.injection else "\nno notes")
