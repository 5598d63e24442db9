"""One spelling of the rows of files, whether they come from the tables or from a fold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from uuid import UUID

from projections.canonical_rows import CanonicalRow, spelled
from projections.files.log_fold import FoldedEvent, FoldedFiles
from projections.files.state import StoredFile
from projections.row_keys import Rows
from schemas.database import Connection
from schemas.files import ToolResult
from schemas.queries import load_queries

_QUERIES: Final = load_queries("projections", "sql/files_digest.sql")

_FILE: Final = ("path", "content", "version", "created_at", "changed_at")
_COMMAND: Final = ("log_offset", "is_error", "content")
_EVENT: Final = (
    "log_offset", "file_id", "version", "kind", "path", "old_path", "content", "happened_at",
)  # fmt: skip


async def subjects_with_files(connection: Connection) -> set[UUID]:
    """Return the subjects of which the tables hold anything about files.

    Args:
        connection: a connection inside a transaction that sees the rows of every subject.
    """
    cursor = await connection.execute(_QUERIES["select_subjects"], binary=True)
    return {subject for (subject,) in await cursor.fetchall()}


async def rows_of_tables(connection: Connection, subjects: Sequence[UUID]) -> dict[UUID, Rows]:
    """Return the rows of some subjects; when files were read is none of them.

    Args:
        connection: a connection inside a transaction that sees the rows of every subject.
        subjects: the subjects.
    """
    asked = {"subjects": list(subjects)}
    found: dict[UUID, Rows] = {}
    cursor = await connection.execute(_QUERIES["select_files"], asked, binary=True)
    for subject, file_id, *columns in await cursor.fetchall():
        found.setdefault(subject, {})["file", file_id] = _row(_FILE, columns)
    cursor = await connection.execute(_QUERIES["select_results"], asked, binary=True)
    for subject, command_id, *columns in await cursor.fetchall():
        found.setdefault(subject, {})["file-command", command_id] = _row(_COMMAND, columns)
    cursor = await connection.execute(_QUERIES["select_history"], asked, binary=True)
    for subject, command_id, place, *columns in await cursor.fetchall():
        found.setdefault(subject, {})["file-event", command_id, place] = _row(_EVENT, columns)
    return found


def rows_of_fold(folded: FoldedFiles) -> Rows:
    """Return the rows that a fold comes to."""
    rows: Rows = {}
    for file in folded.files.files.values():
        rows["file", file.file_id] = _row(_FILE, _file_columns(file))
    for command_id, command in folded.commands.items():
        columns = _command_columns(command.log_offset, command.result)
        rows["file-command", command_id] = _row(_COMMAND, columns)
    for event in folded.kept_events():
        rows["file-event", event.command_id, event.place] = _row(_EVENT, _event_columns(event))
    return rows


def _row(names: Sequence[str], columns: Sequence[object]) -> CanonicalRow:
    values: Mapping[str, object] = dict(zip(names, columns, strict=True))
    return spelled(values)


def _file_columns(file: StoredFile) -> tuple[object, ...]:
    return (file.path, file.content, file.version, file.created_at, file.changed_at)


def _command_columns(log_offset: int, result: ToolResult) -> tuple[object, ...]:
    return (log_offset, result.is_error, result.content)


def _event_columns(folded: FoldedEvent) -> tuple[object, ...]:
    event = folded.event
    return (
        folded.log_offset,
        event.file_id,
        event.version,
        event.kind.value,
        event.path,
        event.old_path,
        event.content,
        event.at,
    )
