"""``memledger remember``: a fact of one of the operator's systems, or a person's statement."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import click

from deploy.cli.appending import (
    Appenders,
    SeenThrough,
    actor_named,
    append_and_see_through,
)
from deploy.cli.carried_out import wait_option, with_rules
from deploy.cli.output import json_option, print_json
from deploy.cli.reading import user_options
from producers.curations_input import StatementInput, clean_statement
from producers.facts_input import IMPORTANCE_DEFAULT, FactInput, clean_fact
from producers.subject_records import Appended
from schemas.errors import InvalidInput
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


class Usual(NamedTuple):
    """What is remembered where nothing else is said."""

    kind: MemoryKind
    slot: Slot


USUAL_OF_SYSTEM: Final = Usual(kind=MemoryKind.EPISODIC, slot=Slot.EVENT)
"""A system tells what happened there."""
USUAL_OF_PERSON: Final = Usual(kind=MemoryKind.SEMANTIC, slot=Slot.NOTE)
"""A person tells what is so: the same that the tool ``remember`` of the MCP server takes it for."""

_REMEMBERED: Final = (Closing.STORED, Closing.NOTHING_FOUND)


@click.command()
@click.argument("content")
@user_options
@click.option("--system", help="The system that knows it, such as orders.")
@click.option("--type", "type_", help="What sort of fact it is there.")
@click.option("--reference", help="The system's own name for it, such as an order's number.")
@click.option(
    "--kind",
    type=click.Choice([kind.value for kind in MemoryKind]),
    help="What sort of statement it is; by default episodic, with --person semantic.",
)
@click.option(
    "--slot",
    type=click.Choice([slot.value for slot in Slot]),
    help="The attribute that it states; by default event, with --person note.",
)
@click.option("--about", default=ABOUT_USER, show_default=True, help="user, or of whom it speaks.")
@click.option(
    "--importance",
    type=click.IntRange(1, 5),
    default=IMPORTANCE_DEFAULT,
    show_default=True,
    help="1 (trivia) to 5 (safety).",
)
@click.option(
    "--person",
    is_flag=True,
    help="A person states it, which outranks what a model proposes; without --system and --type.",
)
@click.option("--pinned", is_flag=True, help="Serve it whatever is asked; with --person.")
@click.option("--actor", help="Who decides, with --person; by default, the user of this machine.")
@click.option("--id", "client_id", help="Your own id of it: given again, it counts once.")
@wait_option("Seconds to wait until it has been processed; it stands all the same.")
@json_option
def remember(
    *,
    content: str,
    user: str,
    tenant: str,
    system: str | None,
    type_: str | None,
    reference: str | None,
    person: bool,
    pinned: bool,
    actor: str | None,
    kind: str | None,
    slot: str | None,
    about: str,
    importance: int,
    client_id: str | None,
    timeout: float,
    as_json: bool,
) -> None:
    """Remember CONTENT, which one of your systems knows or a person states: POST /v1/memories."""
    usual = USUAL_OF_PERSON if person else USUAL_OF_SYSTEM
    told: dict[str, Any] = {
        "user_id": clean_identifier("--user", user),
        "content": content,
        "kind": usual.kind if kind is None else MemoryKind(kind),
        "slot": usual.slot if slot is None else Slot(slot),
        "about": about,
        "importance": importance,
        "client_id": client_id,
    }
    of_person = {"--pinned": pinned or None, "--actor": actor}
    of_system = {"--system": system, "--type": type_, "--reference": reference}
    _require_none(
        of_system if person else of_person, whose="a system's" if person else "a person's"
    )
    remembered: FactInput | StatementInput
    if person:
        remembered = clean_statement(
            StatementInput(**told, pinned=pinned, actor=actor_named(actor))
        )
    else:
        for name in ("--system", "--type"):
            _require_there(name, of_system[name])
        remembered = clean_fact(
            **told,
            system=system or "",
            type_=type_ or "",
            reference=reference,
            valid_from=None,
            expires_at=None,
        )
    seen = asyncio.run(_remember(clean_identifier("--tenant", tenant), remembered, timeout))
    _tell(seen, timeout, as_json=as_json)
    if seen.closed is None or seen.closed.closing not in _REMEMBERED:
        raise SystemExit(1)


def _tell(seen: SeenThrough, timeout_s: float, *, as_json: bool) -> None:
    if as_json:
        print_json(seen.as_json)
    elif seen.closed is None:
        click.echo(
            f"memledger: not processed within {timeout_s:g} s: the fact stands in the log at "
            f"{seen.appended.position} and is processed once a worker comes to it; see "
            "`memledger status`",
            err=True,
        )
    else:
        closing = seen.closed.closing
        click.echo(with_rules(BECAME.get(closing, closing.value), seen.closed))


def _require_none(options: Mapping[str, str | bool | None], *, whose: str) -> None:
    for name, value in options.items():
        if value is not None:
            raise InvalidInput(
                field=name,
                problem=f"is {whose} alone",
                remedy="leave it out, or say by --person who vouches for it",
            )


def _require_there(name: str, value: str | None) -> None:
    if value is None:
        raise InvalidInput(
            field=name,
            problem="is missing",
            remedy="give it for a fact of a system; what a person states needs --person instead",
        )


async def _remember(
    tenant: str, remembered: FactInput | StatementInput, timeout_s: float
) -> SeenThrough:
    async def append(appenders: Appenders) -> Appended:
        if isinstance(remembered, FactInput):
            return await appenders.commands.remember(tenant, remembered)
        return await appenders.curations.remember(tenant, remembered)

    return await append_and_see_through(tenant, remembered.user_id, append, timeout_s=timeout_s)
