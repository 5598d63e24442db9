"""A user's memories as one JSON document, made piece by piece."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from pydantic import TypeAdapter

from projections.files.listings import FileListings, ListedFile
from projections.memories import LIMIT_MAX, ListedMemory, Memories, MemoryPage
from schemas.clock import utc_now

FORMAT: Final = "memledger-export-1"

HOLDS: Final = (
    "every memory of the user that is stored: those that hold now, and those that were replaced, "
    "withdrawn, merged or have expired; each with its times and the exact words that caused it; "
    "and every file that assistants keep about the user, as it is now"
)
LEAVES_OUT: Final = (
    "the conversations themselves, of which the chat application has its own copy, and the short "
    "summaries that are made of them; what was deleted or refused, of which nothing is kept that "
    "could be shown; what the files held before; and the vectors by which memories are found"
)

_MEMORY: Final = TypeAdapter(ListedMemory)
_FILE: Final = TypeAdapter(ListedFile)


class Export:
    """Reads a subject's memories and files page by page and writes them as one document."""

    def __init__(
        self, memories: Memories, files: FileListings, *, page_size: int = LIMIT_MAX
    ) -> None:
        """Wire an export.

        Args:
            memories: lists what there is.
            files: lists the files that assistants keep.
            page_size: how many versions are held in memory at a time.
        """
        self._memories = memories
        self._files = files
        self._page_size = page_size

    async def begin(self, subject: UUID | None, user_id: str) -> AsyncIterator[bytes]:
        """Return the pieces of the document, once the first page was read.

        So what fails at once is told as an error, and not as a document that breaks off. One that
        breaks off later is no JSON, since its last member, ``complete``, is missing.

        Args:
            subject: whose memories; ``None`` for a user of whom nothing was ever heard.
            user_id: whom the document names.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        first = await self._page(subject, None)
        return self._pieces(subject, user_id, first, utc_now())

    async def _pieces(
        self, subject: UUID | None, user_id: str, first: MemoryPage, now: datetime
    ) -> AsyncIterator[bytes]:
        head = {
            "format": FORMAT,
            "user_id": user_id,
            "exported_at": now.isoformat().replace("+00:00", "Z"),
            "generation": first.generation,
            "holds": HOLDS,
            "leaves_out": LEAVES_OUT,
        }
        yield _json(head)[:-1] + b',\n"memories": ['
        count, page = 0, first
        while True:
            if page.memories:
                yield _listed(page, follows=count > 0)
            count += len(page.memories)
            if page.next_cursor is None:
                break
            page = await self._page(subject, page.next_cursor)
        yield b'\n],\n"files": ['
        number = 0
        async for file in self._written_files(subject):
            yield (b",\n" if number else b"\n") + file
            number += 1
        counts = {"count": count, "files_count": number, "complete": True}
        yield b"\n],\n" + _json(counts)[1:] + b"\n"

    async def _written_files(self, subject: UUID | None) -> AsyncIterator[bytes]:
        cursor: str | None = None
        while True:
            page = await self._files.page(subject, cursor=cursor)
            for file in page.files:
                # One at a time: all of a user's together are more than a page of memories.
                content = await self._files.content(subject, file.path)
                if content is not None:
                    told = _FILE.dump_python(file, mode="json")
                    yield _json({**told, "content": content})
            cursor = page.next_cursor
            if cursor is None:
                return

    async def _page(self, subject: UUID | None, cursor: str | None) -> MemoryPage:
        return await self._memories.list_memories(
            subject, history=True, cursor=cursor, limit=self._page_size
        )


def _listed(page: MemoryPage, *, follows: bool) -> bytes:
    text = b",\n".join(_MEMORY.dump_json(memory) for memory in page.memories)
    return (b",\n" if follows else b"\n") + text


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()
