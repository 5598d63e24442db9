"""``memledger memory``: what a person decides about one memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final, TypedDict, TypeVar, Unpack

import click

from deploy.cli.appending import (
    Append,
    Appenders,
    SeenThrough,
    actor_named,
    append_and_see_through,
)
from deploy.cli.carried_out import wait_option, with_rules
from deploy.cli.output import json_option, print_json, shown
from deploy.cli.reading import user_options
from producers.curations_input import (
    CorrectionInput,
    DeletionInput,
    clean_correction,
    clean_deletion,
)
from producers.subject_records import Appended
from schemas.memory import MemoryKind
from schemas.records import Closing
from schemas.slots import Slot
from schemas.text import clean_identifier

Verb = TypeVar("Verb", bound=Callable[..., Any])

BECAME: Final[Mapping[Closing, str]] = {
    Closing.NOTHING_FOUND: "nothing changed: it is so already",
    Closing.REJECTED: "refused",
    Closing.DEAD_LETTERED: "could not be processed, and is kept as a dead letter",
    Closing.ERASED: "the user was erased meanwhile",
}
"""What a decision came to, by how its record closed, but for one that was carried out."""

_DONE: Final = (Closing.STORED, Closing.NOTHING_FOUND)


class _Asked(TypedDict):
    """What every decision takes on the command line; see :func:`_decision_options`."""

    memory_id: str
    user: str
    tenant: str
    reason: str | None
    actor: str | None
    client_id: str | None
    timeout: float
    as_json: bool


class _Told(TypedDict):
    """What every decision says of itself."""

    user_id: str
    reason: str | None
    actor: str
    client_id: str | None


@click.group()
def memory() -> None:
    """Correct, pin, unpin or delete one memory, as a person decides."""


def _decision_options(verb: Verb) -> Verb:
    """Add what every decision takes."""
    verb = json_option(verb)
    verb = wait_option("Seconds to wait until it has been carried out; it stands all the same.")(
        verb
    )
    verb = click.option(
        "--id", "client_id", help="Your own id of the decision: given again, it counts once."
    )(verb)
    verb = click.option("--actor", help="Who decides; by default, the user of this machine.")(verb)
    verb = click.option("--reason", help="Why; it stays in the log.")(verb)
    verb = user_options(verb)
    return click.argument("memory_id")(verb)


@memory.command()
@_decision_options
@click.option("--content", help="What it should have said.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in MemoryKind]),
    help="What sort of statement it is.",
)
@click.option(
    "--slot", type=click.Choice([slot.value for slot in Slot]), help="The attribute that it states."
)
@click.option("--about", help="user, or of whom it speaks.")
@click.option("--importance", type=click.IntRange(1, 5), help="1 (trivia) to 5 (safety).")
def correct(
    *,
    content: str | None,
    kind: str | None,
    slot: str | None,
    about: str | None,
    importance: int | None,
    **asked: Unpack[_Asked],
) -> None:
    """Say what MEMORY_ID should have been: as it stood, it never was true."""
    told = clean_correction(
        CorrectionInput(
            **_told(asked),
            content=content,
            kind=None if kind is None else MemoryKind(kind),
            slot=None if slot is None else Slot(slot),
            about=about,
            importance=importance,
        )
    )
    _correct(asked, told, done="corrected")


@memory.command()
@_decision_options
def pin(**asked: Unpack[_Asked]) -> None:
    """Serve MEMORY_ID whatever is asked."""
    told = clean_correction(CorrectionInput(**_told(asked), pinned=True))
    _correct(asked, told, done="pinned")


@memory.command()
@_decision_options
def unpin(**asked: Unpack[_Asked]) -> None:
    """Serve MEMORY_ID as any other again."""
    told = clean_correction(CorrectionInput(**_told(asked), pinned=False))
    _correct(asked, told, done="no longer pinned")


@memory.command()
@_decision_options
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def delete(*, yes: bool, **asked: Unpack[_Asked]) -> None:
    """Delete MEMORY_ID with every version of it; said before, it is not stored again."""
    told = clean_deletion(DeletionInput(**_told(asked)))
    if not yes:
        named = f"{shown(asked['memory_id'])} of {shown(told.user_id)}"
        click.confirm(f"delete {named}, with every version of it?", abort=True, err=True)
    tenant = clean_identifier("--tenant", asked["tenant"])

    async def append(appenders: Appenders) -> Appended:
        return await appenders.curations.delete(tenant, asked["memory_id"], told)

    _carry_out(asked, tenant, told.user_id, append, done="deleted")


def _told(asked: _Asked) -> _Told:
    return {
        "user_id": clean_identifier("--user", asked["user"]),
        "reason": asked["reason"],
        "actor": actor_named(asked["actor"]),
        "client_id": asked["client_id"],
    }


def _correct(asked: _Asked, told: CorrectionInput, *, done: str) -> None:
    tenant = clean_identifier("--tenant", asked["tenant"])

    async def append(appenders: Appenders) -> Appended:
        return await appenders.curations.correct(tenant, asked["memory_id"], told)

    _carry_out(asked, tenant, told.user_id, append, done=done)


def _carry_out(asked: _Asked, tenant: str, user_id: str, append: Append, *, done: str) -> None:
    timeout_s = asked["timeout"]
    seen = asyncio.run(see_through(tenant, user_id, append, timeout_s))
    if asked["as_json"]:
        print_json(seen.as_json)
    elif seen.closed is None:
        click.echo(
            f"memledger: not carried out within {timeout_s:g} s: the decision stands in the log at "
            f"{seen.appended.position} and is carried out once a worker comes to it; see "
            "`memledger status`",
            err=True,
        )
    else:
        closing = seen.closed.closing
        click.echo(with_rules(BECAME.get(closing, done), seen.closed))
    if seen.closed is None or seen.closed.closing not in _DONE:
        raise SystemExit(1)


async def see_through(tenant: str, user_id: str, append: Append, timeout_s: float) -> SeenThrough:
    """Append a decision and wait until it is carried out."""
    return await append_and_see_through(tenant, user_id, append, timeout_s=timeout_s)
