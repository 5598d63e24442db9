"""``memledger eval gate``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.evaluation.gate_cases import default_files, read_cases
from deploy.evaluation.gate_scores import (
    PRECISION_MIN,
    RECALL_MIN,
    GateScores,
    Score,
    WrongCase,
    measure_gate,
)


@click.command("gate")
@click.option(
    "--cases",
    "files",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="A file of labelled cases, one JSON object a line; may be given several times. Else those "
    "of the source tree.",
)
@json_option
def gate(files: tuple[Path, ...], as_json: bool) -> None:
    """Precision and recall of the gate's rules on labelled cases, and each case that went wrong.

    Exits with 1 where a rule misses a bound. No pipeline is needed and nothing is kept.
    """
    scores = measure_gate(read_cases(files or default_files()))
    if as_json:
        print_json(_report(scores))
    else:
        _print(scores)
    if not scores.held:
        raise SystemExit(1)


def _report(scores: GateScores) -> dict[str, Any]:
    return {
        "cases": scores.cases,
        "bounds": {"precision_min": PRECISION_MIN, "recall_min": RECALL_MIN},
        "held": scores.held,
        "rules": {reason.value: _figures(score) for reason, score in scores.rules.items()},
        "languages": {name: _figures(score) for name, score in scores.languages.items()},
        "total": _figures(scores.total),
        "wrong": list(map(_wrong, scores.wrong)),
    }


def _figures(score: Score) -> dict[str, Any]:
    return {
        "hits": score.hits,
        "false_alarms": score.false_alarms,
        "misses": score.misses,
        "precision": score.precision,
        "recall": score.recall,
        "held": score.held,
    }


def _wrong(wrong: WrongCase) -> dict[str, Any]:
    return {
        "id": wrong.case.id,
        "expected": [reason.value for reason in wrong.case.expect],
        "got": [reason.value for reason in wrong.got],
    }


def _print(scores: GateScores) -> None:
    screen = console()
    rules = table("rule", "hits", "false alarms", "misses", "precision", "recall", "held")
    for reason, score in scores.rules.items():
        rules.add_row(*_row(reason.value, score), style=None if score.held else "red")
    rules.add_row(*_row("all", scores.total))
    screen.print(rules)
    languages = table("language", "hits", "false alarms", "misses", "precision", "recall", "held")
    for name, score in scores.languages.items():
        languages.add_row(*_row(shown(name), score))
    screen.print(languages)
    if scores.wrong:
        wrong = table("case", "expected", "got", title="Wrong")
        for one in scores.wrong:
            told = _wrong(one)
            wrong.add_row(
                shown(one.case.id),
                ", ".join(told["expected"]) or "-",
                ", ".join(told["got"]) or "-",
            )
        screen.print(wrong)
    screen.print(
        f"{scores.cases} cases, {len(scores.wrong)} wrong; each rule is held to a precision of "
        f"{PRECISION_MIN} and a recall of {RECALL_MIN}"
    )


def _row(name: str, score: Score) -> list[str]:
    return [
        name,
        str(score.hits),
        str(score.false_alarms),
        str(score.misses),
        _share(score.precision),
        _share(score.recall),
        "yes" if score.held else "NO",
    ]


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
