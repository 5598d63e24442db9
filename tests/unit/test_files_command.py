"""``memledger files`` lists what assistants keep, and shows one of them."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from click.testing import CliRunner, Result

from deploy.cli import files as verb
from deploy.cli import main
from projections.files.listings import FileHistoryPage, FilePage, ListedEvent, ListedFile
from projections.files.state import FileEventKind
from tests.support.log_writer import NOON

NOTES = ListedFile(
    path="/memories/notes.md",
    file_id=UUID(int=1),
    size_bytes=5632,
    version=3,
    created_at=NOON,
    changed_at=NOON,
    viewed_at=None,
)
PLANS = replace(NOTES, path="/memories/plans.md", viewed_at=NOON + timedelta(days=1))
RENAMED = ListedEvent(
    kind=FileEventKind.RENAMED,
    file_id=UUID(int=1),
    version=2,
    path="/memories/notes.md",
    old_path="/memories/old.md",
    characters=None,
    happened_at=NOON,
    command_id=UUID(int=2),
)
CREATED = replace(RENAMED, kind=FileEventKind.CREATED, version=1, old_path=None, characters=1200)


class Listings:
    """Answers in two pages, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.files: dict[str | None, tuple[ListedFile, ...]] = {None: (NOTES,), "next": (PLANS,)}

    async def page(self, _subject: UUID | None, **asked: Any) -> FilePage:
        self.asked.append(asked)
        cursor = asked["cursor"]
        following = "next" if cursor is None else None
        return FilePage(files=self.files[cursor], next_cursor=following, generation="g1")

    async def history(self, _subject: UUID | None, **asked: Any) -> FileHistoryPage:
        first = asked["cursor"] is None
        events = (RENAMED,) if first else (CREATED,)
        return FileHistoryPage(
            events=events, next_cursor="next" if first else None, generation="g1"
        )

    async def content(self, _subject: UUID | None, path: str, *, version: int | None) -> str | None:
        self.asked.append({"path": path, "version": version})
        return "Likes tea\n\x1b[2Jend" if path == NOTES.path else None


@pytest.fixture
def listings(monkeypatch: pytest.MonkeyPatch) -> Listings:
    held = Listings()

    async def asked(
        tenant: str, user: str, ask: Callable[[Listings, UUID], Awaitable[object]]
    ) -> object:
        assert (tenant, user) == ("local", "ann")
        return await ask(held, UUID(int=1))

    monkeypatch.setattr(verb, "_asked", asked)
    return held


def run(*arguments: str) -> Result:
    return CliRunner(env={"COLUMNS": None}).invoke(main, ["files", *arguments])


def test_files_are_listed_page_by_page_with_when_they_were_read(listings: Listings) -> None:
    ran = run("--user", "ann")

    assert ran.exit_code == 0, ran.output
    for told in ("/memories/notes.md", "5.5K", "2026-03-01 12:00", "2026-03-02 12:00"):
        assert told in ran.stdout
    assert [asked["unread_days"] for asked in listings.asked] == [None, None]
    as_json = json.loads(run("--user", "ann", "--json").stdout)
    assert [file["path"] for file in as_json["files"]] == [NOTES.path, PLANS.path]


def test_stale_files_are_proposed_for_tidying(listings: Listings) -> None:
    assert run("--user", "ann", "--stale", "90").exit_code == 0
    assert listings.asked[0]["unread_days"] == 90
    listings.files = {None: (), "next": ()}
    assert "nobody read or wrote for 90 days" in run("--user", "ann", "--stale", "90").stdout


def test_the_history_tells_what_became_of_files(listings: Listings) -> None:
    ran = run("--user", "ann", "--history")

    assert ran.exit_code == 0
    for told in ("renamed", "/memories/notes.md (was /memories/old.md)", "created", "1,200"):
        assert told in ran.stdout
    as_json = json.loads(run("--user", "ann", "--history", "--json").stdout)
    assert [event["kind"] for event in as_json["events"]] == ["renamed", "created"]
    assert listings.asked == []


def test_a_file_is_shown_without_what_a_terminal_would_obey(listings: Listings) -> None:
    ran = run("show", NOTES.path, "--user", "ann", "--version", "2")

    assert ran.stdout == "Likes tea\n\N{REPLACEMENT CHARACTER}[2Jend\n"
    assert listings.asked == [{"path": NOTES.path, "version": 2}]
    as_json = json.loads(run("show", NOTES.path, "--user", "ann", "--json").stdout)
    assert as_json == {"path": NOTES.path, "version": None, "content": "Likes tea\n\x1b[2Jend"}


@pytest.mark.usefixtures("listings")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "--user: is missing"),
        (["--user", "ann", "--history", "--stale", "3"], "--stale: chooses among"),
        (["--user", "ann", "show", NOTES.path, "--user", "ann"], "stands in front of show"),
        (["show", "/memories/none.md", "--user", "ann"], "the user has no such file"),
        (["--user", "ann", "--stale", "0"], "0 is not in the range"),
    ],
    ids=range(5),
)
def test_what_cannot_be_asked_is_refused_with_what_to_do(
    arguments: list[str], problem: str
) -> None:
    ran = run(*arguments)

    assert ran.exit_code == 2
    assert problem in ran.stderr
