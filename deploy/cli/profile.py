"""``memledger profile``: what stands for a user, as a block for the cached part of a prompt."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any, Final

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from projections.profile import Profile, Profiles
from projections.tokens import token_counter
from schemas.injection import InjectionForm

FORMS: Final = (InjectionForm.TEXT, InjectionForm.XML)


@click.command()
@user_options
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in FORMS]),
    default=InjectionForm.TEXT.value,
    show_default=True,
    help="How it is written.",
)
@json_option
def profile(*, user: str, tenant: str, form: str, as_json: bool) -> None:
    """Show what stands for a user: a small block that changes only when one of its facts does."""
    found = asyncio.run(_asked(tenant, user, InjectionForm(form)))
    if as_json:
        told: dict[str, Any] = asdict(found)
        print_json({"user": user, "format": form, "profile": told.pop("block"), **told})
    else:
        _print(found)


async def _asked(tenant: str, user: str, form: InjectionForm) -> Profile:
    async with one_user(tenant, user) as opened:
        opened.tell_pause()
        profiles = Profiles(opened.read_model, token_counter(opened.settings.tokenizer))
        return await profiles.profile(opened.subject, form)


def _print(found: Profile) -> None:
    click.echo(found.block or "nothing stands for this user")
    tokens = found.tokens
    exact = "" if tokens.exact else ", by an estimate"
    click.echo(f"\n{tokens.used} of {tokens.budget} tokens{exact}; digest {found.digest[:16]}")
    left_out = [f"{number} {section}" for section, number in found.left_out.items() if number]
    if left_out:
        click.echo(f"left out, for lack of room: {', '.join(left_out)}")
