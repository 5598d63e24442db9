"""Files that an assistant keeps about a user: the commands that change them, and their limits.

The commands are those of Claude's memory tool, but for ``view``, which changes nothing and so is
no record. What a command comes to is decided by who folds the log, never by who appends it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypeAlias
from uuid import UUID

from pydantic import Field

from schemas.errors import CommandRefused, InvalidInput
from schemas.file_paths import checked_path
from schemas.memory import Record, UtcDatetime
from schemas.text import normal_form


class FileCreated(Record):
    """A file is to be made.

    Attributes:
        path: where.
        file_text: what it holds; may be empty.
    """

    command: Literal["create"] = "create"
    path: str
    file_text: str


class FileReplaced(Record):
    """A text that stands once in a file is to be replaced.

    Attributes:
        path: the file.
        old_str: what stands there.
        new_str: what is to stand there; empty to delete it.
    """

    command: Literal["str_replace"] = "str_replace"
    path: str
    old_str: str
    new_str: str


class FileInserted(Record):
    """Lines are to be inserted into a file.

    Attributes:
        path: the file.
        insert_line: behind which line, counted from 1; 0 is the beginning.
        insert_text: the lines.
    """

    command: Literal["insert"] = "insert"
    path: str
    insert_line: int
    insert_text: str


class FileDeleted(Record):
    """A file, or a directory with everything in it, is to be deleted.

    Attributes:
        path: which.
    """

    command: Literal["delete"] = "delete"
    path: str


class FileRenamed(Record):
    """A file or a directory is to be moved.

    Attributes:
        old_path: where it is.
        new_path: where it is to be.
    """

    command: Literal["rename"] = "rename"
    old_path: str
    new_path: str


FileChange: TypeAlias = Annotated[
    FileCreated | FileReplaced | FileInserted | FileDeleted | FileRenamed,
    Field(discriminator="command"),
]
"""Any change, told apart by its ``command`` field."""


class FileCommand(Record):
    """One command on a subject's files.

    Attributes:
        command_id: the record's own id.
        change: what is to be done.
        received_at: when it was accepted.
    """

    command_id: UUID
    change: FileChange
    received_at: UtcDatetime


FILES_MAX: Final = 1_000
"""Most files of a subject: a listing of more is none that a model could use."""

FILE_CHARACTERS_MAX: Final = 100_000
"""Most characters of a file: about 25,000 tokens, more than a model should be given at once."""

TOTAL_CHARACTERS_MAX: Final = 1_000_000
"""Most characters of all files of a subject."""

LINES_MAX: Final = 999_999
"""Most lines of a file that is viewed: the memory tool's own limit."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileLimits:
    """How much a subject's files may hold.

    They are constants of the release and no settings: the same log must come to the same files
    wherever it is folded. To change one takes another version of :class:`FileCommand`.

    Attributes:
        files_max: most files.
        file_characters_max: most characters of a file.
        total_characters_max: most characters of all files.
        lines_max: most lines of a file that is viewed.
    """

    files_max: int = FILES_MAX
    file_characters_max: int = FILE_CHARACTERS_MAX
    total_characters_max: int = TOTAL_CHARACTERS_MAX
    lines_max: int = LINES_MAX


LIMITS: Final = FileLimits()


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolResult:
    """What a command is answered with.

    Attributes:
        content: the text for the model.
        is_error: whether it could not be done; the model may try again otherwise.
    """

    content: str
    is_error: bool = False


def refusal(error: CommandRefused) -> ToolResult:
    """Return a refusal as the result of the command."""
    return ToolResult(content=str(error), is_error=True)


def checked_change(change: FileChange) -> FileChange:
    """Return a change with its paths in their one form and its texts in normal form C.

    Raises:
        CommandRefused: a path is not allowed, or a text cannot be kept.
    """
    told = change.model_dump()
    for name, value in told.items():
        if name in ("path", "old_path", "new_path"):
            told[name] = checked_path(value)
        elif name in ("file_text", "old_str", "new_str", "insert_text"):
            told[name] = _checked_text(name, value)
    return type(change)(**told)


_TAGS: Final = range(0xE0000, 0xE0080)
"""Unicode's tag characters: a model reads them as letters, and nobody sees them."""


def _checked_text(name: str, value: str) -> str:
    if len(value) > LIMITS.file_characters_max:
        raise CommandRefused(
            f"Error: `{name}` has {len(value):,} characters, and a file may have "
            f"{LIMITS.file_characters_max:,}: keep it shorter, or split it over several files."
        )
    try:
        normal = normal_form(name, value)
    except InvalidInput as error:
        raise CommandRefused(f"Error: `{name}` {error.problem}: {error.remedy}.") from None
    for place, character in enumerate(normal) if not normal.isascii() else ():
        if ord(character) in _TAGS:
            raise CommandRefused(
                f"Error: `{name}` holds U+{ord(character):04X} at position {place}, a character "
                "that nobody sees: leave it out."
            )
    return normal
