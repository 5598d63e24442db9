"""``memledger eval recall``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from deploy.cli.evidence_eval import evaluate_public_set
from deploy.cli.output import console, json_option, print_json
from deploy.cli.recall_eval_print import print_scores, print_sweep
from deploy.evaluation.evidence import PublicSet
from deploy.evaluation.locomo import read_locomo
from deploy.evaluation.longmemeval import read_longmemeval
from deploy.evaluation.recall_evaluation import evaluate_in_throwaway
from deploy.evaluation.recall_scoring import Fault, RecallScores
from deploy.evaluation.recall_script_files import read_scripts
from deploy.wiring import embedder_of
from projections.recall_policies import VARIABLE, Policies, PolicyFile
from schemas.settings import Settings
from schemas.toml_file import read_toml

_COSINE: Final = click.FloatRange(-1, 1)
_OF_SCRIPTS: Final = (
    "cases",
    "categories",
    "min_similarity",
    "sweep",
    "policy",
    "at_least_hit",
    "at_most_unwanted",
    "verbose",
)
"""The options that only scripts have a use for."""


class _Thresholds(click.ParamType):
    """Least similarities, parted by commas."""

    name = "numbers"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's own signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> tuple[float, ...]:
        """Return them."""
        if isinstance(value, tuple):
            return value
        return tuple(_COSINE.convert(part.strip(), param, ctx) for part in value.split(","))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """What the command line asks for."""

    cases: Path | None
    categories: tuple[str, ...]
    settings: Settings
    policy: str | None
    thresholds: tuple[float | None, ...]


@click.command("recall")
@click.option(
    "--cases",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A directory with a directory for each category and one script in each .toml file there; "
    "else that of the source tree.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    help="Take the scripts of this category alone; may be given several times.",
)
@click.option(
    "--min-similarity",
    type=_COSINE,
    help="The threshold; else that of the settings or the embedder's own.",
)
@click.option(
    "--sweep",
    type=_Thresholds(),
    help="Thresholds to compare, such as 0.1,0.2,0.3: the figures of all scripts at each.",
)
@click.option(
    "--embedder", help="Which embedder, as in MEMLEDGER_EMBEDDER; that one where none is named."
)
@click.option(
    "--policy", help="The policy that chooses; else the default one of MEMLEDGER_RECALL_POLICIES."
)
@click.option(
    "--at-least-hit",
    type=click.FloatRange(0, 1),
    help="Exit with 1 where the hit rate of all scripts is below this share.",
)
@click.option(
    "--at-most-unwanted",
    type=click.FloatRange(0, 1),
    help="Exit with 1 where the unwanted-mention rate of all scripts is above this share.",
)
@click.option(
    "--locomo",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Measure on the conversations of this file instead: the evidence found at 5, 10 and 20.",
)
@click.option(
    "--longmemeval",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Measure on the histories of this file instead: the evidence found at 5, 10 and 20.",
)
@click.option("--verbose", is_flag=True, help="List each answer that went wrong.")
@json_option
def recall(
    *,
    cases: Path | None,
    categories: tuple[str, ...],
    min_similarity: float | None,
    sweep: tuple[float, ...] | None,
    embedder: str | None,
    policy: str | None,
    at_least_hit: float | None,
    at_most_unwanted: float | None,
    locomo: Path | None,
    longmemeval: Path | None,
    verbose: bool,
    as_json: bool,
) -> None:
    """What recall finds, and what it leaves out, on scripts of conversations over weeks.

    What the scripts' users said is noted as they say, goes through gate, reconciliation and
    projection into a Postgres of its own, and is asked for. No pipeline is needed, no model is
    asked, and nothing is kept. Exits with 1 where a user saw another's memory, a block holds what
    it must never hold, something came out otherwise than its script says, or a floor is missed.
    """
    settings = _settings(embedder)
    public_set = _public_set(locomo, longmemeval)
    if public_set is not None:
        evaluate_public_set(public_set, settings, as_json=as_json)
        return
    if sweep is not None and min_similarity is not None:
        raise click.UsageError("--sweep names the thresholds: leave out --min-similarity")
    asked = _Asked(
        cases=cases,
        categories=categories,
        settings=settings,
        policy=policy,
        thresholds=(min_similarity,) if sweep is None else sweep,
    )
    about, scores = asyncio.run(_evaluate(asked))
    if as_json:
        print_json(_report(about, asked.thresholds, scores, swept=sweep is not None))
    elif sweep is None:
        print_scores(console(), about, scores[0], listed=verbose)
    else:
        print_sweep(console(), about, sweep, scores)
    if not all(
        holds(one, at_least_hit=at_least_hit, at_most_unwanted=at_most_unwanted) for one in scores
    ):
        raise SystemExit(1)


def _settings(embedder: str | None) -> Settings:
    settings = Settings.from_environment()
    return settings if embedder is None else settings.model_copy(update={"embedder": embedder})


def _policies(settings: Settings, name: str | None) -> Policies:
    """Return the policies of the settings, of which the one of that name is the default."""
    path = settings.recall_policies
    held = PolicyFile() if path is None else read_toml(path, PolicyFile, variable=VARIABLE)
    return Policies(held if name is None else held.model_copy(update={"default": name}))


def _public_set(locomo: Path | None, longmemeval: Path | None) -> PublicSet | None:
    """Return the set that a file holds; ``None`` where none is named.

    Raises:
        click.UsageError: an option is given that a set has no use for.
    """
    if locomo is None and longmemeval is None:
        return None
    context = click.get_current_context()
    others = _OF_SCRIPTS if locomo is None or longmemeval is None else ("longmemeval",)
    for name in others:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            option = "--" + name.replace("_", "-").replace("categories", "category")
            raise click.UsageError(
                f"{option} cannot be given here: a public set is measured as it is, one at a time"
            )
    if locomo is not None:
        return read_locomo(locomo)
    return None if longmemeval is None else read_longmemeval(longmemeval)


async def _evaluate(asked: _Asked) -> tuple[dict[str, Any], list[RecallScores]]:
    scripts = read_scripts(asked.cases, categories=asked.categories)
    settings = asked.settings
    policies = _policies(settings, asked.policy)
    async with embedder_of(settings) as embedder:
        own = settings.recall_min_similarity
        own = embedder.min_similarity if own is None else own
        about = {
            "embedder": embedder.name,
            "min_similarity": own,
            "policy": policies.of(None)[0],
        }
        return about, await evaluate_in_throwaway(
            scripts,
            embedder,
            # Left to recall where nobody set one: it depends on the question's language too.
            thresholds=[
                settings.recall_min_similarity if one is None else one for one in asked.thresholds
            ],
            policies=policies,
        )


def holds(
    scores: RecallScores, *, at_least_hit: float | None, at_most_unwanted: float | None
) -> bool:
    """Tell whether scores are safe, of scripts that went as they say, and within the floors.

    Args:
        scores: the scores.
        at_least_hit: the least hit rate, which a run without anything to hit misses.
        at_most_unwanted: the greatest unwanted-mention rate.
    """
    hit, unwanted = scores.all.hit_rate, scores.all.unwanted_mention_rate
    return (
        scores.safe
        and not scores.misfits
        and (at_least_hit is None or (hit is not None and hit >= at_least_hit))
        and (at_most_unwanted is None or unwanted is None or unwanted <= at_most_unwanted)
    )


def _report(
    about: dict[str, Any],
    thresholds: Sequence[float | None],
    scores: Sequence[RecallScores],
    *,
    swept: bool,
) -> dict[str, Any]:
    if swept:
        return {
            **about,
            "sweep": [
                {"min_similarity": threshold, **_figures(one)}
                for threshold, one in zip(thresholds, scores, strict=True)
            ],
        }
    taken = about["min_similarity"] if thresholds[0] is None else thresholds[0]
    return {
        **about,
        "min_similarity": taken,
        **_figures(scores[0]),
        "faults": [_fault(fault) for fault in scores[0].faults],
        "misfits": [
            {
                "script": misfit.script,
                "place": misfit.place,
                "label": misfit.label,
                "expected": misfit.expected,
                "got": misfit.got,
            }
            for misfit in scores[0].misfits
        ],
    }


def _figures(scores: RecallScores) -> dict[str, Any]:
    return {
        "all": scores.all.as_json(),
        "shown": scores.shown.as_json(),
        "held_out": scores.held_out.as_json(),
        "by_category": {name: one.as_json() for name, one in scores.by_category.items()},
        "by_language": {name: one.as_json() for name, one in scores.by_language.items()},
    }


def _fault(fault: Fault) -> dict[str, Any]:
    answer = fault.answer
    return {
        "script": f"{answer.script.category}/{answer.script.name}",
        "asks": answer.question.asks,
        "missed": list(fault.missed),
        "stale": list(fault.stale),
        "unwanted": list(fault.unwanted),
        "foreign": list(fault.foreign),
        "harmful": list(fault.harmful),
    }
