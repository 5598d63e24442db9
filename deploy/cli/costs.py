"""``memledger costs``: what asking models has cost, and what it would cost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final

import click

from deploy.addresses import Addresses, resolve, running_settings
from deploy.cli.costs_print import print_estimate, print_spent
from deploy.cli.costs_sums import spent_json
from deploy.cli.output import json_option, print_json
from deploy.estimate.counting import Assumed
from deploy.estimate.modes import MODES, Estimate, Estimator, per_turn
from deploy.estimate.turns import ReadTurns, read_turns
from deploy.wiring import embedder_of, keyring_of, read_model_of
from processors.extractors.model.anthropic import DEFAULT_MODEL
from processors.extractors.model.prompt import KNOWN_MAX
from producers.importers.formats import AUTO, IMPORTERS
from projections.spending import PostgresSpending
from schemas.clock import utc_now
from schemas.errors import InvalidInput
from schemas.prices import Prices
from schemas.settings import Settings

ALL: Final = "all"
_FOR_AN_ESTIMATE: Final = ("format_name", "user", "model", "mode", "known", "memories", "cached")
_OF_THE_LEDGER: Final = ("since", "tenant")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What an estimate is asked for."""

    file: Path
    format_name: str
    user: str | None
    model: str | None
    modes: tuple[str, ...]
    assumed: Assumed


@click.command()
@click.option(
    "--since",
    type=click.DateTime(formats=["%Y-%m-%d"]),
    help="The first UTC day; else the first of this month.",
)
@click.option("--tenant", help="Of this tenant alone.")
@click.option(
    "--estimate",
    "file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Estimate instead what the turns of this file would cost, which `import` could read. No "
    "model is asked, and nothing is appended.",
)
@click.option(
    "--format",
    "format_name",
    default=AUTO,
    show_default=True,
    type=click.Choice([AUTO, *(importer.name for importer in IMPORTERS)]),
    help="How to read the file.",
)
@click.option("--user", help="Whose conversations these are, where the file does not tell.")
@click.option(
    "--model", help="Whose prices to take; else those of the model that MEMLEDGER_EXTRACTOR asks."
)
@click.option(
    "--mode",
    default=ALL,
    show_default=True,
    type=click.Choice([ALL, *MODES]),
    help="When the model would be asked.",
)
@click.option(
    "--known",
    default=KNOWN_MAX,
    show_default=True,
    type=click.IntRange(0, KNOWN_MAX),
    help="How many known memories each question shows.",
)
@click.option(
    "--memories",
    default=Assumed(known=0).memories_per_turn,
    show_default=True,
    type=click.FloatRange(0),
    help="How many memories there are in a turn that is asked about.",
)
@click.option(
    "--cached",
    default=Assumed(known=0).cached_share,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="Of which share of the calls the provider still has the rules in its cache.",
)
@json_option
@click.pass_context
def costs(
    ctx: click.Context,
    *,
    since: datetime | None,
    tenant: str | None,
    file: Path | None,
    format_name: str,
    user: str | None,
    model: str | None,
    mode: str,
    known: int,
    memories: float,
    cached: float,
    as_json: bool,
) -> None:
    """What asking language models has cost, by tenant and model, in tokens and money.

    Money needs the models' prices: name a file of them in MEMLEDGER_PRICES. With --estimate it is
    told instead what each mode of extraction would cost for the turns of a file.
    """
    _check_options(ctx, estimating=file is not None)
    if file is None:
        first = (
            since.date() if since is not None else utc_now().astimezone(UTC).date().replace(day=1)
        )
        told = asyncio.run(_spent(first, tenant))
    else:
        asked = _Asked(
            file=file,
            format_name=format_name,
            user=user,
            model=model,
            modes=MODES if mode == ALL else (mode,),
            assumed=Assumed(known=known, memories_per_turn=memories, cached_share=cached),
        )
        told = asyncio.run(_estimated(asked))
    if as_json:
        print_json(told)
    elif file is None:
        print_spent(told)
    else:
        print_estimate(told)


def _check_options(ctx: click.Context, *, estimating: bool) -> None:
    """Refuse an option that would change nothing."""
    for name in _OF_THE_LEDGER if estimating else _FOR_AN_ESTIMATE:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(it.opts[0] for it in ctx.command.params if it.name == name)
            raise InvalidInput(
                field=option,
                problem="says nothing about an estimate"
                if estimating
                else "says nothing about what was spent",
                remedy="leave it out" if estimating else "leave it out, or add --estimate FILE",
            )


async def _spent(since: date, tenant: str | None) -> dict[str, Any]:
    settings = running_settings()
    prices = Prices.read(settings.prices)
    addresses = resolve(settings)
    if tenant is not None:
        await _require_tenant(settings, addresses, tenant)
    async with (
        embedder_of(settings) as embedder,
        read_model_of(settings, addresses, embedder, name="costs") as read_model,
    ):
        rows = await PostgresSpending(read_model).spent(since=since, tenant=tenant)
    return spent_json(rows, prices, since=since, tenant=tenant)


async def _require_tenant(settings: Settings, addresses: Addresses, tenant: str) -> None:
    """Refuse a tenant that there is not: what it cost would be told as nothing.

    Raises:
        UnknownTenant: there is none of that name.
    """
    async with keyring_of(settings, addresses, pool_size_max=1) as keyring:
        await keyring.require_tenant(tenant)


async def _estimated(asked: _Asked) -> dict[str, Any]:
    settings = Settings.from_environment()
    prices = Prices.read(settings.prices)
    read = await read_turns(asked.file, format_name=asked.format_name, user=asked.user)
    if not read.turns:
        raise InvalidInput(
            field="--estimate",
            problem="holds no turn that could be imported",
            remedy="look at it with memledger import --dry-run",
        )
    estimator = Estimator(settings, asked.assumed)
    model = asked.model or _model_asked(settings)
    estimates = [await estimator.estimate(mode, read.conversations) for mode in asked.modes]
    return {
        "file": str(asked.file),
        "format": read.report.format,
        "turns": read.turns,
        "conversations": len(read.conversations),
        "left_out": read.left_out,
        "refused": read.report.totals.refused,
        "unreadable": read.report.unreadable.total,
        "model": model,
        "currency": None if prices is None else prices.currency,
        "assumed": {
            "known_memories": asked.assumed.known,
            "memories_per_turn": asked.assumed.memories_per_turn,
            "cached_share": asked.assumed.cached_share,
            "session_idle_s": settings.session_idle_s,
        },
        "modes": {one.mode: _mode_json(one, read, prices, model) for one in estimates},
    }


def _model_asked(settings: Settings) -> str | None:
    """Return the model that the settings' extractor asks, if it asks one."""
    default = DEFAULT_MODEL if settings.extractor == "anthropic" else None
    return settings.extractor_model or default


def _mode_json(
    estimate: Estimate, read: ReadTurns, prices: Prices | None, model: str | None
) -> dict[str, Any]:
    money = None
    if prices is not None and model is not None:
        money = prices.cost(estimate.usage, model)
    return {
        "asked_turns": estimate.asked,
        "kept_away": dict(estimate.kept_away.most_common()),
        "sessions": estimate.sessions,
        "usage": estimate.usage.model_dump(),
        "usage_per_turn": dict(per_turn(estimate.usage, read.turns)),
        "money": None if money is None else str(money),
        "money_per_turn": None if money is None else f"{money / read.turns:.8f}",
    }
