"""The export: a whole document, made a page at a time, or nothing that could be taken for one."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.export import FORMAT, Export
from projections.files.listings import LIMIT_DEFAULT, FileListings, FilePage, ListedFile
from projections.memories import Memories, MemoryState
from schemas.errors import ReadModelUnavailable
from tests.support.log_writer import NOON
from tests.unit.projections.listed import Listed, version


class KeptFiles(FileListings):
    """Two files in two pages; one of them is deleted before it is read."""

    def __init__(self) -> None:
        """Need no read model."""

    async def page(
        self,
        subject: UUID | None,  # noqa: ARG002 - the listing's own signature
        *,
        unread_days: int | None = None,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,  # noqa: ARG002 - as above
    ) -> FilePage:
        assert unread_days is None
        first = cursor is None
        file = ListedFile(
            path="/memories/a.md" if first else "/memories/gone.md",
            file_id=UUID(int=1),
            size_bytes=1,
            version=3,
            created_at=NOON,
            changed_at=NOON,
            viewed_at=None,
        )
        return FilePage(files=(file,), next_cursor="a" if first else None, generation="g1")

    async def content(
        self,
        subject: UUID | None,  # noqa: ARG002 - as above
        path: str,
        *,
        version: int | None = None,
    ) -> str | None:
        assert version is None
        return '"}], "complete": true} \u2028' if path == "/memories/a.md" else None


def exported(memories: Memories, *, page_size: int = 2) -> bytes:
    async def read() -> bytes:
        pieces = await Export(memories, KeptFiles(), page_size=page_size).begin(
            uuid4(), "ann <&\u2028>"
        )
        return b"".join([piece async for piece in pieces])

    return asyncio.run(read())


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_every_version_is_in_it_whatever_the_pages(count: int) -> None:
    hostile = '"}], "complete": true} \u2028 </script>'
    versions = [version(number, f"{hostile} {number}") for number in range(count)]
    versions[-1] = version(count, "It was so", state=MemoryState.SUPERSEDED, quote="It is so")
    listed = Listed(*versions)
    document: dict[str, Any] = json.loads(exported(listed))
    assert document["format"] == FORMAT
    assert document["user_id"] == "ann <&\u2028>"
    assert [memory["content"] for memory in document["memories"]] == [
        one.content for one in versions
    ]
    assert document["memories"][-1]["state"] == "superseded"
    assert document["memories"][-1]["quote"] == "It is so"
    assert (document["count"], document["complete"]) == (count, True)
    assert "deleted" in document["leaves_out"]
    (file,) = document["files"]
    assert (file["path"], file["version"]) == ("/memories/a.md", 3)
    assert file["content"] == '"}], "complete": true} \u2028'
    assert document["files_count"] == 1
    assert max(listed.asked) == 3  # a page, and whether there is another one


def test_the_members_of_a_memory_are_those_of_the_listing() -> None:
    (memory,) = json.loads(exported(Listed(version(1, "Likes tea"))))["memories"]
    assert set(memory) == set(version(1, "x").__slots__)


def test_of_a_user_of_whom_nothing_is_stored_it_is_whole_and_empty() -> None:
    document = json.loads(exported(Listed()))
    assert (document["memories"], document["count"], document["complete"]) == ([], 0, True)


class _Failing(Listed):
    """Fails at a page."""

    def __init__(self, page: int) -> None:
        super().__init__(*(version(number, "x") for number in range(9)))
        self._page_failing = page

    async def _rows(self, *asked: Any, **more: Any) -> list[Any]:
        if len(self.asked) == self._page_failing:
            raise ReadModelUnavailable("it is away")
        return await super()._rows(*asked, **more)


def test_what_fails_at_once_is_an_error() -> None:
    with pytest.raises(ReadModelUnavailable):
        asyncio.run(Export(_Failing(0), KeptFiles()).begin(uuid4(), "ann"))


def test_what_breaks_off_is_no_document() -> None:
    received = bytearray()

    async def read() -> None:
        async for piece in await Export(_Failing(2), KeptFiles(), page_size=2).begin(
            uuid4(), "ann"
        ):
            received.extend(piece)

    with pytest.raises(ReadModelUnavailable):
        asyncio.run(read())
    assert b'"content"' in received
    with pytest.raises(json.JSONDecodeError):
        json.loads(received)
