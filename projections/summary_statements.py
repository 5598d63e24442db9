"""Carrying out what the log says of summaries of sessions, inside a batch's transaction."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from projections.batch import Batch
from projections.deletion_fold import deletions
from projections.opening import Opened, OpenedOutcome
from projections.summary_fold import RETRIED, SummaryRow, ended_conversation, summary_of
from schemas import ids
from schemas.database import Connection
from schemas.queries import load_queries
from schemas.records import Closing

_QUERIES: Final = load_queries("projections", "sql/summaries_projection.sql")

ATTEMPTS_MAX: Final = 5
"""How often a worker ends a session again for a summary that does not come; then the next end that
comes by itself has to make it."""

_UNTOLD: Final = [Closing.ERASED.value, Closing.DEFERRED.value]
"""How turns close of which a summary need not tell yet, or no more."""


def gone_sources(batch: Batch, opened: Opened, generation: str) -> set[UUID]:
    """Return the ids of turns and outcomes of which no summary tells any more.

    Args:
        batch: what is applied.
        opened: what became of its outcomes.
        generation: the generation that is projected.
    """
    gone = {buried.outcome_id for buried in batch.buried_outcomes}
    gone |= {erased.outcome_id for erased in opened.erased}
    gone |= {turn_id for found in opened.outcomes for turn_id in found.forgotten}
    for turn in batch.buried_turns:
        gone |= {turn.turn_id, ids.outcome_id(generation, turn.turn_id)}
    return gone


async def forget_sources(connection: Connection, source_ids: Collection[UUID]) -> None:
    """Note what is gone, and drop every summary that was made from it, whosever it is.

    Args:
        connection: inside a batch's transaction.
        source_ids: ids of turns and of outcomes.
    """
    if not source_ids:
        return
    gone = {"source_ids": list(source_ids)}
    await connection.execute(_QUERIES["see_every_source"])
    await connection.execute(_QUERIES["name_subjects_of_sources"], gone)
    await connection.execute(_QUERIES["see_named_sources"])
    await connection.execute(_QUERIES["forget_sources"], gone)


async def forget_deleted(connection: Connection, counted: Sequence[OpenedOutcome]) -> None:
    """Do the same for the turns whose words are about to be deleted as memories."""
    gone = [
        (opened.subject, version) for opened in counted for version in deletions(opened.outcome)
    ]
    if gone:
        columns = {
            "subjects": [subject for subject, _ in gone],
            "memory_ids": [memory_id for _, memory_id in gone],
        }
        await connection.execute(_QUERIES["forget_sources_of_memories"], columns)


async def apply_summaries(connection: Connection, counted: Sequence[OpenedOutcome]) -> None:
    """Carry out what the ends of sessions say of their summaries, one after the other.

    Args:
        connection: inside a batch's transaction.
        counted: outcomes, each the first of its record, in the order of each partition.
    """
    for opened in counted:
        conversation_id = ended_conversation(opened.outcome)
        row = summary_of(opened.outcome)
        if row is not None:
            await _replace(connection, opened, row)
        if conversation_id is not None:
            await _settle_due(connection, opened, conversation_id, row)


async def _replace(connection: Connection, opened: OpenedOutcome, row: SummaryRow) -> None:
    columns = {
        "subject": opened.subject,
        "record_id": row.record_id,
        "partition": opened.outcome.turn_partition,
        "conversation_id": row.conversation_id,
        "turn_offset": row.turn_offset,
        "summary": row.summary,
        "reason": None if row.reason is None else row.reason.value,
        "turn_ids": list(row.turn_ids),
        "refused": refused_json(row),
        "cut": row.cut,
        "shortened": row.shortened,
        "more": row.more,
        "first_said_at": row.first_said_at,
        "last_said_at": row.last_said_at,
        "extractor": row.extractor,
        "model": row.model,
        "prompt_hash": row.prompt_hash,
        "made_at": row.made_at,
        "source_ids": list(row.source_ids),
    }
    await connection.execute(_QUERIES["give_way"], columns)
    await connection.execute(_QUERIES["insert_summary"], columns)


async def _settle_due(
    connection: Connection, opened: OpenedOutcome, conversation_id: str, row: SummaryRow | None
) -> None:
    made = row is not None and bool(row.turn_ids)
    columns: Mapping[str, Any] = {
        "subject": opened.subject,
        "conversation_id": conversation_id,
        "partition": opened.outcome.turn_partition,
        "record_id": opened.outcome.turn_id,
        "turn_offset": opened.outcome.turn_offset,
        "source_ids": [] if row is None else list(row.source_ids),
        "due": row is not None and (row.more or row.reason in RETRIED),
        "made": made,
        "attempts_max": ATTEMPTS_MAX,
        "untold": _UNTOLD,
    }
    for name in ("mark_due", "count_attempt", "drop_due"):
        await connection.execute(_QUERIES[name], columns)


def refused_json(row: SummaryRow) -> str:
    """Return what was left out of a summary, by reason, as a column holds it."""
    return json.dumps({one.reason.value: one.sentences for one in row.refused})
