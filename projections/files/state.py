"""What commands come to: a pure state machine over the files of one subject.

The strings are those that the memory tool documents; where it documents none, ours begin with
``Error:`` too and say what to do instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from projections.files.lines import line_at, lines_of, snippet
from schemas.errors import CommandRefused
from schemas.file_paths import PATH_CHARACTERS_MAX, ROOT, lies_below, parents
from schemas.files import (
    LIMITS,
    FileChange,
    FileCommand,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileLimits,
    FileRenamed,
    FileReplaced,
    ToolResult,
    checked_change,
    refusal,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoredFile:
    """One file as it is now.

    Attributes:
        file_id: the id of the command that made it, which it keeps when it is renamed.
        path: where it lies.
        content: what it holds.
        version: how often it was written, from 1; a new path is a version too.
        created_at, changed_at: when it was made and written last.
    """

    file_id: UUID
    path: str
    content: str
    version: int
    created_at: datetime
    changed_at: datetime


class FileEventKind(StrEnum):
    """What happened to a file."""

    CREATED = "created"
    EDITED = "edited"
    RENAMED = "renamed"
    DELETED = "deleted"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileEvent:
    """One entry of a file's history.

    Attributes:
        kind: what happened.
        file_id: the file.
        version: the version that came of it; of a deletion, the number after the last one.
        path: where it lay afterwards; of a deletion, before.
        old_path: where it lay before it was renamed, else ``None``.
        content: what it held afterwards; ``None`` where that did not change, and of a deletion.
        at: when.
    """

    kind: FileEventKind
    file_id: UUID
    version: int
    path: str
    old_path: str | None = None
    content: str | None = None
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """What a command came to.

    Attributes:
        result: what it is answered with.
        events: what happened to files, in order of their paths; nothing where it is an error.
    """

    result: ToolResult
    events: tuple[FileEvent, ...] = ()


class SubjectFiles:
    """The files of one subject, by path. A directory is there while a file lies in it.

    Args:
        files: those that are there.
        limits: how much they may hold.
    """

    def __init__(self, files: Iterable[StoredFile] = (), *, limits: FileLimits = LIMITS) -> None:
        self._files = {file.path: file for file in files}
        self._limits = limits

    @property
    def files(self) -> Mapping[str, StoredFile]:
        """Every file by its path."""
        return self._files

    def apply(self, command: FileCommand) -> Applied:
        """Carry out one command, wholly or not at all."""
        try:
            return self._carry_out(checked_change(command.change), command)
        except CommandRefused as error:
            return Applied(result=refusal(error))

    def _carry_out(self, change: FileChange, command: FileCommand) -> Applied:
        match change:
            case FileCreated():
                return _done(
                    f"File created successfully at: {change.path}", self._create(change, command)
                )
            case FileReplaced():
                return self._replace(change, command)
            case FileInserted():
                content = _inserted(change, self._existing(change).content)
                return _done(
                    f"The file {change.path} has been edited.",
                    self._write(change, content, command),
                )
            case FileDeleted():
                return _done(f"Successfully deleted {change.path}", *self._delete(change, command))
            case FileRenamed():
                return _done(
                    f"Successfully renamed {change.old_path} to {change.new_path}",
                    *self._rename(change, command),
                )

    def _create(self, change: FileCreated, command: FileCommand) -> FileEvent:
        if change.path in self._files:
            raise CommandRefused(f"Error: File {change.path} already exists")
        self._require_place(change.path)
        if len(self._files) >= self._limits.files_max:
            raise CommandRefused(
                f"Error: There are {len(self._files):,} files, and the limit is "
                f"{self._limits.files_max:,}: delete some, or put several into one."
            )
        self._require_room(change.file_text, instead_of="")
        file = StoredFile(
            file_id=command.command_id,
            path=change.path,
            content=change.file_text,
            version=1,
            created_at=command.received_at,
            changed_at=command.received_at,
        )
        return self._put(FileEventKind.CREATED, file, content=file.content)

    def _replace(self, change: FileReplaced, command: FileCommand) -> Applied:
        before = self._existing(change).content
        place = _place_of(change, before)
        content = before[:place] + change.new_str + before[place + len(change.old_str) :]
        event = self._write(change, content, command)
        first = line_at(content, place)
        last = first + change.new_str.count("\n")
        shown = snippet(lines_of(content), first=first, last=last)
        return _done(f"The memory file has been edited.\n{shown}", event)

    def _existing(self, change: FileReplaced | FileInserted) -> StoredFile:
        file = self._files.get(change.path)
        if file is None:
            # The memory tool documents both, with and without the advice.
            advice = "" if isinstance(change, FileInserted) else ". Please provide a valid path."
            raise CommandRefused(f"Error: The path {change.path} does not exist{advice}")
        return file

    def _write(
        self, change: FileReplaced | FileInserted, content: str, command: FileCommand
    ) -> FileEvent:
        file = self._existing(change)
        self._require_room(content, instead_of=file.content)
        written = replace(
            file, content=content, version=file.version + 1, changed_at=command.received_at
        )
        return self._put(FileEventKind.EDITED, written, content=content)

    def _delete(self, change: FileDeleted, command: FileCommand) -> list[FileEvent]:
        if change.path == ROOT:
            raise CommandRefused(f"Error: The directory {ROOT} itself cannot be deleted.")
        return [
            FileEvent(
                kind=FileEventKind.DELETED,
                file_id=gone.file_id,
                version=gone.version + 1,
                path=gone.path,
                at=command.received_at,
            )
            for gone in map(self._files.pop, self._at_or_below(change.path))
        ]

    def _rename(self, change: FileRenamed, command: FileCommand) -> list[FileEvent]:
        moved = self._movable(change.old_path, change.new_path)
        return [
            self._put(
                FileEventKind.RENAMED,
                replace(
                    file,
                    path=change.new_path + file.path.removeprefix(change.old_path),
                    version=file.version + 1,
                    changed_at=command.received_at,
                ),
                old_path=file.path,
            )
            for file in [self._files.pop(path) for path in moved]
        ]

    def _movable(self, old: str, new: str) -> list[str]:
        """Return the paths that move from one place to another.

        Raises:
            CommandRefused: they cannot be moved there.
        """
        if old == ROOT:
            raise CommandRefused(f"Error: The directory {ROOT} itself cannot be renamed.")
        moved = self._at_or_below(old)
        if new in self._files or self._is_directory(new):
            raise CommandRefused(f"Error: The destination {new} already exists")
        if lies_below(new, old):
            raise CommandRefused(f"Error: {old} cannot be moved into itself.")
        self._require_place(new)
        longest = max(map(len, moved)) + len(new) - len(old)
        if longest > PATH_CHARACTERS_MAX:
            raise CommandRefused(
                f"Error: A path would have {longest} characters, and the limit is "
                f"{PATH_CHARACTERS_MAX}: choose a shorter name."
            )
        return moved

    def _put(
        self,
        kind: FileEventKind,
        file: StoredFile,
        *,
        old_path: str | None = None,
        content: str | None = None,
    ) -> FileEvent:
        self._files[file.path] = file
        return FileEvent(
            kind=kind,
            file_id=file.file_id,
            version=file.version,
            path=file.path,
            old_path=old_path,
            content=content,
            at=file.changed_at,
        )

    def _at_or_below(self, path: str) -> list[str]:
        """Return the paths of the file, or of all files of the directory, in order.

        Raises:
            CommandRefused: there is neither.
        """
        if path in self._files:
            return [path]
        found = sorted(other for other in self._files if lies_below(other, path))
        if not found:
            raise CommandRefused(f"Error: The path {path} does not exist")
        return found

    def _is_directory(self, path: str) -> bool:
        return path == ROOT or any(lies_below(other, path) for other in self._files)

    def _require_place(self, path: str) -> None:
        """Refuse a place for a file or directory that something else takes."""
        if self._is_directory(path):
            raise CommandRefused(f"Error: {path} is a directory: name a file in it.")
        for above in parents(path):
            if above in self._files:
                raise CommandRefused(
                    f"Error: {above} is a file, so nothing can lie below it: choose another path."
                )

    def _require_room(self, content: str, *, instead_of: str) -> None:
        limits = self._limits
        if len(content) > limits.file_characters_max:
            raise CommandRefused(
                f"Error: The file would have {len(content):,} characters, and the limit is "
                f"{limits.file_characters_max:,}: keep it shorter, or split it over several files."
            )
        total = sum(len(file.content) for file in self._files.values())
        total += len(content) - len(instead_of)
        if total > limits.total_characters_max and len(content) > len(instead_of):
            raise CommandRefused(
                f"Error: All files together would have {total:,} characters, and the limit is "
                f"{limits.total_characters_max:,}: delete what is no longer needed."
            )


def _done(content: str, *events: FileEvent) -> Applied:
    return Applied(result=ToolResult(content=content), events=events)


def _place_of(change: FileReplaced, content: str) -> int:
    """Return where the text to be replaced stands, which is one place alone.

    Raises:
        CommandRefused: it stands nowhere, or more than once.
    """
    if not change.old_str:
        raise CommandRefused(
            "Error: `old_str` is empty, which is found everywhere: send the text to replace, or "
            "use insert."
        )
    first = content.find(change.old_str)
    if first < 0:
        raise CommandRefused(
            f"No replacement was performed, old_str `{change.old_str}` did not appear verbatim in "
            f"{change.path}."
        )
    # Which of two places is meant nobody can tell, also where they overlap.
    if content.find(change.old_str, first + 1) >= 0:
        numbers = ", ".join(map(str, _lines_with(change.old_str, content)))
        raise CommandRefused(
            f"No replacement was performed. Multiple occurrences of old_str `{change.old_str}` in "
            f"lines: {numbers}. Please ensure it is unique"
        )
    return first


def _lines_with(wanted: str, content: str) -> list[int]:
    """Return the numbers of the lines in which a text begins, in a time linear in the content."""
    numbers: dict[int, None] = {}
    number, counted = 1, 0
    place = content.find(wanted)
    second = content.find(wanted, place + 1)
    while place >= 0:
        number += content.count("\n", counted, place)
        counted = place
        numbers[number] = None
        # From the second place on without overlaps: a run of one letter has as many as letters.
        place = second if place < second else content.find(wanted, place + len(wanted))
    return list(numbers)


def _inserted(change: FileInserted, content: str) -> str:
    lines = lines_of(content)
    if not 0 <= change.insert_line <= len(lines):
        raise CommandRefused(
            f"Error: Invalid `insert_line` parameter: {change.insert_line}. It should be within "
            f"the range of lines of the file: [0, {len(lines)}]"
        )
    text = change.insert_text
    if not text:
        return content
    before = "".join(f"{line}\n" for line in lines[: change.insert_line])
    after = content[len(before) :]
    return before + text + ("\n" if after and not text.endswith("\n") else "") + after
