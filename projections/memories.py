"""Listing what is stored of one subject, page by page, with where each version came from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from projections.cursors import Cursor, listing_digest, require_between
from projections.read_model import ReadModel
from projections.reading import Row, provenance_of, read_rows
from schemas.clock import utc_now
from schemas.errors import InvalidInput, UnknownMemory
from schemas.memory import Confidence, MemoryKind, Precision, Provenance, Source
from schemas.queries import load_queries
from schemas.slots import Slot

LIMIT_DEFAULT: Final = 50
LIMIT_MAX: Final = 500

_QUERIES: Final = load_queries("projections", "sql/memories.sql")


class MemoryState(StrEnum):
    """What a version is now."""

    LIVE = "live"
    SUPERSEDED = "superseded"
    """It was true until ``valid_to``."""
    RETRACTED = "retracted"
    """It never was true."""
    MERGED = "merged"
    """Another version stands for it since a consolidation."""
    EXPIRED = "expired"
    """It ceased by itself at ``expires_at``."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedMemory:
    """One version.

    Attributes:
        memory_id: the version.
        lineage_id: the ``memory_id`` of the lineage's first version.
        state: what it is now.
        kind, content, slot, about, importance, confidence, source, provenance: as in a memory.
        merged_from: the versions that it stands for since a consolidation.
        merged_into: the version that stands for it, or ``None``.
        turn_id: the turn that caused it, or the record that did.
        conversation_id: the conversation of that turn; empty without one.
        quote: the exact words that caused it; empty without a turn.
        valid_from: since when it is true.
        valid_from_precision: how exactly that was told.
        valid_to: until when it was true; ``None`` while it is.
        recorded_at: when the ledger learnt it.
        closed_recorded_at: when the ledger learnt ``valid_to``; ``None`` where it is open, or was
            known to be over from the start.
        retracted_at: when it was withdrawn as wrong.
        last_confirmed_at: when it was last stated.
        confirmations: how often it was stated again.
        expires_at: when it ceases by itself.
        pinned_at: when a person pinned it, so that it is served whatever is asked; ``None`` where
            it is not pinned.
        searchable: whether it has its vector; where not, no question finds it until one is made.
    """

    memory_id: UUID
    lineage_id: UUID
    state: MemoryState
    kind: MemoryKind
    content: str
    slot: Slot
    about: str
    importance: int
    confidence: Confidence
    source: Source
    provenance: Provenance | None
    merged_from: tuple[UUID, ...]
    merged_into: UUID | None
    turn_id: UUID
    conversation_id: str
    quote: str
    valid_from: datetime
    valid_from_precision: Precision
    valid_to: datetime | None
    recorded_at: datetime
    closed_recorded_at: datetime | None
    retracted_at: datetime | None
    last_confirmed_at: datetime
    confirmations: int
    expires_at: datetime | None
    pinned_at: datetime | None
    searchable: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class MemoryPage:
    """A page of versions, the latest recorded first, equal times by id.

    Attributes:
        memories: the versions.
        next_cursor: what to send for the next page; ``None`` on the last.
        generation: the generation that was asked.
    """

    memories: tuple[ListedMemory, ...]
    next_cursor: str | None
    generation: str


