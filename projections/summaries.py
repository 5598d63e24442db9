"""Summaries of sessions, as they are read; and what workers ask to have them made.

Implements :class:`schemas.summaries.SummaryWork`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from projections.injection import NoteLine, write_block
from projections.read_model import ReadModel, name_every_subject
from projections.reading import read_answers, read_rows
from schemas import ids
from schemas.errors import InvalidInput
from schemas.events import RejectionReason
from schemas.injection import InjectionForm
from schemas.memory import ABOUT_USER, Source
from schemas.queries import load_queries
from schemas.records import Closing
from schemas.summaries import DueSummary, TurnToSummarise, WithoutSummary

_QUERIES: Final = load_queries("projections", "sql/summaries.sql")

SUMMARIES_DEFAULT: Final = 10
SUMMARIES_MAX: Final = 50
"""Most ends of sessions that one answer tells of."""

_OFFSET_DIGITS_MAX: Final = 18
"""An integer of 8 bytes, as a cursor spells it."""


class NoSummaries(StrEnum):
    """Why an answer holds no summary."""

    NONE_MADE = "none_made"
    """No session of the user, or of the conversation, has been summarised."""
    BEING_MADE = "being_made"
    """A worker makes one again, since a turn that it was made from is gone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionSummary:
    """What the end of a session came to.

    Attributes:
        conversation_id: the conversation.
        summary: the summary; ``None`` where there is none.
        reason: why there is none.
        turns: of how many turns it tells.
        first_said_at, last_said_at: when the first and the last of them were said.
        refused: how many sentences were left out, by reason.
        cut: how many were left out since the others filled the room.
        shortened: of how many turns the middle was left out, since they were long.
        more: whether turns of the session were left to its next end.
        extractor, model: who wrote it.
        made_at: when.
    """

    conversation_id: str
    summary: str | None
    reason: WithoutSummary | None
    turns: int
    first_said_at: datetime | None
    last_said_at: datetime | None
    refused: Mapping[RejectionReason, int]
    cut: int
    shortened: int
    more: bool
    extractor: str | None
    model: str | None
    made_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryPage:
    """A page of a user's summaries, the latest first.

    Attributes:
        summaries: the summaries, each with its text.
        next_cursor: what to send for the next page; ``None`` on the last.
        generation: the generation that was asked.
    """

    summaries: tuple[SessionSummary, ...]
    next_cursor: str | None
    generation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Summaries:
    """What the latest ends of sessions came to.

    Attributes:
        summaries: the latest first.
        injection: those that are there as a block of notes, in the order of time; empty for none.
        reason: why there is none; ``None`` where there is one.
        remaking: whether a worker has to make one again.
    """

    summaries: tuple[SessionSummary, ...]
    injection: str
    reason: NoSummaries | WithoutSummary | None
    remaking: bool


