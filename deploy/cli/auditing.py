"""``memledger audit``."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

import click
from rich.table import Table

from deploy.addresses import Addresses, resolve, running_settings
from deploy.cli.output import console, json_option, print_json, table
from deploy.wiring import check_topics, embedder_of, keyring_of, ledger_of, read_model_of
from projections.audit import AuditReport
from projections.audit import audit as account
from projections.audit_tally import PartitionAudit
from projections.digest import ReadModelComparer
from schemas.errors import ConfigurationError
from schemas.log.admin import topic_names
from schemas.records import Closing
from schemas.settings import Settings
from schemas.topics import generations_among


@click.command()
@click.option(
    "--log-only",
    is_flag=True,
    help="Leave the read model out; else its rows are compared with a fold of the log.",
)
@json_option
def audit(*, log_only: bool, as_json: bool) -> None:
    """Account for every turn from the logs alone.

    Turns in = stored + nothing found + rejected + dead-lettered + erased + in flight, and those
    without an outcome that the read model holds for closed are unaccounted for. Exits with 1
    where anything is unaccounted for, or the read model is not what the log folds to.
    """
    report = asyncio.run(audit_pipeline(log_only=log_only))
    if as_json:
        print_json(report.as_json())
    else:
        _print(report)
    if not report.passed:
        raise SystemExit(1)


async def audit_pipeline(*, log_only: bool) -> AuditReport:
    """Account for every turn of the pipeline that the settings speak of."""
    settings = running_settings()
    addresses = resolve(settings)
    await check_topics(settings, addresses)
    await _check_generation(settings, addresses)
    async with keyring_of(settings, addresses) as keyring:
        if log_only:
            return await account(
                addresses.kafka_bootstrap,
                keyring,
                generation=settings.generation,
                partitions=settings.partitions,
            )
        async with (
            embedder_of(settings) as embedder,
            read_model_of(settings, addresses, embedder, name="audit") as read_model,
            ledger_of(read_model) as ledger,
        ):
            progress = {
                partition: await ledger.progress(partition)
                for partition in range(settings.partitions)
            }
            return await account(
                addresses.kafka_bootstrap,
                keyring,
                generation=settings.generation,
                partitions=settings.partitions,
                progress=progress,
                compare=ReadModelComparer(
                    read_model, bootstrap=addresses.kafka_bootstrap, keyring=keyring
                ).compare,
            )


async def _check_generation(settings: Settings, addresses: Addresses) -> None:
    """Refuse a generation of which there is no log.

    Raises:
        ConfigurationError: it is one; names those that there are.
        LogUnavailable: the broker does not answer.
    """
    known = generations_among(await asyncio.to_thread(topic_names, addresses.kafka_bootstrap))
    if settings.generation not in known:
        raise ConfigurationError(
            f"there is no log of the generation {settings.generation!r}: set MEMLEDGER_GENERATION "
            f"to one of those that there are ({', '.join(known) or 'none'}), or start the pipeline "
            "with it (memledger up), which makes one"
        )


def _table(report: AuditReport, empty: Collection[PartitionAudit]) -> Table:
    closings = list(Closing)
    rows = table(
        "partition",
        "turns",
        *(closing.value.replace("_", " ") for closing in closings),
        "in flight",
        "unaccounted",
        title=f"generation {report.generation}",
    )
    for partition in report.partitions:
        if partition in empty:
            continue
        rows.add_row(
            str(partition.partition),
            str(partition.turns),
            *(str(partition.closings.get(closing, 0)) for closing in closings),
            str(partition.in_flight),
            str(partition.unaccounted),
        )
    totals = report.as_json()["totals"]
    rows.add_row(
        "all",
        str(totals.get("turns", 0)),
        *(str(totals.get("closings", {}).get(closing.value, 0)) for closing in closings),
        str(totals.get("in_flight", 0)),
        str(report.unaccounted),
        style="bold",
    )
    return rows


def _print(report: AuditReport) -> None:
    out = console()
    empty = [partition for partition in report.partitions if _is_empty(partition)]
    out.print(_table(report, empty))
    if empty:
        out.print(f"{len(empty)} more partitions hold nothing")
    totals = report.as_json()["totals"]
    remarks = {
        "duplicate_turns": "turns were appended more than once; the first append counts",
        "doubled_outcomes": "outcomes were appended more than once; the first append counts",
        "unreadable_turns": "records of the turns topic name no subject that belongs there",
    }
    for name, remark in remarks.items():
        if totals.get(name):
            out.print(f"{totals[name]} {remark}")
    if report.comparison is not None and report.comparison.differences:
        out.print(
            f"{len(report.comparison.differences)} subjects' rows differ from the fold of their log"
        )
    if report.comparison is not None and report.comparison.spending_differs:
        out.print(
            f"in {len(report.comparison.spending_differs)} partitions the sums of what was spent "
            "differ from the fold of their log"
        )
    if report.comparison is not None and report.comparison.embeddings_waiting:
        out.print(f"{report.comparison.embeddings_waiting} memories wait for a vector")
    for error, count in totals.get("dead_letters", {}).items():
        out.print(f"{count} dead letters: {error}")
    if report.passed:
        out.print("every turn is accounted for", style="green")
    else:
        out.print("NOT everything is accounted for: see --json", style="red")


def _is_empty(partition: PartitionAudit) -> bool:
    return not (partition.turns or partition.in_flight or partition.unaccounted)
