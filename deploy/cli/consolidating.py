"""``memledger consolidate``: let a model look through what is held of a user, now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.carried_out import carried_out, wait_option
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from deploy.wiring import (
    check_topics,
    embedder_of,
    extractor_of,
    keyring_of,
    producer_of,
    read_model_of,
)
from producers.commands import CommandAppender
from producers.subject_records import Appended, SubjectRecords
from projections.turns import PostgresTurns
from schemas.errors import ConfigurationError, InvalidInput
from schemas.ports import Consolidator
from schemas.records import Closing
from schemas.text import clean_identifier

WAIT_S: Final = 120.0
"""How long it is waited for, unless told otherwise: a model reads up to a hundred memories."""

BECAME: Final[Mapping[Closing, str]] = {
    Closing.STORED: "memories were merged: see `memledger memories --history`",
    Closing.NOTHING_FOUND: "nothing to merge, and no contradiction",
    Closing.REJECTED: "what the model proposed was refused by the rules",
    Closing.FLAGGED: "contradictions were left to a person: see `memledger flags`",
    Closing.DEFERRED: (
        "not looked at: the tenant's budget is exhausted (see `memledger costs`), or the workers' "
        "extractor cannot do it"
    ),
    Closing.DEAD_LETTERED: "the model gave no usable answer: it is kept as a dead letter",
    Closing.ERASED: "the user was erased meanwhile",
}
"""What a consolidation came to, by how its record closed."""

_FAILED: Final = (None, Closing.DEFERRED, Closing.DEAD_LETTERED, Closing.ERASED)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Looked:
    """Where the start stands, and how it closed, if that was seen."""

    appended: Appended
    closing: Closing | None


@click.command()
@user_options
@wait_option("Seconds to wait until it is done; it is done all the same.", seconds=WAIT_S)
@json_option
def consolidate(*, user: str, tenant: str, timeout: float, as_json: bool) -> None:
    """Merge a user's small episodes and find contradictions among what is held.

    Workers do this by themselves once a user holds MEMLEDGER_CONSOLIDATE_EPISODES_MIN episodes.
    """
    looked = asyncio.run(
        _consolidate(
            clean_identifier("--tenant", tenant), clean_identifier("--user", user), timeout
        )
    )
    appended, closing = looked.appended, looked.closing
    if as_json:
        print_json(
            {
                "turn_id": str(appended.turn_id),
                "position": appended.position,
                "closing": None if closing is None else closing.value,
            }
        )
    elif closing is None:
        click.echo(
            f"memledger: not done within {timeout:g} s: it stands in the log at "
            f"{appended.position} and is done once a worker comes to it; see `memledger status`",
            err=True,
        )
    else:
        click.echo(BECAME.get(closing, closing.value))
    if closing in _FAILED:
        raise SystemExit(1)


async def _consolidate(tenant: str, user_id: str, timeout_s: float) -> _Looked:
    settings = running_settings()
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with AsyncExitStack() as parts:
        extractor = await parts.enter_async_context(extractor_of(settings))
        if not isinstance(extractor, Consolidator):
            raise ConfigurationError(
                f"the extractor {settings.extractor!r} cannot look through memories: set "
                "MEMLEDGER_EXTRACTOR to anthropic or openai, here and for the workers"
            )
        embedder = await parts.enter_async_context(embedder_of(settings))
        keyring = await parts.enter_async_context(keyring_of(settings, addresses))
        read_model = await parts.enter_async_context(
            read_model_of(settings, addresses, embedder, name="cli")
        )
        producer = await parts.enter_async_context(
            producer_of(addresses, name="consolidate", quiet=True)
        )
        records = SubjectRecords(keyring, producer, settings.partitions)
        appended = await CommandAppender(records).consolidate(tenant, user_id)
        found = await keyring.subjects_for(tenant, [user_id], create=False)
        if appended is None or user_id not in found:
            raise InvalidInput(
                field="--user",
                problem="nothing is held of this user",
                remedy="check the spelling, and --tenant",
            )
        closed = await carried_out(
            PostgresTurns(read_model, partitions=settings.partitions),
            subject=found[user_id].subject,
            record_id=appended.turn_id,
            timeout_s=timeout_s,
        )
        return _Looked(appended=appended, closing=None if closed is None else closed.closing)
