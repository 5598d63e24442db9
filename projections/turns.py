"""What became of a turn: how it closed, what was noted of it, and what was refused by which rules.

The same is asked of the other records of the turns topic: facts of the operator's systems,
decisions about flags, ends of sessions and consolidations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from projections.cursors import require_between
from projections.memories import ListedMemory, listed_memory
from projections.noted import Touched, WhatHappened, noted
from projections.positions import TurnPosition
from projections.read_model import ReadModel
from projections.reading import Row, read_answers, read_rows
from projections.touched import TouchedMemories
from schemas.clock import utc_now
from schemas.errors import InvalidInput, UnknownTurn
from schemas.events import RejectionReason
from schemas.flags import FlagState
from schemas.partitioning import partition_for
from schemas.queries import load_queries
from schemas.records import Closing, DeferralCause

LIMIT_DEFAULT: Final = 50
LIMIT_MAX: Final = 500

OPEN: Final = "open"
"""Asks for records that are not closed yet."""

_QUERIES: Final = load_queries("projections", "sql/turns.sql")
_OF_ONE_TURN: Final = ("select_turn", "select_caused", "select_refused", "select_raised")


@dataclass(frozen=True, kw_only=True, slots=True)
class RefusedOperation:
    """An operation that code refused. What it would have stated is kept nowhere.

    Attributes:
        place: its place in the proposal for ``record_id``, from 0.
        reasons: every rule that refused it.
        turn_id: the turn whose words it rests on; ``None`` where nobody can tell.
        record_id: the record that it was proposed for: the turn, the end of its session, a curation
            or a consolidation.
        rejected_at: when.
    """

    place: int
    reasons: tuple[RejectionReason, ...]
    turn_id: UUID | None
    record_id: UUID
    rejected_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnFlag:
    """An operation that was left to a person.

    Attributes:
        flag_id: names it in the queue.
        state: what became of it.
        reasons: why a person must decide.
    """

    flag_id: UUID
    state: FlagState
    reasons: tuple[RejectionReason, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnAccount:
    """What became of a record.

    Attributes:
        turn_id: the turn, or the record that is none.
        position: where it stands in the log of turns.
        closing: how it closed, at last where it waited; ``None`` while it is open.
        waits_for: what a deferred turn waits for; ``None`` where it does not wait.
        settled_by: the record that settled a turn which waited: the end of its session.
        settled: the turns that the end of a session settled, in their order.
        recall_id: the recall that was served for the turn, as it was sent with it; ``None`` where
            none was, or the turn is open.
        memories: the versions that its words caused, with what later became of them.
        rejected: what was refused.
        flags: what was left to a person about it; or the flag that it decided.
        noted: all of that in words that a user can be shown, one text for each thing.
        generation: the generation that was asked.
    """

    turn_id: UUID
    position: str
    closing: Closing | None
    waits_for: DeferralCause | None
    settled_by: UUID | None
    settled: tuple[UUID, ...]
    recall_id: UUID | None
    memories: tuple[ListedMemory, ...]
    rejected: tuple[RefusedOperation, ...]
    flags: tuple[TurnFlag, ...]
    noted: tuple[str, ...]
    generation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnSummary:
    """A record in a listing.

    Attributes:
        turn_id, position, closing, waits_for: as in :class:`TurnAccount`.
        reasons: every rule that refused something of it, by name.
        memories: how many versions its words caused.
    """

    turn_id: UUID
    position: str
    closing: Closing | None
    waits_for: DeferralCause | None
    reasons: tuple[RejectionReason, ...]
    memories: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPage:
    """A page of records, the latest first.

    Attributes:
        turns: the records.
        more: whether there are earlier ones, in front of the last of these.
    """

    turns: tuple[TurnSummary, ...]
    more: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ClosedRecord:
    """How a record closed.

    Attributes:
        closing: how.
        reasons: the rules that refused something that was proposed for it, by name.
    """

    closing: Closing
    reasons: tuple[RejectionReason, ...] = ()


class PostgresTurns:
    """The turns of one generation's read model."""

    def __init__(
        self,
        read_model: ReadModel,
        *,
        partitions: int,
        touched: TouchedMemories | None = None,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            read_model: the generation's tables.
            partitions: how many partitions the topics have.
            touched: tells what turns confirmed and withdrew; without it, that is told in general.
            clock: the current time, aware.
        """
        self._read_model = read_model
        self._partitions = partitions
        self._touched = touched
        self._clock = clock

    async def account(self, subject: UUID | None, turn_id: UUID) -> TurnAccount:
        """Return what became of a record, as far as the projection has come.

        Args:
            subject: whose it is; ``None`` for a user of whom nothing was ever heard.
            turn_id: the turn, or another record of the turns topic.

        Raises:
            UnknownTurn: the subject has no such record, whoever else may have it.
            ReadModelUnavailable: the read model cannot be reached.
        """
        if subject is None:
            raise unknown_turn()
        asked = {"subject": subject, "turn_id": turn_id, "now": self._clock()}
        queries = [_QUERIES[name] for name in _OF_ONE_TURN]
        turns, caused, refused, raised = await read_answers(
            self._read_model, subject, queries, asked
        )
        if not turns:
            raise unknown_turn()
        row = turns[0]
        memories = tuple(map(listed_memory, caused))
        rejected, flags = tuple(map(_refused, refused)), tuple(map(_flag, raised))
        happened = WhatHappened(
            closing=_closing(row),
            waits_for=_waits_for(row),
            memories=memories,
            touched=await self._touched_by(subject, row),
            refused=[one.reasons for one in rejected],
            flags=[flag.state for flag in flags],
        )
        return TurnAccount(
            turn_id=row["turn_id"],
            position=_position(row),
            closing=_closing(row),
            waits_for=_waits_for(row),
            settled_by=row["settled_by"],
            settled=tuple(row["settled"]),
            recall_id=row["recall_id"],
            memories=memories,
            rejected=rejected,
            flags=flags,
            noted=noted(happened),
            generation=self._read_model.generation,
        )

    async def _touched_by(self, subject: UUID, row: Row) -> list[Touched] | None:
        """Return what a turn confirmed and withdrew; ``None`` where that cannot be told."""
        if _closing(row) is not Closing.STORED:
            return []
        if self._touched is None or row["events_offset"] is None:
            return None
        effects = await self._touched.of(
            subject, row["turn_id"], row["partition"], row["events_offset"]
        )
        if effects is None:
            return None
        if not effects:
            return []
        asked = {"subject": subject, "memory_ids": [one.memory_id for one in effects]}
        rows = await read_rows(self._read_model, subject, _QUERIES["select_contents"], asked)
        contents = {held["memory_id"]: held["content"] for held in rows}
        return [Touched(effect=one.effect, content=contents.get(one.memory_id)) for one in effects]

    async def page(
        self,
        subject: UUID | None,
        *,
        closing: Closing | None = None,
        still_open: bool = False,
        before: TurnPosition | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> TurnPage:
        """Return a page of a subject's records.

        Args:
            subject: whose; ``None`` for a user of whom nothing was ever heard.
            closing: only those that closed like this.
            still_open: only those that are not closed; not together with ``closing``.
            before: only those that stand in front of this position, such as the last of the page
                before.
            limit: the most records of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        require_between("limit", limit, LIMIT_MAX)
        if subject is None:
            return TurnPage(turns=(), more=False)
        self._check(subject, before)
        asked = {
            "subject": subject,
            "closing": None if closing is None else closing.value,
            "open": still_open,
            "before": None if before is None else before.offset,
            "limit": limit + 1,
        }
        rows = await read_rows(self._read_model, subject, _QUERIES["list_turns"], asked)
        return TurnPage(turns=tuple(map(_summary, rows[:limit])), more=len(rows) > limit)

    def _check(self, subject: UUID, before: TurnPosition | None) -> None:
        if before is not None and before.partition != partition_for(subject, self._partitions):
            raise InvalidInput(
                field="before",
                problem=f"is a position in partition {before.partition}, where this user has no "
                "turns",
                remedy="give the position of a turn of the same user",
            )

    async def closed(self, subject: UUID, record_id: UUID) -> ClosedRecord | None:
        """Return how a record closed; ``None`` where it has not, or is not known.

        Args:
            subject: whose it is.
            record_id: the record.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        asked = {"subject": subject, "turn_id": record_id}
        rows = await read_rows(self._read_model, subject, _QUERIES["select_closed"], asked)
        if not rows:
            return None
        return ClosedRecord(closing=Closing(rows[0]["closing"]), reasons=_reasons(rows[0]))


def unknown_turn() -> UnknownTurn:
    """Return the error for a turn that a user does not have, whoever else may have it."""
    return UnknownTurn(
        "nothing of this user has this id, as far as the log was read: take the turn_id that was "
        "answered when it was sent, or one of `memledger turns`"
    )


def _summary(row: Row) -> TurnSummary:
    return TurnSummary(
        turn_id=row["turn_id"],
        position=_position(row),
        closing=_closing(row),
        waits_for=_waits_for(row),
        reasons=_reasons(row),
        memories=row["memories"],
    )


def _refused(row: Row) -> RefusedOperation:
    return RefusedOperation(
        place=row["place"],
        reasons=_reasons(row),
        turn_id=row["turn_id"],
        record_id=row["record_id"],
        rejected_at=row["rejected_at"].astimezone(UTC),
    )


def _flag(row: Row) -> TurnFlag:
    return TurnFlag(flag_id=row["flag_id"], state=FlagState(row["state"]), reasons=_reasons(row))


def _position(row: Row) -> str:
    return str(TurnPosition(partition=row["partition"], offset=row["turn_offset"]))


def _closing(row: Row) -> Closing | None:
    return None if row["closing"] is None else Closing(row["closing"])


def _waits_for(row: Row) -> DeferralCause | None:
    return None if row["waits_for"] is None else DeferralCause(row["waits_for"])


def _reasons(row: Row) -> tuple[RejectionReason, ...]:
    return tuple(map(RejectionReason, row["reasons"]))
