"""Projecting commands on files: the rows of a batch, folded and written at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final
from uuid import UUID

from projections.files.state import Applied, FileEventKind, StoredFile, SubjectFiles
from projections.side_topics import OpenedBeside
from schemas.database import Connection
from schemas.errors import RecordInvalid
from schemas.files import FileCommand
from schemas.partitioning import partition_for
from schemas.queries import load_queries
from schemas.topics import FILES

HISTORY_ENTRIES_MAX: Final = 2_000
"""The most entries that are kept of what became of a subject's files."""

HISTORY_CHARACTERS_MAX: Final = 5_000_000
"""The most characters that those may hold: five times what all files may."""

SUBJECTS_AT_ONCE: Final = 100
"""Of how many subjects all files are held in memory at a time: each may have a million characters,
and a batch may hold commands of two thousand subjects."""

_QUERIES: Final = load_queries("projections", "sql/files_projection.sql")

Opened = OpenedBeside[FileCommand]


class FilesTopic:
    """The topic of commands on files; a :class:`~projections.side_topics.SideTopic`.

    Args:
        partitions: how many partitions the topics have.
    """

    topic: Final = FILES
    model: Final = FileCommand

    def __init__(self, *, partitions: int) -> None:
        self._partitions = partitions

    def check(self, opened: Opened) -> None:
        """Refuse a command under another id than its own, or in a foreign partition.

        Raises:
            RecordInvalid: it is such a record, or nobody's.
        """
        if opened.record.command_id != opened.record_id:
            raise RecordInvalid("file-command: its id is not the one in its header")
        if opened.position.partition != partition_for(opened.subject, self._partitions):
            raise RecordInvalid("file-command: it lies in another partition than its subject's")
        if opened.tenant is None:
            raise RecordInvalid("file-command: it belongs to no user")

    async def apply(self, connection: Connection, opened: Sequence[Opened]) -> None:
        """Carry out commands, each id once, and write what they come to."""
        known = await _known(connection, opened)
        new: dict[UUID, list[Opened]] = {}
        for found in opened:
            if (found.subject, found.record_id) not in known:
                known.add((found.subject, found.record_id))
                new.setdefault(found.subject, []).append(found)
        subjects = iter(new)
        while some := list(islice(subjects, SUBJECTS_AT_ONCE)):
            await _carry_out(connection, {subject: new[subject] for subject in some})


async def _carry_out(connection: Connection, new: Mapping[UUID, Sequence[Opened]]) -> None:
    """Carry out commands of some subjects, each subject's in their order."""
    states = await _states(connection, set(new))
    before = {subject: dict(state.files) for subject, state in states.items()}
    carried_out = [
        (found, states[subject].apply(found.record))
        for subject, commands in new.items()
        for found in commands
    ]
    for name, columns in _statements(carried_out, before, states):
        await connection.execute(_QUERIES[name], columns)


async def _known(connection: Connection, opened: Sequence[Opened]) -> set[tuple[UUID, UUID]]:
    asked = {
        "subjects": [found.subject for found in opened],
        "command_ids": [found.record_id for found in opened],
    }
    cursor = await connection.execute(_QUERIES["select_known"], asked)
    return {(subject, command_id) for subject, command_id in await cursor.fetchall()}


async def _states(connection: Connection, subjects: set[UUID]) -> dict[UUID, SubjectFiles]:
    cursor = await connection.execute(_QUERIES["select_files"], {"subjects": list(subjects)})
    found: dict[UUID, list[StoredFile]] = {subject: [] for subject in subjects}
    for subject, path, file_id, content, version, created_at, changed_at in await cursor.fetchall():
        found[subject].append(
            StoredFile(
                file_id=file_id,
                path=path,
                content=content,
                version=version,
                created_at=created_at,
                changed_at=changed_at,
            )
        )
    return {subject: SubjectFiles(files) for subject, files in found.items()}


Statement = tuple[str, dict[str, Any]]


def _statements(
    carried_out: Sequence[tuple[Opened, Applied]],
    before: Mapping[UUID, Mapping[str, StoredFile]],
    states: Mapping[UUID, SubjectFiles],
) -> Iterable[Statement]:
    """Yield what is to be written, in order."""
    yield _results(carried_out)
    if any(applied.events for _, applied in carried_out):
        yield from _changes(before, states)
        yield from _history(carried_out)


@dataclass(kw_only=True, slots=True)
class _Changes:
    """What changed between two states of some subjects' files."""

    gone: list[tuple[UUID, str]] = field(default_factory=list)
    written: list[tuple[UUID, StoredFile]] = field(default_factory=list)


def _changes(
    before: Mapping[UUID, Mapping[str, StoredFile]], states: Mapping[UUID, SubjectFiles]
) -> Iterable[Statement]:
    changed = _Changes()
    for subject, old in before.items():
        new = states[subject].files
        changed.gone += ((subject, path) for path in old.keys() - new.keys())
        changed.written += ((subject, file) for path, file in new.items() if old.get(path) != file)
    if changed.gone:
        yield (
            "remove_files",
            {
                "subjects": [subject for subject, _ in changed.gone],
                "paths": [path for _, path in changed.gone],
            },
        )
    if changed.written:
        files = [file for _, file in changed.written]
        yield (
            "write_files",
            {
                "subjects": [subject for subject, _ in changed.written],
                "paths": [file.path for file in files],
                "file_ids": [file.file_id for file in files],
                "contents": [file.content for file in files],
                "versions": [file.version for file in files],
                "created_at": [file.created_at for file in files],
                "changed_at": [file.changed_at for file in files],
            },
        )


def _results(carried_out: Sequence[tuple[Opened, Applied]]) -> Statement:
    return (
        "write_results",
        {
            "subjects": [found.subject for found, _ in carried_out],
            "command_ids": [found.record_id for found, _ in carried_out],
            "log_offsets": [found.position.offset for found, _ in carried_out],
            "are_errors": [applied.result.is_error for _, applied in carried_out],
            "contents": [applied.result.content for _, applied in carried_out],
        },
    )


def _history(carried_out: Sequence[tuple[Opened, Applied]]) -> Iterable[Statement]:
    entries = [
        (found, place, event)
        for found, applied in carried_out
        for place, event in enumerate(applied.events)
    ]
    yield (
        "write_history",
        {
            "subjects": [found.subject for found, _, _ in entries],
            "log_offsets": [found.position.offset for found, _, _ in entries],
            "places": [place for _, place, _ in entries],
            "command_ids": [found.record_id for found, _, _ in entries],
            "file_ids": [event.file_id for _, _, event in entries],
            "versions": [event.version for _, _, event in entries],
            "kinds": [event.kind.value for _, _, event in entries],
            "paths": [event.path for _, _, event in entries],
            "old_paths": [event.old_path for _, _, event in entries],
            "contents": [event.content for _, _, event in entries],
            "happened_at": [event.at for _, _, event in entries],
        },
    )
    yield (
        "shorten_history",
        {
            "subjects": list({found.subject for found, _, _ in entries}),
            "entries_max": HISTORY_ENTRIES_MAX,
            "characters_max": HISTORY_CHARACTERS_MAX,
        },
    )
    deleted = [
        (found.subject, event.file_id)
        for found, _, event in entries
        if event.kind is FileEventKind.DELETED
    ]
    if deleted:
        yield (
            "remove_views",
            {
                "subjects": [subject for subject, _ in deleted],
                "file_ids": [file_id for _, file_id in deleted],
            },
        )