class Memories:
    """Lists what the read model of one generation holds."""

    def __init__(self, read_model: ReadModel, *, clock: Callable[[], datetime] = utc_now) -> None:
        """Wire a listing.

        Args:
            read_model: the generation's tables.
            clock: the current time, aware.
        """
        self._read_model = read_model
        self._clock = clock

    async def list_memories(
        self,
        subject: UUID | None,
        *,
        history: bool = False,
        as_of: datetime | None = None,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> MemoryPage:
        """Return a page of the subject's memories.

        Without ``history`` and ``as_of``, what holds now. What is recorded while the pages are read
        comes before their beginning: no version is returned twice, and none that was there at the
        start is left out unless it ceased to belong to the listing.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            history: every version, also what was superseded, retracted or has expired.
            as_of: what was true then; ``state`` still tells what a version is now.
            cursor: ``next_cursor`` of the page before.
            limit: the most versions of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        _check(history=history, as_of=as_of, limit=limit)
        listing = _listing_digest(subject, history=history, as_of=as_of)
        same = "user_id, history and as_of"
        after = None if cursor is None else Cursor.decode(cursor, listing, arguments=same)
        found = await self._rows(
            subject, "list_memories", after, limit + 1, history=history, as_of=as_of
        )
        return self._page(found, listing, limit)

    async def history_of(
        self,
        subject: UUID | None,
        memory_id: UUID,
        *,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> MemoryPage:
        """Return a page of what one memory was at all times, each with the words that caused it.

        That is every version of its lineage, and all that stands behind any of them since a
        consolidation.

        Args:
            subject: whose memory; ``None`` for a user of whom nothing was ever heard.
            memory_id: any version of it.
            cursor: ``next_cursor`` of the page before.
            limit: the most versions of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            UnknownMemory: the subject has no such version.
            ReadModelUnavailable: the read model cannot be reached.
        """
        _check(history=False, as_of=None, limit=limit)
        listing = listing_digest(subject, "history", memory_id)
        after = None
        if cursor is not None:
            after = Cursor.decode(cursor, listing, arguments="user and memory")
        found = await self._rows(subject, "list_history", after, limit + 1, memory_id=memory_id)
        if not found and after is None:
            raise unknown_memory()
        return self._page(found, listing, limit)

    async def live_after(
        self, subject: UUID | None, after: Cursor | None, *, limit: int
    ) -> list[ListedMemory]:
        """Return what holds now of a subject, the latest recorded first, from a place on.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            after: the version to begin behind; ``None`` for the beginning.
            limit: the most versions.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        return await self._rows(subject, "list_memories", after, limit, history=False, as_of=None)

    async def _rows(
        self,
        subject: UUID | None,
        query: str,
        after: Cursor | None,
        limit: int,
        **asked: bool | datetime | UUID | None,
    ) -> list[ListedMemory]:
        if subject is None:
            return []
        parameters = {
            "subject": subject,
            "now": self._clock(),
            "after_recorded_at": None if after is None else after.moment,
            "after_memory_id": None if after is None else after.row_id,
            "limit": limit,
            **asked,
        }
        rows = await read_rows(self._read_model, subject, _QUERIES[query], parameters)
        return [listed_memory(row) for row in rows]

    def _page(self, found: list[ListedMemory], listing: bytes, limit: int) -> MemoryPage:
        memories = tuple(found[:limit])
        following = None
        if len(found) > limit:
            last = memories[-1]
            following = Cursor(
                moment=last.recorded_at, row_id=last.memory_id, listing=listing
            ).encode()
        return MemoryPage(
            memories=memories, next_cursor=following, generation=self._read_model.generation
        )


def unknown_memory() -> UnknownMemory:
    """Return the error for a memory that a user does not have, whoever else may have it."""
    return UnknownMemory(
        "nothing is stored under this id of the user: take a memory_id from GET /v1/memories or "
        "`memledger memories`"
    )


def _listing_digest(subject: UUID | None, *, history: bool, as_of: datetime | None) -> bytes:
    moment = "" if as_of is None else as_of.astimezone(UTC).isoformat()
    return listing_digest(subject, history, moment)


def _check(*, history: bool, as_of: datetime | None, limit: int) -> None:
    require_between("limit", limit, LIMIT_MAX)
    if history and as_of is not None:
        raise InvalidInput(
            field="as_of",
            problem="shows one moment, and history shows them all",
            remedy="send one of the two",
        )
    if as_of is not None and as_of.tzinfo is None:
        raise InvalidInput(
            field="as_of",
            problem="names no time zone",
            remedy="append Z for UTC or an offset such as +01:00",
        )


def listed_memory(row: Row) -> ListedMemory:
    """Return a version of a row that has a column for each of its fields."""
    fields: dict[str, Any] = {
        name: value.astimezone(UTC) if isinstance(value, datetime) else value
        for name, value in row.items()
    }
    fields["state"] = MemoryState(row["state"])
    fields["kind"] = MemoryKind(row["kind"])
    fields["slot"] = Slot(row["slot"])
    fields["confidence"] = Confidence(row["confidence"])
    fields["source"] = Source(row["source"])
    fields["valid_from_precision"] = Precision(row["valid_from_precision"])
    fields["provenance"] = provenance_of(row["provenance"])
    fields["merged_from"] = tuple(row["merged_from"])
    return ListedMemory(**fields)
