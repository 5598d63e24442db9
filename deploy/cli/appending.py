"""Appending one record by hand, and waiting to see what comes of it."""

from __future__ import annotations

import getpass
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, TypeAlias
from uuid import UUID

from deploy.addresses import resolve, running_settings
from deploy.cli.carried_out import carried_out
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.commands import CommandAppender
from producers.curations import CurationAppender
from producers.subject_records import Appended, SubjectRecords
from projections.held_memories import HeldMemories
from projections.turns import ClosedRecord, PostgresTurns
from schemas.commands import CuratedMemory
from schemas.records import Closing


@dataclass(frozen=True, kw_only=True, slots=True)
class Appenders:
    """What appends a record.

    Attributes:
        commands: facts of systems.
        curations: what persons decide.
    """

    commands: CommandAppender
    curations: CurationAppender


Append: TypeAlias = Callable[[Appenders], Awaitable[Appended]]
"""Appends one record."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SeenThrough:
    """Where a record stands, and how it closed, if that was seen."""

    appended: Appended
    closed: ClosedRecord | None

    @property
    def as_json(self) -> dict[str, Any]:
        """What is printed of it as JSON."""
        closed = self.closed
        return {
            "turn_id": str(self.appended.turn_id),
            "position": self.appended.position,
            "closing": None if closed is None else closed.closing.value,
            "reasons": [] if closed is None else [one.value for one in closed.reasons],
        }


async def append_and_see_through(
    tenant: str, user_id: str, append: Append, *, timeout_s: float
) -> SeenThrough:
    """Append a record of a user and wait until it is carried out.

    Args:
        tenant: the tenant.
        user_id: whose record it is.
        append: appends it.
        timeout_s: how long to wait, in seconds.

    Raises:
        MemledgerError: a store cannot be reached, or the record is refused.
    """
    settings = running_settings()
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with AsyncExitStack() as parts:
        embedder = await parts.enter_async_context(embedder_of(settings))
        keyring = await parts.enter_async_context(keyring_of(settings, addresses))
        read_model = await parts.enter_async_context(
            read_model_of(settings, addresses, embedder, name="cli")
        )
        producer = await parts.enter_async_context(producer_of(addresses, name="cli", quiet=True))
        records = SubjectRecords(keyring, producer, settings.partitions)
        held = HeldMemories(read_model)

        async def subject_of(tenant: str, user_id: str) -> UUID | None:
            found = await keyring.subjects_for(tenant, [user_id], create=False)
            return found[user_id].subject if user_id in found else None

        async def find_memory(tenant: str, user_id: str, memory_id: UUID) -> CuratedMemory | None:
            subject = await subject_of(tenant, user_id)
            return None if subject is None else await held.get(subject, memory_id)

        appenders = Appenders(
            commands=CommandAppender(records), curations=CurationAppender(records, find_memory)
        )
        appended = await append(appenders)
        subject = await subject_of(tenant, user_id)
        if subject is None:  # erased since it was acknowledged
            return SeenThrough(appended=appended, closed=ClosedRecord(closing=Closing.ERASED))
        closed = await carried_out(
            PostgresTurns(read_model, partitions=settings.partitions),
            subject=subject,
            record_id=appended.turn_id,
            timeout_s=timeout_s,
        )
        return SeenThrough(appended=appended, closed=closed)


def actor_named(named: str | None) -> str:
    """Return who decides: as it was named, or the user of this machine."""
    if named is not None:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # This system knows no name for the user that this process runs as.
        return "operator"
