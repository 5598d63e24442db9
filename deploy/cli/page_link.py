"""``memledger page-link``: the address of a user's page."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from deploy.home import Home
from deploy.processes.page import page_link as link_with
from deploy.wiring import keyring_of
from schemas.errors import ConfigurationError
from schemas.keyring.signing import SigningKeys
from schemas.settings import Settings
from schemas.text import clean_identifier
from schemas.user_tokens import LIFETIME_DEFAULT_S, LIFETIME_MAX_S, Audience, UserTokens

_MINUTE_S = 60


@click.command("page-link")
@user_options
@click.option(
    "--minutes",
    type=click.IntRange(1, LIFETIME_MAX_S // _MINUTE_S),
    default=LIFETIME_DEFAULT_S // _MINUTE_S,
    show_default=True,
    help="How long it is good.",
)
@click.option("--url", help="Where the user reaches the gateway; else that which runs here.")
@json_option
def page_link(*, user: str, tenant: str, minutes: int, url: str | None, as_json: bool) -> None:
    """Print a link to the page on which a user sees, corrects and deletes what is remembered.

    Whoever has the link can do the same until it ends: hand it to the user alone.
    """
    user_id = clean_identifier("--user", user)
    name = clean_identifier("--tenant", tenant)
    settings = running_settings()
    gateway_url = url or _gateway_url(settings)
    asyncio.run(_require_tenant(settings, name, user_id))
    token, said = UserTokens(SigningKeys(settings.keys_home)).mint(
        tenant=name,
        user_id=user_id,
        audience=Audience.PAGE,
        api_key_id=None,
        lifetime_s=int(timedelta(minutes=minutes).total_seconds()),
    )
    link = link_with(gateway_url, token)
    if as_json:
        print_json({"link": link, "user": user_id, "expires_at": said.expires_at})
    else:
        click.echo(link)


async def _require_tenant(settings: Settings, tenant: str, user_id: str) -> None:
    async with keyring_of(settings, resolve(settings)) as keyring:
        # The user need not be known yet; an unknown tenant is an error.
        await keyring.subjects_for(tenant, [user_id], create=False)


def _gateway_url(settings: Settings) -> str:
    state = Home(settings.home).read_state()
    if state is None:
        raise ConfigurationError(
            f"nothing runs under {settings.home}, so the gateway's address is not known: name it "
            "with --url"
        )
    return state.gateway_url
