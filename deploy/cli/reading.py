"""``memledger recall`` and ``memledger memories``."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final, TypeVar
from uuid import UUID

import click

from deploy.cli.one_user import one_user
from deploy.cli.output import Moment, console, json_option, print_json, shown, table
from deploy.cli.recall_print import print_explanation, print_left_out
from deploy.home import dump_json
from projections.canary import ModelRecords, VerifiedEmbedder
from projections.injection import as_told, headers_of, injection
from projections.memories import ListedMemory, Memories
from projections.read_model import ReadModel
from projections.recall import (
    BUDGET_TOKENS_MAX,
    LIMIT_DEFAULT,
    LIMIT_MAX,
    QUERY_CHARACTERS_MAX,
    EmptyReason,
    Recall,
    RecalledMemory,
    RecallResult,
)
from projections.recall_policies import Policies
from projections.tokens import token_counter
from schemas.errors import InvalidInput
from schemas.injection import InjectionForm
from schemas.memory import Source
from schemas.ports import Embedder
from schemas.settings import DEFAULT_TENANT, Settings
from schemas.text import clean_text

Verb = TypeVar("Verb", bound=Callable[..., Any])
Answer = TypeVar("Answer")

_PAGE: int = 200

WHY_EMPTY: Final = {
    EmptyReason.NONE_STORED: "nothing is stored of this user that holds: ids are matched exactly, "
    "and a turn may be processed without a memory, see `memledger turns`",
    EmptyReason.NONE_ABOVE_THRESHOLD: "nothing is near enough to the question: see --explain, or "
    "lower --min-similarity",
    EmptyReason.NONE_SEARCHABLE: "all that is stored still waits for a vector: see `memledger "
    "status`, and ask again",
    EmptyReason.NONE_WITHIN_BUDGET: "what is near enough is too long for the budget of "
    "tokens: raise --budget-tokens",
}
"""What the text output says where there is nothing to show."""


def user_options(verb: Verb) -> Verb:
    """Add ``--user`` and ``--tenant`` to a verb."""
    verb = click.option("--tenant", default=DEFAULT_TENANT, show_default=True, help="Whose user.")(
        verb
    )
    return click.option("--user", required=True, help="The user's id, as the chat app knows it.")(
        verb
    )


@click.command()
@click.argument("question")
@user_options
@click.option(
    "--limit",
    type=click.IntRange(1, LIMIT_MAX),
    default=LIMIT_DEFAULT,
    show_default=True,
    help="Most memories.",
)
@click.option(
    "--min-similarity",
    type=click.FloatRange(-1, 1),
    help="Absolute threshold instead of the embedder's.",
)
@click.option(
    "--budget-tokens",
    type=click.IntRange(1, BUDGET_TOKENS_MAX),
    help="Most tokens of the notes, instead of the policy's.",
)
@click.option("--as-of", type=Moment(), help="What was true at this time.")
@click.option("--known-at", type=Moment(), help="What the ledger knew at this time.")
@click.option("--explain", is_flag=True, help="Show threshold, candidates and the injection block.")
@click.option(
    "--format",
    "form",
    type=click.Choice([form.value for form in InjectionForm]),
    help="Show the notes as they are handed to a model; in JSON, text without it.",
)
@json_option
def recall(
    *,
    question: str,
    user: str,
    tenant: str,
    limit: int,
    min_similarity: float | None,
    budget_tokens: int | None,
    as_of: datetime | None,
    known_at: datetime | None,
    explain: bool,
    form: str | None,
    as_json: bool,
) -> None:
    """Show what would be recalled for QUESTION."""
    handed_as = InjectionForm.TEXT if form is None else InjectionForm(form)
    clean_text("QUESTION", question, max_characters=QUERY_CHARACTERS_MAX)
    if min_similarity is not None and math.isnan(min_similarity):  # which is in every range
        raise InvalidInput(
            field="--min-similarity", problem="is no number", remedy="give one from -1 to 1"
        )

    async def ask(
        read_model: ReadModel, embedder: Embedder, subject: UUID | None, settings: Settings
    ) -> RecallResult:
        recalls = Recall(
            read_model,
            embedder,
            partitions=settings.partitions,
            min_similarity=settings.recall_min_similarity,
            policies=Policies.read(settings.recall_policies),
            tokens=token_counter(settings.tokenizer),
        )
        return await recalls.recall(
            subject,
            question,
            tenant=tenant,
            limit=limit,
            min_similarity=min_similarity,
            budget_tokens=budget_tokens,
            as_of=as_of,
            known_at=known_at,
            explain=explain,
        )

    result = asyncio.run(_with_read_model(tenant, user, ask))
    if as_json:
        print_json({**asdict(result), **_handed_over(result, handed_as)})
        return
    rows = table("score", "memory", "about", "since", "by")
    for memory in result.memories:
        rows.add_row(
            "" if memory.score is None else f"{memory.score:.2f}",
            shown(memory.content),
            shown(memory.about),
            _period(memory),
            _evidence(memory),
        )
    if result.memories:
        console().print(rows)
    if result.reason is not None:
        only = "only what is served whatever is asked" if result.memories else "nothing recalled"
        click.echo(f"{only}: {WHY_EMPTY[result.reason]}")
    if result.unsearchable:
        click.echo(
            f"{result.unsearchable} memories wait for a vector and cannot be found by meaning yet"
        )
    print_left_out(result.left_out, result.tokens)
    if result.explanation is not None:
        print_explanation(result.explanation, result.tokens)
    if explain or form is not None:
        handed = injection(result.memories, handed_as)
        click.echo(f"\n{handed if isinstance(handed, str) else dump_json(handed)}")


@click.command()
@user_options
@click.option(
    "--history", is_flag=True, help="Also what was superseded, retracted, merged or has expired."
)
@click.option("--as-of", type=Moment(), help="What was true at this time.")
@json_option
def memories(
    *, user: str, tenant: str, history: bool, as_of: datetime | None, as_json: bool
) -> None:
    """List what is remembered of a user, with the words that caused it."""
    if history and as_of is not None:
        raise InvalidInput(
            field="--as-of",
            problem="shows one moment, and --history shows them all",
            remedy="give one of the two",
        )

    async def list_all(
        read_model: ReadModel, _: Embedder, subject: UUID | None, __: Settings
    ) -> list[ListedMemory]:
        listing = Memories(read_model)
        found: list[ListedMemory] = []
        cursor: str | None = None
        while True:
            page = await listing.list_memories(
                subject, history=history, as_of=as_of, cursor=cursor, limit=_PAGE
            )
            found.extend(page.memories)
            cursor = page.next_cursor
            if cursor is None:
                return found

    found = asyncio.run(_with_read_model(tenant, user, list_all))
    if as_json:
        print_json({"user": user, "memories": [asdict(memory) for memory in found]})
        return
    if not found:
        click.echo(f"nothing is remembered: {WHY_EMPTY[EmptyReason.NONE_STORED]}")
        return
    # Below what is remembered stands its id, whole, since one in two pieces cannot be copied.
    rows = table("memory", "state", "about", "when", "by")
    rows.columns[0].min_width = len(str(found[0].memory_id))
    for memory in found:
        rows.add_row(
            f"{shown(memory.content)}\n{memory.memory_id}",
            _state(memory),
            shown(memory.about),
            _period(memory),
            _evidence(memory),
        )
    console().print(rows)


async def _with_read_model(
    tenant: str,
    user: str,
    ask: Callable[[ReadModel, Embedder, UUID | None, Settings], Awaitable[Answer]],
) -> Answer:
    async with one_user(tenant, user) as opened:
        opened.tell_pause()
        records = ModelRecords(opened.read_model, erased_among=opened.keyring.erased_among)
        verified = VerifiedEmbedder(opened.embedder, records)
        return await ask(opened.read_model, verified, opened.subject, opened.settings)


def _handed_over(result: RecallResult, form: InjectionForm) -> dict[str, object]:
    """Return what an answer tells of the notes, as the HTTP API does."""
    return {
        "format": form.value,
        "injection": injection(result.memories, form),
        "injection_headers": dict(headers_of(form)),
    }


def _state(memory: ListedMemory) -> str:
    """Return what a memory is now, and what else a reader of the list is to know of it."""
    pinned = "" if memory.pinned_at is None else ", pinned"
    return f"{memory.state.value}{pinned}{'' if memory.searchable else ', no vector yet'}"


def _period(memory: ListedMemory | RecalledMemory) -> str:
    """Return since when a memory is true, as exactly as was told, and until when it was."""
    since = as_told(memory.valid_from, memory.valid_from_precision)
    return since if memory.valid_to is None else f"{since} to {memory.valid_to:%Y-%m-%d}"


def _evidence(memory: ListedMemory | RecalledMemory) -> str:
    """Return the words that caused a memory, or who vouches for it where nobody said it."""
    if memory.provenance is not None:
        known = (memory.provenance.system, memory.provenance.type, memory.provenance.reference)
        return shown(": ".join(part for part in known if part))
    if memory.source is Source.CURATION and not memory.quote:
        return "decided by a person"
    said = f"“{shown(memory.quote)}”"
    return f"the assistant: {said}" if memory.source is Source.ASSISTANT else said
