"""Listing what is stored of one subject, page by page, with where each version came from."""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final, Self
from uuid import UUID

from projections.read_model import ReadModel
from projections.reading import Row, provenance_of, read_rows
from schemas.clock import utc_now
from schemas.database import load_queries
from schemas.errors import InvalidInput
from schemas.memory import Confidence, MemoryKind, Provenance, Source
from schemas.slots import Slot

LIMIT_DEFAULT: Final = 50
LIMIT_MAX: Final = 500

_QUERIES: Final = load_queries("projections", "sql/memories.sql")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_LISTING_BYTES: Final = 8
# When the last version was recorded, its id, and what was listed.
_CURSOR: Final = struct.Struct(f">q16s{_LISTING_BYTES}s")


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
        valid_to: until when it was true; ``None`` while it is.
        recorded_at: when the ledger learnt it.
        closed_recorded_at: when the ledger learnt ``valid_to``; ``None`` where it is open, or was
            known to be over from the start.
        retracted_at: when it was withdrawn as wrong.
        last_confirmed_at: when it was last stated.
        confirmations: how often it was stated again.
        expires_at: when it ceases by itself.
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
    valid_to: datetime | None
    recorded_at: datetime
    closed_recorded_at: datetime | None
    retracted_at: datetime | None
    last_confirmed_at: datetime
    confirmations: int
    expires_at: datetime | None
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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Cursor:
    """Where a page ended, and of which listing.

    Attributes:
        recorded_at, memory_id: the last version of the page.
        listing: a digest of what was listed, so that a cursor continues nothing else.
    """

    recorded_at: datetime
    memory_id: UUID
    listing: bytes

    def encode(self) -> str:
        moment = (self.recorded_at - _EPOCH) // _MICROSECOND
        packed = _CURSOR.pack(moment, self.memory_id.bytes, self.listing)
        return base64.urlsafe_b64encode(packed).rstrip(b"=").decode()

    @classmethod
    def decode(cls, text: str, listing: bytes) -> Self:
        try:
            padded = text + "=" * (-len(text) % 4)
            moment, memory_id, found = _CURSOR.unpack(
                base64.b64decode(padded, b"-_", validate=True)
            )
            recorded_at = _EPOCH + moment * _MICROSECOND
        except (binascii.Error, struct.error, OverflowError, ValueError):
            raise InvalidInput(
                field="cursor",
                problem="is not a cursor",
                remedy="send next_cursor of the page before as it is",
            ) from None
        if found != listing:
            raise InvalidInput(
                field="cursor",
                problem="belongs to another listing",
                remedy="send it with the same user_id, history and as_of as the page it came with",
            )
        return cls(recorded_at=recorded_at, memory_id=UUID(bytes=memory_id), listing=found)


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
        after = None if cursor is None else _Cursor.decode(cursor, listing)
        if subject is None:
            return self._page([], listing, limit)
        parameters = {
            "subject": subject,
            "history": history,
            "as_of": as_of,
            "now": self._clock(),
            "after_recorded_at": None if after is None else after.recorded_at,
            "after_memory_id": None if after is None else after.memory_id,
            "limit": limit + 1,
        }
        rows = await read_rows(self._read_model, subject, _QUERIES["list_memories"], parameters)
        return self._page([_listed(row) for row in rows], listing, limit)

    def _page(self, found: list[ListedMemory], listing: bytes, limit: int) -> MemoryPage:
        memories = tuple(found[:limit])
        following = None
        if len(found) > limit:
            last = memories[-1]
            following = _Cursor(
                recorded_at=last.recorded_at, memory_id=last.memory_id, listing=listing
            ).encode()
        return MemoryPage(
            memories=memories, next_cursor=following, generation=self._read_model.generation
        )


def _listing_digest(subject: UUID | None, *, history: bool, as_of: datetime | None) -> bytes:
    moment = "" if as_of is None else as_of.astimezone(UTC).isoformat()
    text = f"{subject} {history} {moment}"
    return hashlib.blake2s(text.encode(), digest_size=_LISTING_BYTES, person=b"ml-list").digest()


def _check(*, history: bool, as_of: datetime | None, limit: int) -> None:
    if not 1 <= limit <= LIMIT_MAX:
        raise InvalidInput(
            field="limit", problem=f"is {limit}", remedy=f"send a number from 1 to {LIMIT_MAX}"
        )
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


def _listed(row: Row) -> ListedMemory:
    fields: dict[str, Any] = {
        name: value.astimezone(UTC) if isinstance(value, datetime) else value
        for name, value in row.items()
    }
    fields["state"] = MemoryState(row["state"])
    fields["kind"] = MemoryKind(row["kind"])
    fields["slot"] = Slot(row["slot"])
    fields["confidence"] = Confidence(row["confidence"])
    fields["source"] = Source(row["source"])
    fields["provenance"] = provenance_of(row["provenance"])
    fields["merged_from"] = tuple(row["merged_from"])
    return ListedMemory(**fields)
