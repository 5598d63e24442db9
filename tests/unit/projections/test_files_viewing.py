"""How directories and files are shown, in the documented words."""

from __future__ import annotations

import pytest

from projections.files.lines import lines_of, numbered
from projections.files.sizes import size_text
from projections.files.viewing import view_directory, view_file
from schemas.errors import CommandRefused
from schemas.files import FileLimits

NOTES = "/memories/notes.md"


def test_a_directory_is_listed_two_levels_deep_without_what_is_hidden() -> None:
    sizes = {
        "/memories/a/b/c/deep.md": 1024,
        "/memories/a/b.md": 512,
        "/memories/a-first.md": 0,
        "/memories/.hidden/x.md": 5120,
        "/memories/a/.secret": 1,
        "/memories/node_modules/y.js": 1,
        "/memories/z.md": 5632,
    }

    assert view_directory("/memories", sizes) == (
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items and node_modules:\n"
        "12.0K\t/memories\n"
        "1.5K\t/memories/a\n"
        "1.0K\t/memories/a/b\n"
        "512B\t/memories/a/b.md\n"
        "0B\t/memories/a-first.md\n"
        "5.5K\t/memories/z.md"
    )
    assert view_directory("/memories/.hidden", sizes).endswith(
        ":\n5.0K\t/memories/.hidden\n5.0K\t/memories/.hidden/x.md"
    )


def test_an_empty_root_is_no_error_and_any_other_empty_directory_is_not_there() -> None:
    assert view_directory("/memories", {}).endswith(":\n0B\t/memories")
    for path in ("/memories/a", "/memories/b.md"):
        with pytest.raises(CommandRefused) as refused:
            view_directory(path, {"/memories/ab": 1, "/memories/b.md": 1})
        assert str(refused.value) == (
            f"The path {path} does not exist. Please provide a valid path."
        )


@pytest.mark.parametrize(
    ("content", "lines"),
    [("", []), ("a", ["a"]), ("a\n", ["a"]), ("\n", [""]), ("a\n\nb\r\n", ["a", "", "b\r"])],
)
def test_a_last_newline_begins_no_line(content: str, lines: list[str]) -> None:
    assert lines_of(content) == lines


def test_lines_are_numbered_from_one_aligned_to_six_places() -> None:
    assert view_file(NOTES, "first\nsecond\n") == (
        f"Here's the content of {NOTES} with line numbers:\n     1\tfirst\n     2\tsecond"
    )
    assert view_file(NOTES, "") == f"Here's the content of {NOTES} with line numbers:"
    assert numbered(["x"], first=999_999) == "999999\tx"


@pytest.mark.parametrize(
    ("view_range", "numbers"),
    [([1, 2], "12"), ([2, 2], "2"), ([3, -1], "34"), ([1, -1], "1234"), ([2, 99], "234")],
)
def test_a_range_shows_its_lines_under_their_own_numbers(
    view_range: list[int], numbers: str
) -> None:
    shown = view_file(NOTES, "l1\nl2\nl3\nl4\n", view_range=view_range).splitlines()[1:]

    assert shown == [f"     {number}\tl{number}" for number in numbers]


@pytest.mark.parametrize(
    "view_range", [[0, 1], [3, 2], [5, 6], [-1, -1], [1], [1, 2, 3], [], [2, 0]], ids=str
)
def test_what_is_no_range_of_the_file_is_refused_with_its_lines(view_range: list[int]) -> None:
    with pytest.raises(CommandRefused, match=r"`view_range` .* lines of the file: \[1, 4\]"):
        view_file(NOTES, "l1\nl2\nl3\nl4\n", view_range=view_range)


def test_an_empty_file_has_a_range_too() -> None:
    assert view_file(NOTES, "", view_range=[1, -1]) == view_file(NOTES, "")


def test_a_file_of_too_many_lines_is_not_shown() -> None:
    limits = FileLimits(lines_max=2)

    assert view_file(NOTES, "a\nb\n", limits=limits)
    with pytest.raises(CommandRefused) as refused:
        view_file(NOTES, "a\nb\nc", limits=limits)
    assert str(refused.value) == f"File {NOTES} exceeds maximum line limit of 2 lines."
    with pytest.raises(CommandRefused, match="maximum line limit of 999,999 lines"):
        view_file(NOTES, "\n" * 1_000_000)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0B"),
        (1023, "1023B"),
        (1024, "1.0K"),
        (5632, "5.5K"),
        (1024 * 1024 - 1, "1.0M"),
        (1_258_291, "1.2M"),
        (3 * 1024**3, "3.0G"),
        (5000 * 1024**3, "5000.0G"),
    ],
)
def test_sizes_read_as_people_write_them(size: int, text: str) -> None:
    assert size_text(size) == text
