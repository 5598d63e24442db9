"""``memledger remember``: a fact of one of the operator's own systems, by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final

import click

from deploy.addresses import resolve, running_settings
from deploy.cli.carried_out import WAIT_S, carried_out, with_rules
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.commands import CommandAppender
from producers.facts_input import IMPORTANCE_DEFAULT, FactInput, clean_fact
from producers.subject_records import Appended, SubjectRecords
from projections.turns import ClosedRecord, PostgresTurns
from schemas.memory import ABOUT_USER, MemoryKind
from schemas.records import Closing
from schemas.slots import Slot
from schemas.text import clean_identifier

BECAME: Final[Mapping[Closing, str]] = {
    Closing.STORED: "remembered",
    Closing.NOTHING_FOUND: "nothing changed: it is known already",
    Closing.REJECTED: "refused by the rules that every memory must pass",
    Closing.FLAGGED: "left to a person: see `memledger flags`",
    Closing.DEAD_LETTERED: "could not be processed, and is kept as a dead letter",
    Closing.ERASED: "the user was erased meanwhile",
}
"""What a fact came to, by how its record closed."""

_REMEMBERED: Final = (Closing.STORED, Closing.NOTHING_FOUND)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Remembered:
    """Where a fact stands, and how its record closed, if that was seen."""

    appended: Appended
    closed: ClosedRecord | None


@click.command()
@click.argument("content")
@user_options
@click.option("--system", required=True, help="The system that knows it, such as orders.")
@click.option("--type", "type_", required=True, help="What sort of fact it is there.")
@click.option("--reference", help="The system's own name for it, such as an order's number.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in MemoryKind]),
    default=MemoryKind.EPISODIC.value,
    show_default=True,
    help="What sort of statement it is.",
)
@click.option(
    "--slot",
    type=click.Choice([slot.value for slot in Slot]),
    default=Slot.EVENT.value,
    show_default=True,
    help="The attribute that it states.",
)
@click.option("--about", default=ABOUT_USER, show_default=True, help="user, or of whom it speaks.")
@click.option(
    "--importance",
    type=click.IntRange(1, 5),
    default=IMPORTANCE_DEFAULT,
    show_default=True,
    help="1 (trivia) to 5 (safety).",
)
@click.option("--id", "client_id", help="The system's own id of it: given again, it counts once.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, 3600),
    default=WAIT_S,
    show_default=True,
    help="Seconds to wait until it has been processed; it stands all the same.",
)
@json_option
def remember(
    *,
    content: str,
    user: str,
    tenant: str,
    system: str,
    type_: str,
    reference: str | None,
    kind: str,
    slot: str,
    about: str,
    importance: int,
    client_id: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Remember CONTENT, a fact that one of your own systems knows, as POST /v1/memories does."""
    fact = clean_fact(
        user_id=clean_identifier("--user", user),
        content=content,
        kind=MemoryKind(kind),
        slot=Slot(slot),
        about=about,
        importance=importance,
        system=system,
        type_=type_,
        reference=reference,
        valid_from=None,
        expires_at=None,
        client_id=client_id,
    )
    remembered = asyncio.run(_remember(clean_identifier("--tenant", tenant), fact, timeout))
    appended, closed = remembered.appended, remembered.closed
    if as_json:
        print_json(
            {
                "turn_id": str(appended.turn_id),
                "position": appended.position,
                "closing": None if closed is None else closed.closing.value,
                "reasons": [] if closed is None else [one.value for one in closed.reasons],
            }
        )
    elif closed is None:
        click.echo(
            f"memledger: not processed within {timeout:g} s: the fact stands in the log at "
            f"{appended.position} and is processed once a worker comes to it; see "
            "`memledger status`",
            err=True,
        )
    else:
        click.echo(with_rules(BECAME.get(closed.closing, closed.closing.value), closed))
    if closed is None or closed.closing not in _REMEMBERED:
        raise SystemExit(1)


async def _remember(tenant: str, fact: FactInput, timeout_s: float) -> _Remembered:
    settings = running_settings()
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    async with AsyncExitStack() as parts:
        embedder = await parts.enter_async_context(embedder_of(settings))
        keyring = await parts.enter_async_context(keyring_of(settings, addresses))
        read_model = await parts.enter_async_context(
            read_model_of(settings, addresses, embedder, name="cli")
        )
        producer = await parts.enter_async_context(
            producer_of(addresses, name="remember", quiet=True)
        )
        records = SubjectRecords(keyring, producer, settings.partitions)
        appended = await CommandAppender(records).remember(tenant, fact)
        found = await keyring.subjects_for(tenant, [fact.user_id], create=False)
        if fact.user_id not in found:  # erased since the fact was acknowledged
            return _Remembered(appended=appended, closed=ClosedRecord(closing=Closing.ERASED))
        closed = await carried_out(
            PostgresTurns(read_model, partitions=settings.partitions),
            subject=found[fact.user_id].subject,
            record_id=appended.turn_id,
            timeout_s=timeout_s,
        )
        return _Remembered(appended=appended, closed=closed)
