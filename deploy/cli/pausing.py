"""``memledger pause`` and ``memledger resume``."""

from __future__ import annotations

import asyncio

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from deploy.wiring import keyring_of
from schemas.keyring import Pause
from schemas.text import clean_identifier


@click.command()
@user_options
@json_option
def pause(*, user: str, tenant: str, as_json: bool) -> None:
    """Pause a user's memory: nothing is noted of them and nothing recalled until they resume."""
    _set(tenant, user, paused=True, as_json=as_json)


@click.command()
@user_options
@json_option
def resume(*, user: str, tenant: str, as_json: bool) -> None:
    """Resume a user's memory: what is said from now on is noted again."""
    _set(tenant, user, paused=False, as_json=as_json)


def _set(tenant: str, user: str, *, paused: bool, as_json: bool) -> None:
    user_id = clean_identifier("--user", user)
    state = asyncio.run(_set_paused(clean_identifier("--tenant", tenant), user_id, paused=paused))
    if as_json:
        print_json({"user": user_id, "paused": state.paused, "since": state.since})
    elif state.since is None:
        click.echo("not paused: what is said from now on is noted and recalled for")
    else:
        click.echo(
            f"paused since {state.since:%Y-%m-%d %H:%M:%S %Z}: nothing is noted or recalled; what "
            "is stored stays"
        )


async def _set_paused(tenant: str, user_id: str, *, paused: bool) -> Pause:
    settings = running_settings()
    async with keyring_of(settings, resolve(settings)) as keyring:
        return await keyring.set_paused(tenant, user_id, paused=paused)
