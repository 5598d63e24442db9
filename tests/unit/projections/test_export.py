"""The export: a whole document, made a page at a time, or nothing that could be taken for one."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import re
from importlib.resources import files
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from projections.export import FORMAT, LEFT_OUT, Export, Exported
from projections.files.listings import WHOLE_MAX, FileListings, ListedFile, WholeFile
from projections.flags import FlagPage, PostgresFlags
from projections.memories import Memories, MemoryState
from projections.summaries import PostgresSummaries, SessionSummary, SummaryPage
from schemas.errors import ReadModelUnavailable
from schemas.flags import Flag, FlagState, Verdict
from tests.support.flags import new_flag
from tests.support.log_writer import NOON
from tests.unit.projections.listed import Listed, version


class KeptFiles(FileListings):
    """Two files, of which the second is renamed to stand in front of the first while it is read."""

    def __init__(self) -> None:
        """Need no read model."""

    async def whole(
        self,
        subject: UUID | None,  # noqa: ARG002 - the listing's own signature
        *,
        after: UUID | None = None,
        limit: int = WHOLE_MAX,  # noqa: ARG002 - as above
    ) -> tuple[WholeFile, ...]:
        first = WholeFile(file=_file(1, "/memories/b.md"), content='"}], "complete": true} \u2028')
        second = WholeFile(file=_file(2, "/memories/a.md"), content="")
        return {None: (first,), UUID(int=1): (second,)}.get(after, ())


def _file(number: int, path: str) -> ListedFile:
    return ListedFile(
        path=path,
        file_id=UUID(int=number),
        size_bytes=1,
        version=3,
        created_at=NOON,
        changed_at=NOON,
        viewed_at=None,
    )


class KeptSummaries(PostgresSummaries):
    """Three summaries in two pages."""

    def __init__(self) -> None:
        """Need no read model."""

    async def page(
        self,
        subject: UUID | None,  # noqa: ARG002 - as above
        *,
        cursor: str | None = None,
        limit: int = 1,  # noqa: ARG002 - as above
    ) -> SummaryPage:
        told = ("latest", "middle") if cursor is None else ("first",)
        return SummaryPage(
            summaries=tuple(map(summary, told)),
            next_cursor="4" if cursor is None else None,
            generation="g1",
        )


class KeptFlags(PostgresFlags):
    """One open flag, approved while it is read, and one approved; each of the tenant that asks."""

    def __init__(self) -> None:
        """Need no read model."""
        self._decided: Flag | None = None

    async def page(
        self,
        tenant: str,
        *,
        state: FlagState = FlagState.OPEN,
        subject: UUID | None = None,
        cursor: str | None = None,
        limit: int = 1,  # noqa: ARG002 - as above
    ) -> FlagPage:
        assert (tenant, cursor) == ("acme", None)
        assert subject is not None
        verdict = Verdict(actor="staff", reason="known", decided_at=NOON, turn_id=UUID(int=3))
        if state is FlagState.OPEN:
            self._decided = new_flag(subject)
            return FlagPage(flags=(self._decided,), next_cursor=None, generation="g1")
        assert self._decided is not None
        decided = dataclasses.replace(self._decided, state=FlagState.APPROVED, verdict=verdict)
        approved = (decided, new_flag(subject, state=FlagState.APPROVED, verdict=verdict))
        return FlagPage(
            flags=approved if state is FlagState.APPROVED else (),
            next_cursor=None,
            generation="g1",
        )


def summary(text: str) -> SessionSummary:
    return SessionSummary(
        conversation_id="c",
        summary=text,
        reason=None,
        turns=2,
        first_said_at=NOON,
        last_said_at=NOON,
        refused={},
        cut=0,
        shortened=0,
        more=False,
        extractor="openai",
        model="model-1",
        made_at=NOON,
    )


def export_of(memories: Memories, **options: int) -> Export:
    return Export(memories, KeptFiles(), KeptSummaries(), KeptFlags(), **options)


def whose(user_id: str = "ann") -> Exported:
    return Exported(tenant="acme", user_id=user_id, subject=uuid4())


def exported(memories: Memories, *, page_size: int = 2) -> bytes:
    async def read() -> bytes:
        pieces = await export_of(memories, page_size=page_size).begin(whose("ann <&\u2028>"))
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
    assert document["counts"] == {"memories": count, "files": 2, "summaries": 3, "flags": 2}
    assert list(document)[-1] == "complete"
    assert document["complete"] is True
    assert document["left_out"] == dict(LEFT_OUT)
    assert [file["path"] for file in document["files"]] == ["/memories/b.md", "/memories/a.md"]
    file = document["files"][0]
    assert file["version"] == 3
    assert file["content"] == '"}], "complete": true} \u2028'
    assert [one["summary"] for one in document["summaries"]] == ["latest", "middle", "first"]
    waiting, approved = document["flags"]
    assert (waiting["state"], waiting["decided_at"]) == ("open", None)
    assert waiting["operation"]["content"]
    assert (approved["state"], approved["decided_at"]) == ("approved", "2026-03-01T12:00:00Z")
    assert "staff" not in json.dumps(document["flags"])
    assert max(listed.asked) == 3  # a page, and whether there is another one


def test_the_members_of_a_memory_are_those_of_the_listing() -> None:
    (memory,) = json.loads(exported(Listed(version(1, "Likes tea"))))["memories"]
    assert set(memory) == set(version(1, "x").__slots__)


def test_of_a_user_of_whom_nothing_is_stored_it_is_whole_and_empty() -> None:
    document = json.loads(exported(Listed()))
    assert (document["memories"], document["counts"]["memories"]) == ([], 0)
    assert document["complete"] is True


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
        asyncio.run(export_of(_Failing(0)).begin(whose()))


def test_what_breaks_off_is_no_document() -> None:
    received = bytearray()

    async def read() -> None:
        async for piece in await export_of(_Failing(2), page_size=2).begin(whose()):
            received.extend(piece)

    with pytest.raises(ReadModelUnavailable):
        asyncio.run(read())
    assert b'"content"' in received
    with pytest.raises(json.JSONDecodeError):
        json.loads(received)


TOLD_BY: Final = {
    "memories": "memories",
    "flags": "flags",
    "files": "files",
    "file_views": "files",
    "session_summaries": "summaries",
    "summary_sources": "summaries",
    "due_summaries": "summaries",
    "turns": "how each turn closed",
    "waiting_turns": "how each turn closed",
    "refused_outcomes": "how each turn closed",
    "rejections": "what was refused",
    "suppressions": "what was deleted",
    "recalls": "what recalls served",
    "file_history": "what the files held before",
    "file_results": "the answers to commands on files",
}
"""By table of the read model that is kept by subject, what the document tells of it."""


def test_every_table_that_is_kept_by_subject_is_in_the_document_or_named_as_left_out() -> None:
    made = [
        match
        for file in files("projections").joinpath("migrations").iterdir()
        for match in re.finditer(
            r"^CREATE TABLE (\w+) \((.*?)^\);", file.read_text("utf-8"), re.DOTALL | re.MULTILINE
        )
    ]
    kept = {table for table, columns in (one.groups() for one in made) if "subject uuid" in columns}
    assert kept == set(TOLD_BY)
    assert set(TOLD_BY.values()) <= set(json.loads(exported(Listed()))["counts"]) | set(LEFT_OUT)
