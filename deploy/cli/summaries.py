"""``memledger summaries``: what sessions of a user came to."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Final

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import console, json_option, print_json, shown, table
from deploy.cli.reading import user_options
from projections.summaries import (
    SUMMARIES_DEFAULT,
    SUMMARIES_MAX,
    NoSummaries,
    PostgresSummaries,
    SessionSummary,
    Summaries,
)
from schemas.summaries import WithoutSummary
from schemas.text import clean_identifier

WHY_NONE: Final = {
    NoSummaries.NONE_MADE: "no session of this user (or of this conversation) has ended with a "
    "summary: ids are matched exactly",
    NoSummaries.BEING_MADE: "it is being made again, since a turn that it was made from is gone",
    WithoutSummary.REFUSED: "every sentence held what must not be kept",
    WithoutSummary.NO_SUMMARIZER: "the extractor makes none: `anthropic` and `openai` do",
    WithoutSummary.BUDGET: "the tenant's budget was exhausted: it is made at the session's next "
    "end",
    WithoutSummary.FAILED: "the model gave no usable answer: it is made at the session's next end",
    WithoutSummary.UNAVAILABLE: "the model could not be asked: a worker tries again by itself",
    WithoutSummary.SOURCE_ERASED: "a turn was erased meanwhile: a worker makes it again",
}
"""What the text output says where there is no summary."""


@click.command()
@user_options
@click.option("--conversation", help="Only those of this conversation; else of all.")
@click.option(
    "--limit",
    type=click.IntRange(1, SUMMARIES_MAX),
    default=SUMMARIES_DEFAULT,
    show_default=True,
    help="Of how many ends of sessions it is told, the latest.",
)
@json_option
def summaries(
    *, user: str, tenant: str, conversation: str | None, limit: int, as_json: bool
) -> None:
    """Show what sessions of a user came to, each made from its own turns."""
    found = asyncio.run(_asked(tenant, user, conversation, limit))
    if as_json:
        print_json({"user": user, **asdict(found)})
        return
    if found.reason is not None:
        click.echo(WHY_NONE[found.reason])
    elif found.remaking:
        click.echo("one more is being made again, since a turn of it is gone")
    if found.summaries:
        rows = table("conversation", "turns", "said", "summary")
        for one in found.summaries:
            rows.add_row(shown(one.conversation_id), str(one.turns), _said(one), _told(one))
        console().print(rows)


async def _asked(tenant: str, user: str, conversation: str | None, limit: int) -> Summaries:
    if conversation is not None:
        conversation = clean_identifier("--conversation", conversation)
    async with one_user(tenant, user) as opened:
        if opened.subject is None:
            return Summaries(
                summaries=(), injection="", reason=NoSummaries.NONE_MADE, remaking=False
            )
        return await PostgresSummaries(opened.read_model).latest(
            opened.subject, conversation_id=conversation, limit=limit
        )


def _said(one: SessionSummary) -> str:
    if one.first_said_at is None or one.last_said_at is None:
        return ""
    first, last = one.first_said_at.date().isoformat(), one.last_said_at.date().isoformat()
    return first if first == last else f"{first} to {last}"


def _told(one: SessionSummary) -> str:
    notes = []
    if one.refused:
        notes.append(f"{sum(one.refused.values())} left out by rules")
    if one.cut:
        notes.append(f"{one.cut} found no room")
    if one.shortened:
        notes.append(f"{one.shortened} turns were shown in part")
    if one.more:
        notes.append("more turns follow in the next summary")
    text = shown(one.summary) if one.summary is not None else f"none: {one.reason}"
    return f"{text} ({'; '.join(notes)})" if notes else text
