"""Commands on files become rows, each once, and are listed with their history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from projections.files import projection as files_projection
from projections.files.answers import FileAnswers
from projections.files.listings import FileListings
from projections.files.projection import FilesTopic
from projections.files.state import FileEventKind, SubjectFiles
from projections.read_model import name_subjects
from projections.reading import read_rows
from projections.side_topics import OpenedBeside
from schemas import ids
from schemas.errors import InvalidInput, RecordInvalid, ResultPending
from schemas.files import (
    FileChange,
    FileCommand,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileRenamed,
    FileReplaced,
    ToolResult,
)
from schemas.keyring import SubjectKeys
from schemas.log.sealed import LogPosition, seal_record
from schemas.partitioning import partition_for
from schemas.topics import DEAD_LETTERS, FILES
from schemas.tree import address_for
from tests.conftest import TestStores
from tests.support.log_writer import NOON, TENANT, at
from tests.support.projection import Projection, opened

NOTES = "/memories/notes.md"
PLANS = "/memories/plans.md"


@dataclass(kw_only=True)
class FileWriter:
    """Appends commands on one subject's files, and folds what it appended."""

    projection: Projection
    keys: SubjectKeys
    partition: int
    user: str
    files: SubjectFiles = field(default_factory=SubjectFiles)
    results: dict[UUID, ToolResult] = field(default_factory=dict)

    @classmethod
    async def of_new_user(cls, projection: Projection) -> FileWriter:
        await projection.keyring.ensure_tenant(TENANT)
        user = uuid4().hex
        keys = (await projection.keyring.subjects_for(TENANT, [user], create=True))[user]
        partition = partition_for(keys.subject, projection.stores.partitions)
        return cls(projection=projection, keys=keys, partition=partition, user=user)

    async def send(self, change: FileChange, *, client_id: str | None = None) -> UUID:
        """Append a command and return its id."""
        command_id = ids.file_command_id(self.keys.id_secret, client_id)
        received_at = at(len(self.results))
        command = FileCommand(command_id=command_id, change=change, received_at=received_at)
        await self.append(command, record_id=command_id)
        if command_id not in self.results:
            self.results[command_id] = self.files.apply(command).result
        return command_id

    async def append(self, command: FileCommand, *, record_id: UUID, altered: bool = False) -> None:
        address = address_for(command.received_at, record_id)
        sealed = seal_record(command, keys=self.keys, record_id=record_id, address=address)
        if altered:
            object.__setattr__(sealed, "value", sealed.value[:-1] + bytes([sealed.value[-1] ^ 1]))
        await self.projection.producer.append(FILES, self.partition, sealed)


async def _write_story(writer: FileWriter) -> None:
    await writer.send(FileCreated(path=NOTES, file_text="Likes tea.\n"), client_id="c1")
    await writer.send(FileReplaced(path=NOTES, old_str="tea", new_str="coffee"))
    await writer.send(FileInserted(path=NOTES, insert_line=0, insert_text="日本語"), client_id="c2")
    await writer.send(FileInserted(path=NOTES, insert_line=0, insert_text="日本語"), client_id="c2")
    await writer.send(FileCreated(path=PLANS, file_text="x"))
    # Two files change places, which their rows must survive.
    for old, new in ((NOTES, "/memories/x"), (PLANS, NOTES), ("/memories/x", PLANS)):
        await writer.send(FileRenamed(old_path=old, new_path=new))
    await writer.send(FileDeleted(path="/memories/none"))
    await writer.send(FileCreated(path="/memories/gone/a", file_text=""))
    await writer.send(FileDeleted(path="/memories/gone"))
    await writer.send(FileDeleted(path=NOTES), client_id="c1")


_ROWS = {
    "files": "SELECT subject, path, file_id, content, version, created_at, changed_at FROM files",
    "results": "SELECT subject, command_id, is_error, content FROM file_results",
    "history": "SELECT * FROM file_history",
}


async def _rows(projection: Projection) -> dict[str, list[tuple[object, ...]]]:
    return {name: sorted(await projection.rows(query)) for name, query in _ROWS.items()}


def _folded(writers: Sequence[FileWriter]) -> dict[str, list[tuple[object, ...]]]:
    files = [
        (w.keys.subject, f.path, f.file_id, f.content, f.version, f.created_at, f.changed_at)
        for w in writers
        for f in w.files.files.values()
    ]
    results = [
        (w.keys.subject, command_id, result.is_error, result.content)
        for w in writers
        for command_id, result in w.results.items()
    ]
    return {"files": sorted(files), "results": sorted(results)}


