"""What is kept on a user as one JSON document, made piece by piece."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from projections.files.listings import FileListings, ListedFile
from projections.flags import PostgresFlags
from projections.memories import LIMIT_MAX, ListedMemory, Memories, MemoryPage
from projections.read_model import ReadModel
from projections.summaries import SUMMARIES_MAX, PostgresSummaries, SessionSummary
from schemas.clock import utc_now
from schemas.events import RejectionReason
from schemas.flags import Flag, FlagState
from schemas.proposals import Operation

FORMAT: Final = "memledger-export-1"

HOLDS: Final = (
    "every memory of the user that is stored: those that hold now, and those that were replaced, "
    "withdrawn, merged or have expired; each with its times and the exact words that caused it; "
    "every file that assistants keep about the user, as it is now; the summaries of the user's "
    "chat sessions; and what was left to a person to decide about the user, with what became of it"
)
LEFT_OUT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "the conversations themselves": "the chat application has its own copy; the log keeps them "
        "sealed, and no reader of memories opens them",
        "what was deleted": "nothing is kept of it that could be shown: keys of 16 bytes, by which "
        "it is not noted again",
        "what was refused": "only which rule refused it is kept, with the turn: "
        "GET /v1/turns/{turn_id} tells it",
        "how each turn closed": "GET /v1/turns/{turn_id} tells it",
        "what recalls served": "ids of the memories here, with times, for a number of days: "
        "GET /v1/recalls/{recall_id} tells it",
        "what the files held before": "GET /v1/files/history and GET /v1/files/content tell it",
        "the answers to commands on files": "they repeat what the files held",
        "who decided what was left to a person, and why": "that is about the operator's staff",
        "whether memory is paused": "GET /v1/pause tells it",
        "the vectors and words by which memories are found": "they are made of the memories here",
    }
)
"""By what is kept besides on a user, why it is not in the document, or where it is told."""

_MEMORY: Final = TypeAdapter(ListedMemory)
_FILE: Final = TypeAdapter(ListedFile)
_SUMMARY: Final = TypeAdapter(SessionSummary)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportedFlag:
    """What code left to a person, without who that is; see :class:`~schemas.flags.Flag`.

    Attributes:
        decided_at: when it was approved or refused; ``None`` while it waits.
    """

    flag_id: UUID
    state: FlagState
    reasons: tuple[RejectionReason, ...]
    operation: Operation
    turn_id: UUID
    conversation_id: str
    said_at: datetime
    flagged_at: datetime
    decided_at: datetime | None


_FLAG: Final = TypeAdapter(ExportedFlag)


@dataclass(frozen=True, kw_only=True, slots=True)
class Exported:
    """Whose document is made.

    Attributes:
        tenant: whose user it is.
        user_id: the user, whom the document names.
        subject: the user's subject; ``None`` for one of whom nothing was ever heard.
    """

    tenant: str
    user_id: str
    subject: UUID | None


class Export:
    """Reads what is kept on a subject page by page and writes it as one document."""

    def __init__(
        self,
        memories: Memories,
        files: FileListings,
        summaries: PostgresSummaries,
        flags: PostgresFlags,
        *,
        page_size: int = LIMIT_MAX,
    ) -> None:
        """Wire an export.

        Args:
            memories: lists what there is.
            files: lists the files that assistants keep.
            summaries: lists what sessions came to.
            flags: lists what was left to a person.
            page_size: how many versions are held in memory at a time.
        """
        self._memories = memories
        self._files = files
        self._summaries = summaries
        self._flags = flags
        self._page_size = page_size

    @classmethod
    def of(cls, read_model: ReadModel) -> Export:
        """Return an export of what a read model holds."""
        return cls(
            Memories(read_model),
            FileListings(read_model),
            PostgresSummaries(read_model),
            PostgresFlags(read_model),
        )

    async def begin(self, whose: Exported) -> AsyncIterator[bytes]:
        """Return the pieces of the document, once the first page was read.

        So what fails at once is told as an error, and not as a document that breaks off. One that
        breaks off later is no JSON, since its last member, ``complete``, is missing.

        Args:
            whose: the user.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        first = await self._page(whose.subject, None)
        return self._pieces(whose, first, utc_now())

    async def _pieces(
        self, whose: Exported, first: MemoryPage, now: datetime
    ) -> AsyncIterator[bytes]:
        head = {
            "format": FORMAT,
            "user_id": whose.user_id,
            "exported_at": now.isoformat().replace("+00:00", "Z"),
            "generation": first.generation,
            "holds": HOLDS,
            "left_out": dict(LEFT_OUT),
        }
        yield _json(head)[:-1]
        counts: dict[str, int] = {}
        sections = {
            "memories": self._all_memories(whose.subject, first),
            "files": self._all_files(whose.subject),
            "summaries": self._all_summaries(whose.subject),
            "flags": self._all_flags(whose),
        }
        for name, items in sections.items():
            yield f',\n"{name}": ['.encode()
            counts[name] = 0
            async for item in items:
                yield (b",\n" if counts[name] else b"\n") + item
                counts[name] += 1
            yield b"\n]"
        told = {"counts": counts, "complete": True}
        yield b",\n" + _json(told)[1:] + b"\n"

    async def _all_memories(self, subject: UUID | None, first: MemoryPage) -> AsyncIterator[bytes]:
        page = first
        while True:
            for memory in page.memories:
                yield _MEMORY.dump_json(memory)
            if page.next_cursor is None:
                return
            page = await self._page(subject, page.next_cursor)

    async def _all_files(self, subject: UUID | None) -> AsyncIterator[bytes]:
        after: UUID | None = None
        while some := await self._files.whole(subject, after=after):
            for whole in some:
                told = _FILE.dump_python(whole.file, mode="json")
                yield _json({**told, "content": whole.content})
            after = some[-1].file.file_id

    async def _all_summaries(self, subject: UUID | None) -> AsyncIterator[bytes]:
        cursor: str | None = None
        while True:
            page = await self._summaries.page(subject, cursor=cursor, limit=SUMMARIES_MAX)
            for summary in page.summaries:
                yield _SUMMARY.dump_json(summary)
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _all_flags(self, whose: Exported) -> AsyncIterator[bytes]:
        if whose.subject is None:
            return
        # One that is decided meanwhile is found again among those that were decided.
        told: set[UUID] = set()
        for state in FlagState:
            cursor: str | None = None
            while True:
                page = await self._flags.page(
                    whose.tenant, state=state, subject=whose.subject, cursor=cursor
                )
                for flag in page.flags:
                    if flag.flag_id in told:
                        continue
                    told.add(flag.flag_id)
                    yield _FLAG.dump_json(_exported_flag(flag))
                cursor = page.next_cursor
                if cursor is None:
                    break

    async def _page(self, subject: UUID | None, cursor: str | None) -> MemoryPage:
        return await self._memories.list_memories(
            subject, history=True, cursor=cursor, limit=self._page_size
        )


def _exported_flag(flag: Flag) -> ExportedFlag:
    return ExportedFlag(
        flag_id=flag.flag_id,
        state=flag.state,
        reasons=flag.reasons,
        operation=flag.operation,
        turn_id=flag.turn_id,
        conversation_id=flag.conversation_id,
        said_at=flag.said_at,
        flagged_at=flag.flagged_at,
        decided_at=None if flag.verdict is None else flag.verdict.decided_at,
    )


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
