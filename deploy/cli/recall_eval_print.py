"""What ``memledger eval recall`` prints for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from rich.console import Console

from deploy.cli.output import shown, table
from deploy.evaluation.recall_scoring import Fault, Figures, RecallScores

_COLUMNS: Final = (
    "scripts",
    "questions",
    "hit",
    "stale use",
    "unwanted",
    "empty",
    "foreign",
    "harmful",
    "tokens",
    "tokens p95",
)


def print_scores(
    out: Console, about: Mapping[str, Any], scores: RecallScores, *, listed: bool
) -> None:
    """Print the figures by category, by language and in all.

    Args:
        out: where to.
        about: the embedder's name, the threshold that is set for it, and the policy's name.
        scores: the figures.
        listed: whether each answer that went wrong is listed.
    """
    rows = table("category", *_COLUMNS)
    for name, figures in scores.by_category.items():
        rows.add_row(shown(name), *_cells(figures))
    rows.add_row("all", *_cells(scores.all), style="bold")
    if scores.held_out.questions:
        rows.add_row("not held out", *_cells(scores.shown))
        rows.add_row("held out", *_cells(scores.held_out))
    out.print(rows)
    out.print()
    languages = table("language", *_COLUMNS)
    for name, figures in scores.by_language.items():
        languages.add_row(shown(name), *_cells(figures))
    out.print(languages)
    _print_about(out, about)
    _print_misfits(out, scores)
    if listed:
        for fault in scores.faults:
            out.print(_line(fault))


def print_sweep(
    out: Console,
    about: Mapping[str, Any],
    thresholds: Sequence[float],
    scores: Sequence[RecallScores],
) -> None:
    """Print the figures of all scripts at each threshold."""
    rows = table("min similarity", *_COLUMNS)
    for threshold, one in zip(thresholds, scores, strict=True):
        rows.add_row(f"{threshold:g}", *_cells(one.all))
    out.print(rows)
    _print_about(out, about)
    _print_misfits(out, scores[0])


def _print_about(out: Console, about: Mapping[str, Any]) -> None:
    out.print(
        f"embedder {about['embedder']}, with a threshold of {about['min_similarity']}; "
        f"policy {about['policy']}"
    )


def _print_misfits(out: Console, scores: RecallScores) -> None:
    for misfit in scores.misfits:
        out.print(
            f"{misfit.script}: {misfit.place} ({misfit.label or 'without a label'}) should be "
            f"{misfit.expected}, and is {misfit.got}"
        )


def _cells(figures: Figures) -> tuple[str, ...]:
    return (
        str(figures.scripts),
        str(figures.questions),
        _percent(figures.hit_rate),
        _percent(figures.stale_use_rate),
        _percent(figures.unwanted_mention_rate),
        _percent(figures.empty_rate),
        str(figures.foreign),
        str(figures.harmful),
        _tokens(figures.tokens_mean),
        _tokens(figures.tokens_p95),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.0f}%"


def _tokens(number: float | None) -> str:
    return "-" if number is None else f"{number:.0f}"


def _line(fault: Fault) -> str:
    answer = fault.answer
    parts = {
        "missed": ", ".join(fault.missed),
        "stale": ", ".join(fault.stale),
        "unwanted": "; ".join(map(shown, fault.unwanted)),
        "foreign": "; ".join(map(shown, fault.foreign)),
        "harmful": "; ".join(map(shown, fault.harmful)),
    }
    told = " · ".join(f"{name} {text}" for name, text in parts.items() if text)
    where = f"{answer.script.category}/{answer.script.name}"
    return f"{where}: {shown(answer.question.asks)} -> {told}"
