"""Commands on files of many subjects are carried out without holding all their files at once."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID, uuid4

import pytest

from projections.files import projection
from projections.files.projection import FilesTopic, Opened
from projections.side_topics import OpenedBeside
from schemas.database import Connection
from schemas.files import FileCommand, FileCreated, FileReplaced
from schemas.log.sealed import LogPosition
from schemas.topics import FILES
from tests.support.log_writer import NOON, TENANT


class _Stores:
    """Takes the place of a connection to tables that hold nothing yet."""

    def __init__(self) -> None:
        self.executed: list[tuple[object, dict[str, Any]]] = []

    async def execute(self, query: object, columns: dict[str, Any]) -> object:
        self.executed.append((query, columns))

        async def fetchall() -> list[tuple[object, ...]]:
            return []

        return SimpleNamespace(fetchall=fetchall)

    def told(self, name: str) -> list[dict[str, Any]]:
        """Return what each run of a statement was given."""
        return [told for query, told in self.executed if query is projection._QUERIES[name]]


def _command(subject: UUID, offset: int, change: FileCreated | FileReplaced) -> Opened:
    command_id = uuid4()
    return OpenedBeside(
        subject=subject,
        tenant=TENANT,
        record_id=command_id,
        position=LogPosition(topic=FILES, partition=0, offset=offset),
        timestamp_ms=0,
        record=FileCommand(command_id=command_id, change=change, received_at=NOON),
    )


def test_files_of_so_many_subjects_are_held_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "SUBJECTS_AT_ONCE", 2)
    subjects = [UUID(int=number) for number in range(1, 6)]
    path = "/memories/notes.md"
    created = [_command(s, s.int, FileCreated(path=path, file_text="tea")) for s in subjects]
    edited = [
        _command(s, 10 + s.int, FileReplaced(path=path, old_str="tea", new_str=str(s.int)))
        for s in subjects
    ]
    stores = _Stores()

    topic = FilesTopic(partitions=1)
    asyncio.run(topic.apply(cast("Connection", stores), [*created, *edited]))

    assert [len(told["subjects"]) for told in stores.told("select_files")] == [2, 2, 1]
    written = {
        subject: content
        for told in stores.told("write_files")
        for subject, content in zip(told["subjects"], told["contents"], strict=True)
    }
    assert written == {subject: str(subject.int) for subject in subjects}
    results = stores.told("write_results")
    assert not any(error for told in results for error in told["are_errors"])
    assert sorted(one for told in results for one in told["command_ids"]) == sorted(
        found.record_id for found in (*created, *edited)
    )
