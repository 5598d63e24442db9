"""Users' files as people and programs list them: what is there, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID

from projections.cursors import require_between
from projections.files.state import FileEventKind
from projections.read_model import ReadModel
from projections.reading import Row, read_rows
from schemas.clock import utc_now
from schemas.errors import CommandRefused, InvalidInput
from schemas.file_paths import checked_path
from schemas.queries import load_queries

LIMIT_DEFAULT: Final = 100
LIMIT_MAX: Final = 1_000

WHOLE_MAX: Final = 20
"""How many files are read whole at a time, where all of a user's are."""

UNREAD_DAYS_MAX: Final = 36_500
"""A hundred years: what is longer reaches behind the calendar's beginning."""

_QUERIES: Final = load_queries("projections", "sql/files.sql")

# Integers of 8 and of 4 bytes, as a cursor of the history spells them.
_OFFSET_DIGITS_MAX: Final = 18
_PLACE_DIGITS_MAX: Final = 9


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedFile:
    """A file as it is listed.

    Attributes:
        path: where it lies.
        file_id: its id, the same whatever its path becomes.
        size_bytes: what it holds, in bytes of UTF-8.
        version: how often it was written or moved.
        created_at: when it was made.
        changed_at: when it was written or moved last.
        viewed_at: when an assistant read it last; ``None`` where that is not known.
    """

    path: str
    file_id: UUID
    size_bytes: int
    version: int
    created_at: datetime
    changed_at: datetime
    viewed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class WholeFile:
    """A file with what it holds, both of one moment.

    Attributes:
        file: as it is listed.
        content: what it holds.
    """

    file: ListedFile
    content: str


@dataclass(frozen=True, kw_only=True, slots=True)
class FilePage:
    """A page of files in order of their paths.

    Attributes:
        files: the files.
        next_cursor: what to send for the next page; ``None`` on the last.
        generation: the generation that was asked.
    """

    files: tuple[ListedFile, ...]
    next_cursor: str | None
    generation: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedEvent:
    """What became of a file.

    Attributes:
        kind: what happened.
        file_id: the file.
        version: the version that came of it.
        path: where it lay afterwards; of a deletion, before.
        old_path: where it lay before it was renamed.
        characters: how many it held afterwards; ``None`` where that did not change, and of a
            deletion.
        happened_at: when.
        command_id: the command that did it.
    """

    kind: FileEventKind
    file_id: UUID
    version: int
    path: str
    old_path: str | None
    characters: int | None
    happened_at: datetime
    command_id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class FileHistoryPage:
    """A page of what became of a user's files, the latest first.

    Attributes:
        events: what happened.
        next_cursor: what to send for the next page; ``None`` on the last.
        generation: the generation that was asked.
    """

    events: tuple[ListedEvent, ...]
    next_cursor: str | None
    generation: str


