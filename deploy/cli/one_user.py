"""What is held of one user, opened for a verb that looks at it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from uuid import UUID

import click

from deploy.addresses import resolve, running_settings
from deploy.wiring import embedder_of, keyring_of, read_model_of
from projections.embedders.checks import CheckedEmbedder
from projections.read_model import ReadModel
from schemas.keyring import Keyring
from schemas.settings import Settings
from schemas.text import clean_identifier


@dataclass(frozen=True, kw_only=True, slots=True)
class OneUser:
    """The stores, and who is looked at in them.

    Attributes:
        settings: those of what runs.
        embedder: gives vectors, unverified.
        keyring: gives keys.
        read_model: what was projected.
        subject: the user's subject; ``None`` where nothing was ever heard of the user.
        paused: whether the user has paused memory.
    """

    settings: Settings
    embedder: CheckedEmbedder
    keyring: Keyring
    read_model: ReadModel
    subject: UUID | None
    paused: bool

    def tell_pause(self) -> None:
        """Say on standard error that the user has paused memory, where that is so."""
        if self.paused:
            click.echo(
                "note: the user has paused memory: through the API nothing is recalled for them",
                err=True,
            )


@asynccontextmanager
async def one_user(tenant: str, user: str) -> AsyncIterator[OneUser]:
    """Open the stores and find a user, as ``--tenant`` and ``--user`` name them.

    Raises:
        InvalidInput: a name is against the policy, which is told whatever runs.
        UnknownTenant: there is no such tenant.
        MemledgerError: a store cannot be reached.
    """
    user_id, tenant = clean_identifier("--user", user), clean_identifier("--tenant", tenant)
    settings = running_settings()
    addresses = resolve(settings)
    async with (
        embedder_of(settings) as embedder,
        keyring_of(settings, addresses) as keyring,
        read_model_of(settings, addresses, embedder, name="cli") as read_model,
    ):
        found = (await keyring.subjects_for(tenant, [user_id], create=False)).get(user_id)
        yield OneUser(
            settings=settings,
            embedder=embedder,
            keyring=keyring,
            read_model=read_model,
            subject=None if found is None else found.subject,
            paused=found is not None and found.paused,
        )
