"""``memledger eval recall`` on a public set whose questions name the turns that answer them."""

from __future__ import annotations

import asyncio
from typing import Any

from rich.console import Console

from deploy.cli.output import console, print_json, shown, table
from deploy.evaluation.evidence import PublicSet
from deploy.evaluation.evidence_recall import CUTS, EvidenceScores, Found, run_public_set
from deploy.wiring import embedder_of
from schemas.settings import Settings


def evaluate_public_set(held: PublicSet, settings: Settings, *, as_json: bool) -> None:
    """Measure a set and print what each way of recall found.

    Args:
        held: the set.
        settings: which embedder.
        as_json: whether for programs.
    """
    scores = asyncio.run(_evaluate(held, settings))
    if as_json:
        print_json(_report(scores))
    else:
        _print(console(), scores)


async def _evaluate(held: PublicSet, settings: Settings) -> EvidenceScores:
    announce = Console(stderr=True, highlight=False, markup=False)
    async with embedder_of(settings) as embedder:
        return await run_public_set(
            held, embedder, told=lambda step: announce.print(f"· {shown(step)}")
        )


def _report(scores: EvidenceScores) -> dict[str, Any]:
    return {
        "set": scores.name,
        "embedder": scores.embedder,
        "talks": scores.talks,
        "turns": scores.turns,
        "questions": scores.questions,
        "left_out": scores.left_out,
        "ways": {
            way.way: {
                "all": _shares(way.all),
                "by_kind": {kind: _shares(found) for kind, found in sorted(way.by_kind.items())},
                "by_talk": {talk: _shares(found) for talk, found in way.by_talk.items()},
            }
            for way in scores.ways
        },
    }


def _shares(found: Found) -> dict[str, float | int]:
    return {
        "questions": len(found.shares),
        **{f"recall_at_{cut}": share for cut, share in found.recall.items()},
    }


def _print(out: Console, scores: EvidenceScores) -> None:
    rows = table("served by", "kind", "questions", *(f"at {cut}" for cut in CUTS))
    for way in scores.ways:
        rows.add_row(way.way, "all", *_cells(way.all), style="bold")
        for kind, found in sorted(way.by_kind.items()):
            rows.add_row("", shown(kind), *_cells(found))
    out.print(rows)
    out.print(
        f"{scores.name}, evidence recall: {scores.talks} talks, {scores.turns:,} turns, "
        f"{scores.questions:,} questions; embedder {scores.embedder}"
    )
    for why, number in scores.left_out.items():
        out.print(f"left out: {number} {shown(why)}")


def _cells(found: Found) -> tuple[str, ...]:
    return (str(len(found.shares)), *(f"{100 * share:.1f}%" for share in found.recall.values()))
