"""What golden logs hold of files: each command, one that is refused, and one that comes twice."""

from __future__ import annotations

from schemas.files import (
    FileChange,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileRenamed,
    FileReplaced,
)
from schemas.keyring import SubjectKeys
from tests.histories.writing import GoldenWriter

_NOTES = "/memories/notes.md"


def write_file_commands(writer: GoldenWriter, keys: SubjectKeys) -> None:
    """Append a user's commands on files."""
    changes: list[FileChange] = [
        FileCreated(path=_NOTES, file_text="Likes tea.\nLives in Rome.\n"),
        FileReplaced(path=_NOTES, old_str="tea", new_str="coffee"),
        FileInserted(path=_NOTES, insert_line=1, insert_text="Grüße, 日本語\n"),
        FileCreated(path="/memories/old/plan.md", file_text=""),
        FileRenamed(old_path="/memories/old", new_path="/memories/plans"),
        FileReplaced(path=_NOTES, old_str="tea", new_str="coffee"),
        FileCreated(path="/memories/../outside.md", file_text="x"),
        FileDeleted(path="/memories/plans"),
    ]
    for number, change in enumerate(changes):
        writer.file_command(
            f"a file: {change.command}", keys, f"f{number}", change, minutes=600 + number
        )
    writer.file_command(
        "a command that comes twice, told otherwise",
        keys,
        "f0",
        FileDeleted(path=_NOTES),
        minutes=620,
    )