class PostgresSummaries:
    """The summaries that a read model holds.

    Args:
        read_model: the generation's tables.
    """

    def __init__(self, read_model: ReadModel) -> None:
        self._read_model = read_model

    async def latest(
        self,
        subject: UUID,
        *,
        conversation_id: str | None = None,
        limit: int = SUMMARIES_DEFAULT,
        form: InjectionForm = InjectionForm.TEXT,
    ) -> Summaries:
        """Return what the latest ends of a user's sessions came to.

        Args:
            subject: whose sessions.
            conversation_id: only those of this conversation.
            limit: how many at most, up to ``SUMMARIES_MAX``.
            form: how the block of notes is written: as text or as XML.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {
            "subject": subject,
            "conversation_id": conversation_id,
            "limit": min(limit, SUMMARIES_MAX),
            "erased": Closing.ERASED.value,
        }
        queries = (_QUERIES["select_summaries"], _QUERIES["select_is_due"])
        rows, (due,) = await read_answers(self._read_model, subject, queries, asked)
        found = tuple(map(_summary, rows))
        remaking = bool(due["is_due"])
        return Summaries(
            summaries=found,
            injection=injection_of(found, form),
            reason=_reason(found, remaking=remaking),
            remaking=remaking,
        )

    async def page(
        self, subject: UUID | None, *, cursor: str | None = None, limit: int = SUMMARIES_DEFAULT
    ) -> SummaryPage:
        """Return a page of all summaries that a user has.

        Args:
            subject: whose sessions; ``None`` for a user of whom nothing was ever heard.
            cursor: ``next_cursor`` of the page before.
            limit: the most summaries of the page, 1 to ``SUMMARIES_MAX``.

        Raises:
            InvalidInput: the cursor is none of this listing.
            ReadModelUnavailable: the read model cannot be reached.
        """
        before = None if cursor is None else _offset_of(cursor)
        rows: Sequence[Mapping[str, Any]] = ()
        if subject is not None:
            asked = {
                "subject": subject,
                "before": before,
                "limit": limit + 1,
                "erased": Closing.ERASED.value,
            }
            rows = await read_rows(self._read_model, subject, _QUERIES["list_summaries"], asked)
        shown = rows[:limit]
        return SummaryPage(
            summaries=tuple(map(_summary, shown)),
            next_cursor=str(shown[-1]["turn_offset"]) if len(rows) > limit else None,
            generation=self._read_model.generation,
        )

    async def turns_without(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[TurnToSummarise, ...]:
        """Return the turns of a conversation that no summary tells of, by offset.

        Args:
            subject: whose conversation it is.
            conversation_id: its name.
            below: only turns below this offset of the turns topic.
            limit: how many at most, the first of them.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        found: list[TurnToSummarise] = []
        behind = -1
        while len(found) < limit:
            asked = {
                "subject": subject,
                "conversation_id": conversation_id,
                "below": below,
                "behind": behind,
                "limit": limit,
                "erased": Closing.ERASED.value,
                "deferred": Closing.DEFERRED.value,
            }
            query = _QUERIES["select_turns_without"]
            rows = await read_rows(self._read_model, subject, query, asked)
            found += await self._standing(rows)
            if len(rows) < limit:
                break
            behind = rows[-1]["turn_offset"]
        return tuple(found[:limit])

    async def due(
        self, *, partition: int, after: DueSummary | None, limit: int
    ) -> tuple[DueSummary, ...]:
        """Return conversations of a partition whose summaries are due, in order.

        Args:
            partition: the partition.
            after: only conversations behind this one.
            limit: how many at most; fewer are all that there are.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {
            "partition": partition,
            "after_subject": None if after is None else after.subject,
            "after_conversation_id": None if after is None else after.conversation_id,
            "limit": limit,
        }
        async with self._read_model.connection() as connection, connection.transaction():
            await name_every_subject(connection)
            cursor = await connection.execute(_QUERIES["select_due"], asked, binary=True)
            return tuple(
                DueSummary(subject=subject, conversation_id=conversation_id, mark=mark)
                for subject, conversation_id, mark in await cursor.fetchall()
            )

    async def _standing(self, rows: Sequence[Mapping[str, Any]]) -> list[TurnToSummarise]:
        """Return the turns of some rows whose outcomes are not noted to be gone."""
        if not rows:
            return []
        generation = self._read_model.generation
        outcomes = {row["turn_id"]: ids.outcome_id(generation, row["turn_id"]) for row in rows}
        async with self._read_model.connection() as connection:
            asked = {"source_ids": list(outcomes.values())}
            cursor = await connection.execute(_QUERIES["select_forgotten"], asked, binary=True)
            gone = {source_id for (source_id,) in await cursor.fetchall()}
        return [
            TurnToSummarise(
                turn_id=row["turn_id"], turn_offset=row["turn_offset"], waits=row["waits"]
            )
            for row in rows
            if outcomes[row["turn_id"]] not in gone
        ]


def _offset_of(cursor: str) -> int:
    if cursor.isascii() and cursor.isdecimal() and len(cursor) <= _OFFSET_DIGITS_MAX:
        return int(cursor)
    raise InvalidInput(
        field="cursor",
        problem="is not a cursor of this listing",
        remedy="send next_cursor of the page before as it is, or none for the first page",
    )


def injection_of(found: Sequence[SessionSummary], form: InjectionForm = InjectionForm.TEXT) -> str:
    """Return summaries as a block of notes, in the order of time; empty where there is none.

    Each is one line, dated by when its turns were said, and escaped as every other note, so it can
    neither end the block nor speak as anything else.
    """
    lines = [
        NoteLine(
            content=one.summary,
            about=ABOUT_USER,
            source=Source.USER,
            is_rule=False,
            since=_day(one.first_said_at),
            until=None
            if _day(one.first_said_at) == _day(one.last_said_at)
            else _day(one.last_said_at),
        )
        for one in reversed(found)
        if one.summary is not None
    ]
    return write_block(lines, form)


def _day(moment: datetime | None) -> str:
    assert moment is not None, "a summary without its times"  # noqa: S101 - both come with it
    return moment.astimezone(UTC).date().isoformat()


def _reason(
    found: Sequence[SessionSummary], *, remaking: bool
) -> NoSummaries | WithoutSummary | None:
    if any(one.summary is not None for one in found):
        return None
    if remaking:
        return NoSummaries.BEING_MADE
    return next((one.reason for one in found), None) or NoSummaries.NONE_MADE


def _summary(row: Mapping[str, Any]) -> SessionSummary:
    return SessionSummary(
        conversation_id=row["conversation_id"],
        summary=row["summary"],
        reason=None if row["reason"] is None else WithoutSummary(row["reason"]),
        turns=row["turns"],
        first_said_at=_utc(row["first_said_at"]),
        last_said_at=_utc(row["last_said_at"]),
        refused={RejectionReason(name): count for name, count in row["refused"].items()},
        cut=row["cut"],
        shortened=row["shortened"],
        more=row["more"],
        extractor=row["extractor"],
        model=row["model"],
        made_at=row["made_at"].astimezone(UTC),
    )


def _utc(moment: datetime | None) -> datetime | None:
    return None if moment is None else moment.astimezone(UTC)
