"""What each command of the memory tool comes to, in the documented words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.files.state import FileEventKind, SubjectFiles
from schemas.files import (
    FileChange,
    FileCommand,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileLimits,
    FileRenamed,
    FileReplaced,
    ToolResult,
)
from tests.support.file_commands import changes, commands
from tests.support.hostile_paths import HOSTILE_PATHS

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOTES = "/memories/notes.md"


class Desk:
    """Sends commands to one subject's files."""

    def __init__(self, limits: FileLimits | None = None) -> None:
        self.files = SubjectFiles() if limits is None else SubjectFiles(limits=limits)
        self._sent = 0

    def send(self, change: FileChange) -> str:
        """Return the answer to a command that is carried out."""
        result = self.result(change)
        assert not result.is_error, result.content
        return result.content

    def refused(self, change: FileChange) -> str:
        """Return the answer to a command that is refused and changes nothing."""
        before = dict(self.files.files)
        result = self.result(change)
        assert result.is_error
        assert self.files.files == before
        return result.content

    def result(self, change: FileChange) -> ToolResult:
        self._sent += 1
        command = FileCommand(
            command_id=UUID(int=self._sent),
            change=change,
            received_at=NOON + timedelta(minutes=self._sent),
        )
        return self.files.apply(command).result

    def create(self, path: str = NOTES, text: str = "one\ntwo\nthree\n") -> str:
        return self.send(FileCreated(path=path, file_text=text))

    def content(self, path: str = NOTES) -> str:
        return self.files.files[path].content


def test_a_file_is_created_once() -> None:
    desk = Desk()

    assert desk.create() == f"File created successfully at: {NOTES}"
    again = FileCreated(path="/memories//notes.md/", file_text="other")
    assert desk.refused(again) == f"Error: File {NOTES} already exists"
    assert desk.content() == "one\ntwo\nthree\n"


def test_a_file_takes_no_place_of_a_directory_nor_lies_below_a_file() -> None:
    desk = Desk()
    desk.create("/memories/a/b.md")

    for place in ("/memories/a", "/memories"):
        assert "is a directory" in desk.refused(FileCreated(path=place, file_text=""))
    below = FileCreated(path="/memories/a/b.md/c/d.md", file_text="")
    assert "/memories/a/b.md is a file" in desk.refused(below)


def test_a_unique_text_is_replaced_and_shown_with_the_lines_around_it() -> None:
    desk = Desk()
    desk.create(text="".join(f"line {number}\n" for number in range(1, 10)))

    answer = desk.send(FileReplaced(path=NOTES, old_str="line 5", new_str="five\nand a half"))

    assert answer == (
        "The memory file has been edited.\n"
        "     3\tline 3\n     4\tline 4\n     5\tfive\n     6\tand a half\n"
        "     7\tline 6\n     8\tline 7"
    )
    desk.send(FileReplaced(path=NOTES, old_str="five\nand a half\n", new_str=""))
    assert desk.content().splitlines()[3:6] == ["line 4", "line 6", "line 7"]


def test_a_text_that_is_not_there_or_stands_twice_is_not_replaced() -> None:
    desk = Desk()
    desk.create(text="tea\ncoffee and tea\naa a\nbanana")

    def answer(old: str) -> str:
        return desk.refused(FileReplaced(path=NOTES, old_str=old, new_str="x"))

    assert answer("Tea") == (
        f"No replacement was performed, old_str `Tea` did not appear verbatim in {NOTES}."
    )
    twice = "No replacement was performed. Multiple occurrences of old_str `{}` in lines: {}. "
    assert answer("tea") == twice.format("tea", "1, 2") + "Please ensure it is unique"
    assert answer("ana") == twice.format("ana", "4") + "Please ensure it is unique"
    assert "`old_str` is empty" in answer("")


def test_a_long_run_of_one_letter_is_searched_in_a_time_linear_in_its_length() -> None:
    desk = Desk()
    desk.create(text="a" * 100_000)

    for length in (1, 50_000, 99_999):
        answer = desk.refused(FileReplaced(path=NOTES, old_str="a" * length, new_str="b"))
        assert answer.endswith("in lines: 1. Please ensure it is unique")