def test_rows_are_the_fold_of_the_log_however_often_it_is_read(
    stores: TestStores, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        async with opened(stores) as projection:
            writers = [await FileWriter.of_new_user(projection) for _ in range(3)]
            erased = await FileWriter.of_new_user(projection)
            for writer in (*writers, erased):
                await _write_story(writer)
            await projection.keyring.destroy(erased.keys.subject)
            bad = FileCommand(command_id=uuid4(), change=FileDeleted(path=PLANS), received_at=NOON)
            await writers[0].append(bad, record_id=uuid4())
            await writers[0].append(bad, record_id=bad.command_id, altered=True)
            await writers[0].send(FileCreated(path="/memories/after.md", file_text="y"))

            await projection.catch_up()

            first = await _rows(projection)
            assert {name: first[name] for name in ("files", "results")} == _folded(writers)
            assert len(first["history"]) == 3 * 9 + 1
            assert await _dead_letters(projection) == 2

            compared = await projection.compare()
            assert compared.equal, compared.differences
            assert compared.rows == sum(len(rows) for rows in first.values())

            await projection.reset_positions()
            await projection.catch_up()
            assert await _rows(projection) == first
            async with projection.read_model.connection() as connection:
                for query in _ROWS.values():
                    assert await (await connection.execute(query)).fetchall() == []

            for query in _ROWS.values():
                # The filter left out: who has named one subject sees no other's rows.
                seen = await read_rows(projection.read_model, writers[0].keys.subject, query, {})
                assert {row["subject"] for row in seen} == {writers[0].keys.subject}

            await _listed(projection, writers[0])
            await _found_out(projection, writers[2])
            await _shortened(projection, writers[1], monkeypatch)

    asyncio.run(scenario())


async def _dead_letters(projection: Projection) -> int:
    read = [
        await asyncio.to_thread(projection._read, DEAD_LETTERS, partition, 0)
        for partition in range(projection.stores.partitions)
    ]
    return len({record.header().record_id for records in read for record in records})


async def _listed(projection: Projection, writer: FileWriter) -> None:
    """Look at one user's files through every door of the read model."""
    now = NOON + timedelta(days=10)
    answers = FileAnswers(projection.read_model, clock=lambda: now, wait_s=0.05)
    listings = FileListings(projection.read_model, clock=lambda: now + timedelta(days=5))
    subject = writer.keys.subject

    with pytest.raises(ResultPending, match="same command_id"):
        await answers.result(subject, uuid4())
    (known,) = [found for found in writer.results if writer.results[found].is_error][:1]
    assert await answers.result(subject, known) == writer.results[known]
    viewed = await answers.view(subject, PLANS)
    assert viewed.content.endswith("     1\t日本語\n     2\tLikes coffee.")
    assert (await answers.view(subject, "/memories")).content.endswith(
        f"\n26B\t/memories\n1B\t/memories/after.md\n1B\t{NOTES}\n24B\t{PLANS}"
    )
    assert (await answers.view(None, NOTES)).is_error

    page = await listings.page(subject, limit=2)
    assert [file.path for file in page.files] == ["/memories/after.md", NOTES]
    rest = await listings.page(subject, limit=2, cursor=page.next_cursor)
    assert [(file.path, file.viewed_at, file.size_bytes) for file in rest.files] == [
        (PLANS, now, 24)
    ]
    assert rest.next_cursor is None
    # Read ten days after it was written, and looked at five days later.
    stale = await listings.page(subject, unread_days=6)
    assert [file.path for file in stale.files] == ["/memories/after.md", NOTES]
    assert [file.path for file in (await listings.page(subject, unread_days=5)).files] == [
        "/memories/after.md",
        NOTES,
    ]
    assert len((await listings.page(subject, unread_days=4)).files) == 3

    (first,) = await listings.whole(subject, limit=1)
    others = await listings.whole(subject, after=first.file.file_id)
    assert await listings.whole(subject, after=others[-1].file.file_id) == ()
    whole = {one.file.path: one for one in (first, *others)}
    assert sorted(one.file.file_id for one in whole.values()) == [
        one.file.file_id for one in (first, *others)
    ]
    assert {one.file for one in whole.values()} == {*page.files, *rest.files}
    assert whole[PLANS].content == "日本語\nLikes coffee.\n"

    history = await _whole_history(listings, subject, limit=4)
    assert [event.kind for event in history[:3]] == [
        FileEventKind.CREATED,
        FileEventKind.DELETED,
        FileEventKind.CREATED,
    ]
    assert len(history) == 10
    one = await _whole_history(listings, subject, path="/memories/x", limit=50)
    assert [(event.path, event.version) for event in one] == [
        (PLANS, 5), ("/memories/x", 4), (NOTES, 3), (NOTES, 2), (NOTES, 1),
    ]  # fmt: skip
    assert await listings.content(subject, PLANS) == "日本語\nLikes coffee.\n"
    contents = [await listings.content(subject, PLANS, version=number) for number in range(1, 7)]
    assert contents == [
        "Likes tea.\n", "Likes coffee.\n", *["日本語\nLikes coffee.\n"] * 3, None,
    ]  # fmt: skip
    assert await listings.content(subject, "/memories/gone/a", version=1) == ""
    assert await listings.content(subject, "/memories/gone/a") is None
    for refused in (
        listings.page(subject, limit=0),
        listings.whole(subject, limit=0),
        listings.page(subject, cursor="../x"),
        listings.page(subject, unread_days=0),
        listings.history(subject, cursor="1:x"),
        listings.history(subject, path="/etc/passwd"),
        listings.content(subject, "/memories/../x"),
    ):
        with pytest.raises(InvalidInput):
            await refused
    assert (await listings.page(None)).files == ()
    assert await listings.whole(None) == ()


async def _whole_history(listings: FileListings, subject: UUID, **asked: Any) -> list[Any]:
    page = await listings.history(subject, **asked)
    events = list(page.events)
    while page.next_cursor is not None:
        page = await listings.history(subject, cursor=page.next_cursor, **asked)
        events += page.events
    return events


async def _shortened(
    projection: Projection, writer: FileWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let a history grow too long, by entries and then by characters."""
    listings = FileListings(projection.read_model)
    monkeypatch.setattr(files_projection, "HISTORY_ENTRIES_MAX", 4)
    await writer.send(FileReplaced(path=PLANS, old_str="coffee", new_str="0123456789"))
    await projection.catch_up()
    assert len(await _whole_history(listings, writer.keys.subject)) == 4
    assert await listings.content(writer.keys.subject, PLANS, version=1) is None

    monkeypatch.setattr(files_projection, "HISTORY_CHARACTERS_MAX", 30)
    await writer.send(FileInserted(path=PLANS, insert_line=0, insert_text="!"))
    await projection.catch_up()
    (event,) = await _whole_history(listings, writer.keys.subject)
    assert (event.kind, event.characters) == (FileEventKind.EDITED, 24)
    differ = {difference.subject for difference in (await projection.compare()).differences}
    assert writer.keys.subject not in differ
    others = await projection.rows("SELECT count(*) FROM file_history")
    assert others == [(1 + 8 + 10,)]


async def _found_out(projection: Projection, writer: FileWriter) -> None:
    """Change a row of each table by hand; views are nobody's business."""
    subject = writer.keys.subject
    async with projection.read_model.connection() as connection, connection.transaction():
        await name_subjects(connection, [subject])
        for change in (
            "UPDATE files SET content = 'x'",
            "DELETE FROM file_history WHERE version = 5",
            "UPDATE file_results SET is_error = NOT is_error",
            "INSERT INTO file_views VALUES (%s, %s, now())",
        ):
            asked = (subject, uuid4()) if "%s" in change else None
            await connection.execute(change, asked)
    (difference,) = (await projection.compare()).differences
    assert difference.subject == subject
    # A file has the id of the command that made it.
    assert set(difference.changed) == writer.results.keys()
    assert (len(difference.missing), difference.surplus) == (1, ())


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"record_id": UUID(int=2)}, "id is not the one in its header"),
        ({"partition": 1}, "another partition"),
        ({"tenant": None}, "belongs to no user"),
    ],
)
def test_a_record_that_nobody_should_have_written_is_refused(
    changed: dict[str, Any], problem: str
) -> None:
    fields: dict[str, Any] = {"record_id": UUID(int=1), "partition": 0, "tenant": "acme"} | changed
    command = FileCommand(
        command_id=UUID(int=1),
        change=FileDeleted(path=NOTES),
        received_at=datetime.now(NOON.tzinfo),
    )
    subject = next(UUID(int=n) for n in range(100) if partition_for(UUID(int=n), 4) == 0)
    found = OpenedBeside(
        subject=subject,
        tenant=fields["tenant"],
        record_id=fields["record_id"],
        position=LogPosition(topic=FILES, partition=fields["partition"], offset=0),
        timestamp_ms=0,
        record=command,
    )

    with pytest.raises(RecordInvalid, match=problem):
        FilesTopic(partitions=4).check(found)
