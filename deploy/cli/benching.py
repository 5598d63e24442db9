"""``memledger bench``."""

from __future__ import annotations

import click
from rich.console import Console

from deploy.bench.figures import Figure
from deploy.bench.options import BenchSize
from deploy.bench.run import BENCHES, machine, report, run_benches
from deploy.cli.output import console, json_option, print_json, table

_SIZE = BenchSize()


@click.command()
@click.argument("names", metavar="[BENCH]...", nargs=-1, type=click.Choice(list(BENCHES)))
@click.option(
    "--turns",
    default=_SIZE.turns,
    show_default=True,
    type=click.IntRange(1),
    help="Turns through the pipeline.",
)
@click.option(
    "--users",
    default=_SIZE.users,
    show_default=True,
    type=click.IntRange(1),
    help="Users that say them.",
)
@click.option(
    "--appends",
    default=_SIZE.appends,
    show_default=True,
    type=click.IntRange(1),
    help="Appends of each round, sealed and plain.",
)
@click.option(
    "--probes",
    default=_SIZE.probes,
    show_default=True,
    type=click.IntRange(1),
    help="Turns whose way to recall is timed.",
)
@click.option(
    "--rows",
    default=_SIZE.rows,
    show_default=True,
    type=click.IntRange(1),
    help="Memories of the large read model; the small one has a hundredth.",
)
@click.option(
    "--memories-a-user",
    default=_SIZE.memories_a_user,
    show_default=True,
    type=click.IntRange(1),
    help="Memories of each user in both.",
)
@click.option(
    "--recalls",
    default=_SIZE.recalls,
    show_default=True,
    type=click.IntRange(10),
    help="Recalls that are timed in each.",
)
@click.option("--check", is_flag=True, help="Exit with 1 where a bound is missed.")
@json_option
def bench(names: tuple[str, ...], *, check: bool, as_json: bool, **size: int) -> None:
    """Measure what this machine does against the bounds that memledger is held to.

    Without a BENCH all of them run, one after the other, about ten minutes. Each starts stores of
    its own in a temporary directory and removes them; what DATABASE_URL and KAFKA_BOOTSTRAP name is
    left alone. A figure is good for comparing with others of the same run: leave the machine idle.

    \b
    appends     sealed appends against plain ones of the same client
    pipeline    turns a second, CPU by process, accepted to recallable
    slow-model  the same with a model that takes 500 ms, 300 at once
    recall      without the embedder's call: 10,000 and 1,000,000 rows, 8 clients
    recall-http the whole request at 200 a second, with a tenth of the rows
    exact-peer  beside the exact search of mem0 over the same rows, a tenth of them
    """  # noqa: D301 - click keeps the lines of a paragraph that begins with a real backspace
    announce = Console(stderr=True, highlight=False)
    before = machine()
    figures = run_benches(names or tuple(BENCHES), BenchSize(**size), announce)
    if as_json:
        print_json(report(figures, before))
    else:
        _print(figures)
    if check and any(figure.held is False for figure in figures):
        raise SystemExit(1)


def _print(figures: list[Figure]) -> None:
    rows = table("figure", "value", "unit", "bound", "held")
    for figure in figures:
        rows.add_row(
            figure.name,
            f"{figure.value:,.4g}",
            figure.unit,
            "" if figure.bound is None else str(figure.bound),
            {True: "yes", False: "NO", None: ""}[figure.held],
            style="red" if figure.held is False else None,
        )
    console().print(rows)
