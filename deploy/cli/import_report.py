"""What ``memledger import`` prints: bounded, whatever the file holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, TypeVar

import click

from deploy.cli.output import console, shown, table
from producers.importers.left_out import counted
from producers.importers.records import PassedOver
from producers.importers.report import (
    CONVERSATIONS_KEPT_MAX,
    ConversationReport,
    ImportReport,
    Kept,
    Tally,
)

_ROWS_SHOWN_MAX: Final = 50
_LINES_SHOWN_MAX: Final = 20
_FILES_SHOWN_MAX: Final = 5

Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportOutcome:
    """What became of a file, and how it was imported.

    Attributes:
        report: what became of it.
        dry_run: whether nothing was appended.
        ledger_unasked: why a dry run could not ask a ledger what it holds, or ``None``.
        names_users: whether the format says whose a conversation is.
        hint: what the user may want to do, or ``None``.
    """

    report: ImportReport
    dry_run: bool
    ledger_unasked: str | None
    names_users: bool
    hint: str | None


def outcome_json(outcome: ImportOutcome) -> dict[str, Any]:
    """Return it for programs; a list is followed by how many more there are."""
    report = outcome.report
    return {
        "format": report.format,
        "dry_run": outcome.dry_run,
        "ledger_asked": outcome.ledger_unasked is None,
        **_tally_json(report.totals),
        "conversations": [_conversation_json(row) for row in report.conversations.first],
        "conversations_more": report.conversations.more,
        "refused_turns": [asdict(turn) for turn in report.refused.first],
        "refused_turns_more": report.refused.more,
        "unreadable": [asdict(part) for part in report.unreadable.first],
        "unreadable_more": report.unreadable.more,
        "passed_over": [asdict(part) for part in report.passed_over.first],
        "passed_over_more": report.passed_over.more,
        "hint": outcome.hint,
    }


def _tally_json(tally: Tally) -> dict[str, Any]:
    return {
        "accepted": tally.accepted,
        "already_there": tally.already_there,
        "repeated": tally.repeated,
        "refused": tally.refused,
        "withheld": tally.withheld,
        "left_out": dict(tally.left_out),
        "notes": dict(tally.notes),
    }


def _conversation_json(row: ConversationReport) -> dict[str, Any]:
    return {
        "user_id": row.user_id,
        "conversation_id": row.conversation_id,
        "title": row.title,
        **_tally_json(row),
    }


def print_outcome(outcome: ImportOutcome) -> None:
    """Print it for people: the conversations, what went wrong, and the sums."""
    report = outcome.report
    _print_conversations(outcome)
    _print_lines(report.refused, lambda turn: f"refused {turn.place}: {turn.reason}")
    _print_lines(report.unreadable, lambda part: f"unreadable {part.place}: {part.reason}")
    _print_passed_over(report.passed_over)
    _print_sums(outcome)


def _print_passed_over(files: Kept[PassedOver]) -> None:
    """Print the first of those of each kind; there are no more kinds than formats."""
    names: dict[str, list[str]] = {}
    for part in files.first:
        names.setdefault(part.reason, []).append(part.place.removeprefix("file "))
    for reason, of_kind in names.items():
        others = len(of_kind) - _FILES_SHOWN_MAX
        more = f" and {others:,} more" if others > 0 else ""
        listed = ", ".join(of_kind[:_FILES_SHOWN_MAX])
        click.echo(shown(f"passed over, since {reason.removeprefix('is ')}: {listed}{more}"))
    if files.more:
        click.echo(f"passed over besides: {files.more:,} more")


def _print_conversations(outcome: ImportOutcome) -> None:
    added = "would be added" if outcome.dry_run else "appended"
    columns = ["conversation", added, "there already", "refused", "left out"]
    rows = table(*(["user"] if outcome.names_users else []), *columns)
    conversations = outcome.report.conversations
    for row in conversations.first[:_ROWS_SHOWN_MAX]:
        cells = [
            shown(row.title or row.conversation_id),
            f"{row.accepted:,}",
            f"{row.already_there + row.repeated:,}",
            f"{row.refused:,}",
            _listed(row.left_out),
        ]
        rows.add_row(*([shown(row.user_id or "?")] if outcome.names_users else []), *cells)
    console().print(rows)
    if conversations.total > _ROWS_SHOWN_MAX:
        click.echo(
            f"... and {conversations.total - _ROWS_SHOWN_MAX:,} more; --json lists the first "
            f"{CONVERSATIONS_KEPT_MAX:,}"
        )


def _print_lines(kept: Kept[Item], line_of: Callable[[Item], str]) -> None:
    for item in kept.first[:_LINES_SHOWN_MAX]:
        click.echo(shown(line_of(item)), err=True)
    if kept.total > _LINES_SHOWN_MAX:
        kind = line_of(kept.first[0]).partition(" ")[0]
        click.echo(f"... and {kept.total - _LINES_SHOWN_MAX:,} more {kind}", err=True)


def _print_sums(outcome: ImportOutcome) -> None:
    report, totals = outcome.report, outcome.report.totals
    added = "would be added" if outcome.dry_run else "appended"
    click.echo(
        f"\n{report.format}: {totals.accepted:,} {added}, {totals.already_there:,} there already, "
        f"{totals.repeated:,} repeated, {totals.refused:,} refused, "
        f"{report.unreadable.total:,} unreadable"
    )
    if totals.withheld:
        click.echo(
            f"withheld, since their users have paused memory: {totals.withheld:,} turns; once they "
            "have resumed, import the file again"
        )
    if totals.left_out:
        click.echo(f"left out: {_listed(totals.left_out)}")
    if totals.notes:
        noted = ", ".join(f"{note} ({count:,})" for note, count in totals.notes.items())
        click.echo(f"noted: {noted}")
    if outcome.ledger_unasked is not None:
        click.echo(
            f"no ledger was asked, so every turn counts as new: {shown(outcome.ledger_unasked)}",
            err=True,
        )
    if outcome.hint is not None:
        click.echo(f"hint: {outcome.hint}", err=True)


def _listed(left_out: Mapping[str, int]) -> str:
    return ", ".join(counted(count, reason) for reason, count in left_out.items())