@pytest.mark.parametrize(
    ("content", "line", "text", "expected"),
    [
        ("a\nb\n", 0, "x", "x\na\nb\n"),
        ("a\nb\n", 1, "x\n", "a\nx\nb\n"),
        ("a\nb\n", 2, "x\n", "a\nb\nx\n"),
        ("a\nb", 2, "x", "a\nb\nx"),
        ("a\r\nb\r\n", 1, "x\ny", "a\r\nx\ny\nb\r\n"),
        ("", 0, "x", "x"),
        ("a\u2028b\x0cc\n", 1, "x", "a\u2028b\x0cc\nx"),
        ("a\n\n", 2, "x", "a\n\nx"),
        ("a", 1, "", "a"),
    ],
)
def test_lines_are_inserted_behind_a_line(
    content: str, line: int, text: str, expected: str
) -> None:
    desk = Desk()
    desk.create(text=content)

    answer = desk.send(FileInserted(path=NOTES, insert_line=line, insert_text=text))

    assert answer == f"The file {NOTES} has been edited."
    assert desk.content() == expected


@pytest.mark.parametrize(("content", "lines"), [("", 0), ("a\n", 1), ("a\nb", 2), ("\n\n", 2)])
def test_a_line_behind_the_end_is_refused_and_a_last_newline_begins_none(
    content: str, lines: int
) -> None:
    desk = Desk()
    desk.create(text=content)

    for line in (-1, lines + 1):
        answer = desk.refused(FileInserted(path=NOTES, insert_line=line, insert_text="x"))
        assert answer == (
            f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of "
            f"lines of the file: [0, {lines}]"
        )


def test_what_is_missing_and_what_is_a_directory_cannot_be_edited() -> None:
    desk = Desk()
    desk.create("/memories/a/b.md")

    for path in ("/memories/none.md", "/memories/a", "/memories"):
        replaced = FileReplaced(path=path, old_str="a", new_str="b")
        inserted = FileInserted(path=path, insert_line=0, insert_text="b")
        missing = f"Error: The path {path} does not exist"
        assert desk.refused(replaced) == f"{missing}. Please provide a valid path."
        assert desk.refused(inserted) == missing


def test_a_directory_is_deleted_with_all_that_lies_in_it() -> None:
    desk = Desk()
    for path in ("/memories/a/b.md", "/memories/a/c/d.md", "/memories/ab.md"):
        desk.create(path)

    assert desk.send(FileDeleted(path="/memories/a/")) == "Successfully deleted /memories/a"
    assert list(desk.files.files) == ["/memories/ab.md"]
    assert desk.refused(FileDeleted(path="/memories/a")) == (
        "Error: The path /memories/a does not exist"
    )
    assert "cannot be deleted" in desk.refused(FileDeleted(path="/memories"))


def test_files_and_directories_are_renamed_with_what_lies_in_them() -> None:
    desk = Desk()
    for path in ("/memories/a/b.md", "/memories/a/c/d.md", "/memories/ab.md"):
        desk.create(path, text=path)

    renamed = FileRenamed(old_path="/memories/a", new_path="/memories/x/y")
    assert desk.send(renamed) == "Successfully renamed /memories/a to /memories/x/y"
    assert {path: file.content for path, file in desk.files.files.items()} == {
        "/memories/ab.md": "/memories/ab.md",
        "/memories/x/y/b.md": "/memories/a/b.md",
        "/memories/x/y/c/d.md": "/memories/a/c/d.md",
    }
    assert desk.files.files["/memories/x/y/b.md"].file_id == UUID(int=1)


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("/memories/no", "/memories/x", "Error: The path /memories/no does not exist"),
        ("/memories/a", "/memories/f", "Error: The destination /memories/f already exists"),
        ("/memories/f", "/memories/a", "Error: The destination /memories/a already exists"),
        ("/memories/f", "/memories", "Error: The destination /memories already exists"),
        ("/memories/f", "/memories/f", "Error: The destination /memories/f already exists"),
        ("/memories/a", "/memories/a/c", "Error: /memories/a cannot be moved into itself."),
        ("/memories", "/memories/x", "Error: The directory /memories itself cannot be renamed."),
        ("/memories/a", "/memories/f/a", "Error: /memories/f is a file"),
        ("/memories/f", "/memories/f/f", "Error: /memories/f cannot be moved into itself."),
        ("/memories/a", "/memories/" + ("n" * 249 + "/") * 2, "Error: A path would have"),
    ],
    ids=range(10),
)
def test_what_cannot_be_renamed_stays(old: str, new: str, answer: str) -> None:
    desk = Desk()
    desk.create("/memories/a/b.md")
    desk.create("/memories/f")

    assert desk.refused(FileRenamed(old_path=old, new_path=new)).startswith(answer)


