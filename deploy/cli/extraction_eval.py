"""``memledger eval extraction``."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.evaluation.conversations import read_conversations
from deploy.evaluation.running import Mode, Parts, run_all
from deploy.evaluation.scoring import as_json, score
from deploy.wiring import embedder_of, extractor_of
from schemas.prices import Prices, cost
from schemas.proposals import Usage
from schemas.settings import Settings


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What the command line asks for."""

    extractor: str | None
    cases: Path | None
    mode: Mode
    verbose: bool


@click.command("extraction")
@click.option(
    "--extractor",
    help="Which extractor, as in MEMLEDGER_EXTRACTOR; that one is taken where none is named.",
)
@click.option(
    "--cases",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A directory with one labelled conversation in each .json file; else that of the source "
    "tree.",
)
@click.option(
    "--mode",
    default="turn",
    show_default=True,
    type=click.Choice(["turn", "session"]),
    help="Ask about each turn, or about each conversation at its end.",
)
@click.option("--verbose", is_flag=True, help="List each miss and each wrong memory.")
@json_option
def extraction(
    *, extractor: str | None, cases: Path | None, mode: Mode, verbose: bool, as_json: bool
) -> None:
    """Precision and recall of what is remembered of labelled conversations.

    Each conversation is that of a user without memories, and goes through extraction, gate and
    reconciliation in this process: no pipeline is needed and nothing is kept. An extractor with a
    model behind it is asked, which costs.
    """
    asked = _Asked(extractor=extractor, cases=cases, mode=mode, verbose=verbose)
    told = asyncio.run(_evaluate(asked))
    if as_json:
        print_json(told)
    else:
        _print(told)


async def _evaluate(asked: _Asked) -> dict[str, Any]:
    conversations = read_conversations(asked.cases)
    settings = Settings.from_environment()
    if asked.extractor is not None:
        settings = settings.model_copy(update={"extractor": asked.extractor})
    prices = Prices.read(settings.prices)
    async with extractor_of(settings) as extractor, embedder_of(settings) as embedder:
        parts = Parts(
            extractor=extractor,
            embedder=embedder,
            attempts_max=settings.extract_attempts_max,
            timeout_s=settings.extract_timeout_s,
            mode=asked.mode,
        )
        scores = score(await run_all(parts, conversations))
        return {
            "extractor": extractor.name,
            "model": extractor.model,
            "prompt_hash": extractor.prompt_hash,
            "mode": asked.mode,
            "embedder": embedder.name,
            **as_json(scores, listed=asked.verbose),
            "cost": _cost_json(prices, scores.usage, extractor.model),
        }


def _cost_json(prices: Prices | None, usage: Usage, model: str) -> dict[str, str] | None:
    money = cost(prices, usage, model)
    if money is None or prices is None:
        return None
    return {"money": str(money), "currency": prices.currency}


def _print(told: dict[str, Any]) -> None:
    out = console()
    for grouping in ("kind", "slot", "language"):
        rows = table(grouping, "labels", "found", "recall", "stored", "right", "precision")
        for name, figures in told[f"by_{grouping}"].items():
            rows.add_row(name, *_cells(figures))
        if grouping == "kind":
            rows.add_row("all", *_cells(told["all"]), style="bold")
        out.print(rows)
        out.print()
    out.print(
        f"{told['extractor']} ({told['model']}), {told['mode']} mode: {told['conversations']} "
        f"conversations, {told['turns']} turns; {told['skipped']} questions kept from the extractor"
    )
    out.print(
        f"{told['forbidden_stored']} memories hold what they must never hold; "
        f"{told['gone']['left']} of {told['gone']['asked']} were left that should be gone"
    )
    out.print(f"refused: {_counts(told['refused'])}; flagged: {told['flagged']}")
    out.print(f"without a usable answer: {_counts(told['failed'])}")
    if told["usage"]["calls"]:
        money = told["cost"]
        out.print(
            f"{told['usage']['calls']} calls, "
            + (f"{money['money']} {money['currency']}" if money else "at no known price")
        )
    elif not told["failed"]:
        out.print(
            f"no model was asked: the extractor {told['extractor']} works without one; to measure "
            "a model's, name it with --extractor, or MEMLEDGER_EXTRACTOR: anthropic, openai, or "
            "package.module:factory"
        )
    for name in ("missed", "wrong", "forbidden", "left"):
        for one in told.get(name, ()):
            out.print(_line(name, one))


def _cells(figures: dict[str, Any]) -> tuple[str, ...]:
    return (
        str(figures["labels"]),
        str(figures["found"]),
        _percent(figures["recall"]),
        str(figures["stored"]),
        str(figures["right"]),
        _percent(figures["precision"]),
    )


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "0"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%"


def _line(name: str, one: dict[str, Any]) -> str:
    place = f"{name} {one['conversation']} turn {one['turn']}:"
    if name == "left":
        return f"{place} {shown(one['content'])}"
    said = shown(one["user"])
    if name == "missed":
        label = one["label"]
        words = " & ".join("/".join(group) for group in label["words"])
        return f"{place} {'/'.join(label['slots'])} {'/'.join(label['about'])} [{words}] of: {said}"
    return f"{place} {one['slot']} {one['about']} [{shown(one['content'])}] of: {said}"
