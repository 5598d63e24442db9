"""``memledger flags``: what code left to a person, and the person's decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar
from uuid import UUID

import click
from click.core import ParameterSource

from deploy.addresses import resolve, running_settings
from deploy.cli.appending import actor_named
from deploy.cli.carried_out import wait_option, with_rules
from deploy.cli.deciding import Decided, Deciding
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.wiring import check_topics, embedder_of, keyring_of, producer_of, read_model_of
from producers.commands import CommandAppender
from producers.commands_input import DecisionInput, clean_decision
from producers.subject_records import SubjectRecords
from projections.flags import LIMIT_MAX, PostgresFlags
from projections.read_model import ReadModel
from projections.turns import PostgresTurns
from schemas.errors import InvalidInput
from schemas.flags import Flag, FlagState
from schemas.keyring import Keyring
from schemas.records import Closing
from schemas.settings import DEFAULT_TENANT, Settings
from schemas.text import clean_identifier

ALL: Final = "all"
_MINUTE: Final = "%Y-%m-%d %H:%M"

Verb = TypeVar("Verb", bound=Callable[..., Any])

BECAME: Final[Mapping[Closing, str]] = {
    Closing.STORED: "carried out: a memory was added, changed, confirmed or withdrawn",
    Closing.REJECTED: "carried out: no memory changed",
    Closing.NOTHING_FOUND: "carried out: no memory changed",
    Closing.DEAD_LETTERED: "it could not be processed, and is kept as a dead letter",
    Closing.ERASED: "the user was erased meanwhile",
}
"""What a decision came to, by how its record closed."""

_FAILED: Final = (Closing.DEAD_LETTERED, Closing.ERASED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue:
    """Flags, and whose they are.

    Attributes:
        flags: the flags.
        users: the user ids of their subjects; one who was erased meanwhile has none.
    """

    flags: Sequence[Flag]
    users: Mapping[UUID, str]


def _tenant_option(verb: Verb) -> Verb:
    return click.option(
        "--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose users they are of."
    )(verb)


@click.group(invoke_without_command=True)
@click.option(
    "--state",
    type=click.Choice([*(state.value for state in FlagState), ALL]),
    default=FlagState.OPEN.value,
    show_default=True,
    help="Which flags to list.",
)
@click.option("--user", help="Those of one user only, by the id that the chat app knows.")
@_tenant_option
@json_option
@click.pass_context
def flags(
    context: click.Context, *, state: str, user: str | None, tenant: str, as_json: bool
) -> None:
    """List what code left to a person, with the words that it goes by; decide with the verbs below.

    What waits the longest comes first. Times are in UTC.
    """
    if context.invoked_subcommand is not None:
        _require_no_options(context)
        return
    tenant = clean_identifier("--tenant", tenant)
    user_id = None if user is None else clean_identifier("--user", user)
    states = list(FlagState) if state == ALL else [FlagState(state)]
    queue = asyncio.run(_listed(tenant, user_id, states))
    if as_json:
        print_json({"flags": [_flag_json(flag, queue) for flag in queue.flags]})
    elif queue.flags:
        _print_table(queue)
    else:
        click.echo("no flags" if state == ALL else f"no flags are {state}: see --state")


def _require_no_options(context: click.Context) -> None:
    """Refuse options in front of a verb, which would be those of the list."""
    for name in context.params:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            spelled = "--json" if name == "as_json" else f"--{name}"
            raise InvalidInput(
                field=spelled,
                problem=f"stands in front of {context.invoked_subcommand}",
                remedy=f"put it behind: memledger flags {context.invoked_subcommand} FLAG_ID "
                f"{spelled} ...",
            )


def _decision_options(verb: Verb) -> Verb:
    """Add what both decisions take."""
    verb = json_option(verb)
    verb = wait_option(
        "Seconds to wait until the decision has been carried out; it stands all the same."
    )(verb)
    verb = click.option("--actor", help="Who decides; by default, the user of this machine.")(verb)
    verb = _tenant_option(verb)
    verb = click.option("--reason", required=True, help="Why; it is kept with the decision.")(verb)
    return click.argument("flag_id")(verb)


@flags.command()
@_decision_options
def approve(
    *, flag_id: str, reason: str, tenant: str, actor: str | None, timeout: float, as_json: bool
) -> None:
    """Carry out what was proposed under FLAG_ID. The first decision about a flag counts."""
    decision = clean_decision(approved=True, reason=reason, actor=actor_named(actor))
    _decide_and_tell(tenant, flag_id, decision, timeout, as_json=as_json)


@flags.command()
@_decision_options
def refuse(
    *, flag_id: str, reason: str, tenant: str, actor: str | None, timeout: float, as_json: bool
) -> None:
    """Refuse what was proposed under FLAG_ID. The first decision about a flag counts."""
    decision = clean_decision(approved=False, reason=reason, actor=actor_named(actor))
    _decide_and_tell(tenant, flag_id, decision, timeout, as_json=as_json)


def _decide_and_tell(
    tenant: str, flag_id: str, decision: DecisionInput, timeout_s: float, *, as_json: bool
) -> None:
    tenant = clean_identifier("--tenant", tenant)
    decided = asyncio.run(_decide(tenant, flag_id, decision, timeout_s))
    if as_json:
        print_json(_decided_json(decided))
    else:
        _print_decided(decided, decision, timeout_s)
    closed = decided.closed
    if decided.appended is not None and (closed is None or closed.closing in _FAILED):
        raise SystemExit(1)


def _print_decided(decided: Decided, decision: DecisionInput, timeout_s: float) -> None:
    said = "approved" if decision.approved else "refused"
    verdict = decided.flag.verdict
    if decided.appended is None:
        by = "" if verdict is None else f", by {shown(verdict.actor)}: {shown(verdict.reason)}"
        click.echo(f"{said} already: {_named(decided.flag)}{by}")
    elif decided.closed is None:
        click.echo(
            f"memledger: {said}, but not carried out within {timeout_s:g} s: the decision stands "
            f"in the log at {decided.appended.position} and is carried out once a worker comes to "
            "it; "
            "see `memledger status` and `memledger flags --state all`",
            err=True,
        )
    else:
        closed = decided.closed
        came_to = BECAME.get(closed.closing, closed.closing.value)
        if closed.reasons:
            came_to = with_rules(
                f"{came_to}, refused by the rules that every memory must pass", closed
            )
        click.echo(f"{said} {_named(decided.flag)}; {came_to}")


def _named(flag: Flag) -> str:
    """Return what a flag is about, in the words that were proposed."""
    return f"\u201c{shown(flag.operation.content)}\u201d"


def _decided_json(decided: Decided) -> dict[str, Any]:
    appended, closed = decided.appended, decided.closed
    return {
        "flag_id": str(decided.flag.flag_id),
        "state": decided.flag.state.value,
        "already": appended is None,
        "turn_id": None if appended is None else str(appended.turn_id),
        "position": None if appended is None else appended.position,
        "closing": None if closed is None else closed.closing.value,
        "reasons": [] if closed is None else [reason.value for reason in closed.reasons],
    }


def _flag_json(flag: Flag, queue: Queue) -> dict[str, Any]:
    """Return a flag as ``GET /v1/flags`` shows it."""
    shown_flag = asdict(flag) | {"operation": flag.operation.model_dump(mode="json")}
    del shown_flag["subject"]
    return {"user_id": queue.users.get(flag.subject), **shown_flag}


def _print_table(queue: Queue) -> None:
    rows = table("flag", "user", "proposed", "the words", "why", "flagged", "state")
    rows.columns[0].no_wrap = True  # an id in two pieces cannot be copied
    for flag in queue.flags:
        rows.add_row(
            str(flag.flag_id),
            shown(queue.users.get(flag.subject, "(erased)")),
            f"{flag.operation.action.value}: {shown(flag.operation.content)}",
            f"\u201c{shown(flag.operation.quote)}\u201d" if flag.operation.quote else "",
            ", ".join(reason.value for reason in flag.reasons),
            f"{flag.flagged_at:{_MINUTE}}",
            _state_told(flag),
        )
    console().print(rows)


def _state_told(flag: Flag) -> str:
    if flag.verdict is None:
        return flag.state.value
    verdict = flag.verdict
    return (
        f"{flag.state.value} {verdict.decided_at:{_MINUTE}} by {shown(verdict.actor)}: "
        f"{shown(verdict.reason)}"
    )


async def _listed(tenant: str, user_id: str | None, states: Sequence[FlagState]) -> Queue:
    async with AsyncExitStack() as parts:
        _, keyring, read_model = await _open(parts)
        # Asked for nobody as well: a tenant that there is not has no empty queue.
        named = [] if user_id is None else [user_id]
        found = await keyring.subjects_for(tenant, named, create=False)
        if user_id is not None and user_id not in found:
            return Queue(flags=(), users={})
        subject = None if user_id is None else found[user_id].subject
        flags = [
            flag
            for state in states
            for flag in await _all_pages(PostgresFlags(read_model), tenant, state, subject)
        ]
        users = await keyring.user_ids({flag.subject for flag in flags})
        return Queue(flags=flags, users=users)


async def _all_pages(
    flags: PostgresFlags, tenant: str, state: FlagState, subject: UUID | None
) -> list[Flag]:
    found: list[Flag] = []
    cursor: str | None = None
    while True:
        page = await flags.page(
            tenant, state=state, subject=subject, cursor=cursor, limit=LIMIT_MAX
        )
        found.extend(page.flags)
        cursor = page.next_cursor
        if cursor is None:
            return found


async def _decide(tenant: str, flag_id: str, decision: DecisionInput, timeout_s: float) -> Decided:
    async with AsyncExitStack() as parts:
        settings, keyring, read_model = await _open(parts)
        await keyring.subjects_for(tenant, [], create=False)  # a tenant that there is not is told
        addresses = resolve(settings)
        await check_topics(settings, addresses)
        producer = await parts.enter_async_context(producer_of(addresses, name="flags", quiet=True))
        appender = CommandAppender(SubjectRecords(keyring, producer, settings.partitions))
        turns = PostgresTurns(read_model, partitions=settings.partitions)
        deciding = Deciding(PostgresFlags(read_model), appender, turns)
        return await deciding.decide(tenant, flag_id, decision, timeout_s=timeout_s)


async def _open(parts: AsyncExitStack) -> tuple[Settings, Keyring, ReadModel]:
    settings = running_settings()
    addresses = resolve(settings)
    embedder = await parts.enter_async_context(embedder_of(settings))
    keyring = await parts.enter_async_context(keyring_of(settings, addresses))
    read_model = await parts.enter_async_context(
        read_model_of(settings, addresses, embedder, name="cli")
    )
    return settings, keyring, read_model