def test_limits_are_told_and_hold() -> None:
    desk = Desk(FileLimits(files_max=2, file_characters_max=10, total_characters_max=15))
    desk.create(text="0123456789")

    longer = desk.refused(FileReplaced(path=NOTES, old_str="9", new_str="9x"))
    assert "would have 11 characters, and the limit is 10" in longer
    together = desk.refused(FileCreated(path="/memories/b", file_text="012345"))
    assert "together would have 16 characters, and the limit is 15" in together
    desk.create("/memories/b", text="01234")
    assert "There are 2 files, and the limit is 2" in desk.refused(
        FileCreated(path="/memories/c", file_text="")
    )
    desk.send(FileReplaced(path=NOTES, old_str="0123456789", new_str=""))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\0b", "`file_text` holds a NUL character at position 1"),
        ("a\ud800", "`file_text` holds a lone surrogate"),
        ("a\U000e0041", "`file_text` holds U+E0041 at position 1, a character that nobody sees"),
        ("e" + "\u0301" * 60, "`file_text` piles up more than 50 combining marks"),
        ("a" * 100_001, "`file_text` has 100,001 characters, and a file may have 100,000"),
    ],
    ids=range(5),
)
def test_a_text_that_cannot_be_kept_is_refused_with_what_to_do(text: str, problem: str) -> None:
    refused = Desk().refused(FileCreated.model_construct(path=NOTES, file_text=text))

    assert refused.startswith(f"Error: {problem}")


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=ascii)
def test_a_hostile_path_is_refused_by_every_command_that_is_folded(path: str) -> None:
    desk = Desk()
    desk.create()

    for change in changes(path):
        assert desk.refused(change).startswith("Error: The path ")


def test_events_tell_the_history_of_each_file() -> None:
    files = SubjectFiles()
    told = [
        FileCreated(path="/memories/a/b", file_text="x"),
        FileReplaced(path="/memories/a/b", old_str="x", new_str="y"),
        FileRenamed(old_path="/memories/a", new_path="/memories/c"),
        FileDeleted(path="/memories/c"),
    ]
    found = [
        event
        for number, change in enumerate(told)
        for event in files.apply(
            FileCommand(command_id=UUID(int=number), change=change, received_at=NOON)
        ).events
    ]

    assert [(event.kind, event.version, event.path, event.content) for event in found] == [
        (FileEventKind.CREATED, 1, "/memories/a/b", "x"),
        (FileEventKind.EDITED, 2, "/memories/a/b", "y"),
        (FileEventKind.RENAMED, 3, "/memories/c/b", None),
        (FileEventKind.DELETED, 4, "/memories/c/b", None),
    ]
    assert {event.file_id for event in found} == {UUID(int=0)}
    assert found[2].old_path == "/memories/a/b"


def test_files_above_a_limit_of_a_later_release_can_be_made_shorter() -> None:
    desk = Desk()
    desk.create(text="0123456789")
    desk.files = SubjectFiles(desk.files.files.values(), limits=FileLimits(total_characters_max=5))
    desk.send(FileReplaced(path=NOTES, old_str="89", new_str=""))
    assert "the limit is 5" in desk.refused(FileReplaced(path=NOTES, old_str="7", new_str="78"))


SMALL = FileLimits(files_max=4, file_characters_max=12, total_characters_max=30)


@given(st.lists(commands(), max_size=30))
def test_whatever_is_sent_the_files_are_a_tree_inside_the_root_and_within_limits(
    sent: list[FileCommand],
) -> None:
    files = SubjectFiles(limits=SMALL)
    for command in sent:
        before = dict(files.files)
        applied = files.apply(command)

        assert applied.result.is_error == (not applied.events)
        if applied.result.is_error:
            assert files.files == before
        paths = set(files.files)
        assert all(path.startswith("/memories/") for path in paths)
        assert not any(
            "/".join(path.split("/")[:depth]) in paths
            for path in paths
            for depth in range(3, path.count("/") + 1)
        )
        assert len(paths) <= SMALL.files_max
        sizes = [len(file.content) for file in files.files.values()]
        assert max(sizes, default=0) <= SMALL.file_characters_max
        assert sum(sizes) <= SMALL.total_characters_max


@given(st.lists(commands(), max_size=20), st.data())
def test_the_files_come_out_the_same_wherever_folding_begins_again(
    sent: list[FileCommand], data: st.DataObject
) -> None:
    whole = SubjectFiles(limits=SMALL)
    results = [whole.apply(command) for command in sent]
    cut = data.draw(st.integers(0, len(sent)))
    first = SubjectFiles(limits=SMALL)
    begun = [first.apply(command) for command in sent[:cut]]
    resumed = SubjectFiles(first.files.values(), limits=SMALL)

    assert begun + [resumed.apply(command) for command in sent[cut:]] == results
    assert resumed.files == whole.files
