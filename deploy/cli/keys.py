"""``memledger keys``: tenants' API keys."""

from __future__ import annotations

import asyncio
from typing import Final

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.output import json_option, print_json
from deploy.wiring import keyring_of
from schemas.errors import InvalidInput
from schemas.keyring.signing import SigningKeys
from schemas.settings import DEFAULT_TENANT
from schemas.text import clean_identifier

_TOKEN_PARTS: Final = 3
_OTHERS_SHOWN_MAX: Final = 5


@click.group()
def keys() -> None:
    """Make and revoke the API keys of tenants."""


@keys.command()
@click.option(
    "--tenant",
    default=DEFAULT_TENANT,
    show_default=True,
    help="The tenant that the key is bound to.",
)
@click.option("--new-tenant", is_flag=True, help="Make the tenant first.")
@json_option
def create(*, tenant: str, new_tenant: bool, as_json: bool) -> None:
    """Make an API key and print it, this once: only its hash is kept.

    Each call makes another key; those before it go on working.
    """
    name = clean_identifier("--tenant", tenant)
    token, others = asyncio.run(_create(name, new_tenant=new_tenant))
    if as_json:
        print_json(
            {
                "tenant": name,
                "key_id": token.split("_")[1],
                "api_key": token,
                "other_key_ids": others,
            }
        )
        return
    click.echo(token)
    if others:
        listed = ", ".join(others[:_OTHERS_SHOWN_MAX])
        more = f" and {len(others) - _OTHERS_SHOWN_MAX} more" if others[_OTHERS_SHOWN_MAX:] else ""
        click.echo(
            f"note: this is another key of the tenant {name}; its others go on working: "
            f"{listed}{more}. Revoke what nobody uses by `memledger keys revoke KEY_ID`",
            err=True,
        )


@keys.command()
@click.argument("key_id")
@json_option
def revoke(*, key_id: str, as_json: bool) -> None:
    """Revoke the API key whose id, its middle part, is KEY_ID."""
    asyncio.run(_revoke(key_id))
    if as_json:
        print_json({"revoked": key_id})
    else:
        click.echo(f"revoked {key_id}")


@keys.command("rotate-user-tokens")
@click.option("--end-older", is_flag=True, help="End every user token that there is.")
@json_option
def rotate_user_tokens(*, end_older: bool, as_json: bool) -> None:
    """Sign user tokens with a new key; what older keys signed stays good until it ends."""
    signing = SigningKeys(running_settings().keys_home)
    number = signing.rotate()
    ended = signing.remove_before(number) if end_older else []
    if as_json:
        print_json({"number": number, "ended": ended})
    else:
        more = f", and {len(ended)} older keys were removed" if ended else ""
        click.echo(f"user tokens are signed with key {number} now{more}")


async def _create(tenant: str, *, new_tenant: bool) -> tuple[str, list[str]]:
    """Return the new key and the ids of the valid keys that the tenant has besides."""
    settings = running_settings()
    async with keyring_of(settings, resolve(settings)) as keyring:
        if new_tenant:
            await keyring.ensure_tenant(tenant)
        others = await keyring.api_key_ids(tenant)
        return await keyring.create_api_key(tenant), others


async def _revoke(key_id: str) -> None:
    key_id = clean_identifier("KEY_ID", key_id)
    if key_id.count("_") == _TOKEN_PARTS - 1:
        raise InvalidInput(
            field="KEY_ID",
            problem="is a whole key",
            remedy="give its middle part alone, and revoke the key: it was on a command line",
        )
    settings = running_settings()
    async with keyring_of(settings, resolve(settings)) as keyring:
        await keyring.revoke_api_key(key_id)