class FileListings:
    """The files of a read model.

    Args:
        read_model: the generation's tables.
        clock: the current time, aware.
    """

    def __init__(self, read_model: ReadModel, *, clock: Callable[[], datetime] = utc_now) -> None:
        self._read_model = read_model
        self._clock = clock

    async def page(
        self,
        subject: UUID | None,
        *,
        unread_days: int | None = None,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> FilePage:
        """Return a page of a user's files.

        Args:
            subject: whose; ``None`` where nothing was ever heard of the user.
            unread_days: only those that were neither read nor written for so many days, which are
                proposed for tidying.
            cursor: ``next_cursor`` of the page before.
            limit: the most files of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        require_between("limit", limit, LIMIT_MAX)
        asked = {
            "after": None if cursor is None else _path_cursor(cursor),
            "unread_since": None if unread_days is None else self._days_ago(unread_days),
            "limit": limit + 1,
        }
        rows = await self._rows(subject, "list_files", asked)
        files = tuple(map(_listed, rows[:limit]))
        return FilePage(
            files=files,
            next_cursor=files[-1].path if len(rows) > limit else None,
            generation=self._read_model.generation,
        )

    async def whole(
        self, subject: UUID | None, *, after: UUID | None = None, limit: int = WHOLE_MAX
    ) -> tuple[WholeFile, ...]:
        """Return some of a user's files with what they hold, in order of their ids.

        Ids stay as they are, so that a file which is renamed meanwhile is neither passed over nor
        told twice.

        Args:
            subject: whose; ``None`` where nothing was ever heard of the user.
            after: the id of the last one that was returned; ``None`` for the first ones.
            limit: the most files, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: the limit is out of bounds.
            ReadModelUnavailable: the read model cannot be reached.
        """
        require_between("limit", limit, LIMIT_MAX)
        rows = await self._rows(subject, "read_files", {"after": after, "limit": limit})
        return tuple(WholeFile(file=_listed(row), content=row["content"]) for row in rows)

    async def history(
        self,
        subject: UUID | None,
        *,
        path: str | None = None,
        cursor: str | None = None,
        limit: int = LIMIT_DEFAULT,
    ) -> FileHistoryPage:
        """Return a page of what became of a user's files.

        Args:
            subject: whose; ``None`` where nothing was ever heard of the user.
            path: only of the files that ever lay there, under whatever path they lie now.
            cursor: ``next_cursor`` of the page before.
            limit: the most entries of the page, 1 to ``LIMIT_MAX``.

        Raises:
            InvalidInput: an argument cannot be used.
            ReadModelUnavailable: the read model cannot be reached.
        """
        require_between("limit", limit, LIMIT_MAX)
        before_offset, before_place = (None, None) if cursor is None else _place_cursor(cursor)
        asked = {
            "path": None if path is None else _asked_path(path),
            "before_offset": before_offset,
            "before_place": before_place,
            "limit": limit + 1,
        }
        rows = await self._rows(subject, "list_history", asked)
        shown = rows[:limit]
        more = len(rows) > limit
        return FileHistoryPage(
            events=tuple(map(_event, shown)),
            next_cursor=f"{shown[-1]['log_offset']}:{shown[-1]['place']}" if more else None,
            generation=self._read_model.generation,
        )

    async def content(
        self, subject: UUID | None, path: str, *, version: int | None = None
    ) -> str | None:
        """Return what a file holds, or held in one of its versions.

        Args:
            subject: whose; ``None`` where nothing was ever heard of the user.
            path: where the file lies; with a version, where it lay at any time.
            version: the version; ``None`` for what is there now.

        Returns:
            The content; ``None`` where there is no such file, or no such version among those that
            are kept.

        Raises:
            InvalidInput: the path is none that a file can have.
            ReadModelUnavailable: the read model cannot be reached.
        """
        query = "select_file" if version is None else "select_version"
        asked = {"path": _asked_path(path), "version": version}
        rows = await self._rows(subject, query, asked)
        return str(rows[0]["content"]) if rows else None

    async def _rows(self, subject: UUID | None, query: str, asked: Mapping[str, Any]) -> list[Row]:
        if subject is None:
            return []
        parameters = {"subject": subject, **asked}
        return await read_rows(self._read_model, subject, _QUERIES[query], parameters)

    def _days_ago(self, days: int) -> datetime:
        require_between("unread_days", days, UNREAD_DAYS_MAX)
        return self._clock() - timedelta(days=days)


def _asked_path(path: str) -> str:
    try:
        return checked_path(path)
    except CommandRefused:
        raise InvalidInput(
            field="path",
            problem="is no path that a file can have",
            remedy="send one that was listed, such as /memories/notes.md",
        ) from None


def _path_cursor(cursor: str) -> str:
    try:
        return checked_path(cursor)
    except CommandRefused:
        raise _unknown_cursor() from None


def _place_cursor(cursor: str) -> tuple[int, int]:
    offset, _, place = cursor.partition(":")
    if not all(
        digits.isascii() and digits.isdecimal() and len(digits) <= longest
        for digits, longest in ((offset, _OFFSET_DIGITS_MAX), (place, _PLACE_DIGITS_MAX))
    ):
        raise _unknown_cursor()
    return int(offset), int(place)


def _unknown_cursor() -> InvalidInput:
    return InvalidInput(
        field="cursor",
        problem="is not a cursor of this listing",
        remedy="send next_cursor of the page before as it is, or none for the first page",
    )


def _listed(row: Row) -> ListedFile:
    viewed_at = row["viewed_at"]
    return ListedFile(
        path=row["path"],
        file_id=row["file_id"],
        size_bytes=row["size_bytes"],
        version=row["version"],
        created_at=row["created_at"].astimezone(UTC),
        changed_at=row["changed_at"].astimezone(UTC),
        viewed_at=None if viewed_at is None else viewed_at.astimezone(UTC),
    )


def _event(row: Row) -> ListedEvent:
    return ListedEvent(
        kind=FileEventKind(row["kind"]),
        file_id=row["file_id"],
        version=row["version"],
        path=row["path"],
        old_path=row["old_path"],
        characters=row["characters"],
        happened_at=row["happened_at"].astimezone(UTC),
        command_id=row["command_id"],
    )
