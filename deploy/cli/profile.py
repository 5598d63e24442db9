"""``memledger profile``: what stands for a user, as a block for the cached part of a prompt."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Any, Final

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from deploy.wiring import embedder_of, keyring_of, read_model_of
from projections.profile import Profile, Profiles
from projections.tokens import token_counter
from schemas.injection import InjectionForm
from schemas.text import clean_identifier

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
    # Before anything is opened: what is wrong with the input is told whatever runs.
    user_id = clean_identifier("--user", user)
    tenant = clean_identifier("--tenant", tenant)
    settings = running_settings()
    addresses = resolve(settings)
    async with (
        embedder_of(settings) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(settings, addresses, embedder, name="cli") as read_model,
    ):
        subjects = await keyring.subjects_for(tenant, [user_id], create=False)
        subject = subjects[user_id].subject if user_id in subjects else None
        return await Profiles(read_model, token_counter(settings.tokenizer)).profile(subject, form)


def _print(found: Profile) -> None:
    click.echo(found.block or "nothing stands for this user")
    tokens = found.tokens
    exact = "" if tokens.exact else ", by an estimate"
    click.echo(f"\n{tokens.used} of {tokens.budget} tokens{exact}; digest {found.digest[:16]}")
    left_out = [f"{number} {section}" for section, number in found.left_out.items() if number]
    if left_out:
        click.echo(f"left out, for lack of room: {', '.join(left_out)}")
