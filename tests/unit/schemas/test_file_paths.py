"""Every path is untrusted: what it comes to lies inside, or it is refused."""

from __future__ import annotations

import unicodedata
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from schemas.errors import CommandRefused
from schemas.file_paths import (
    PATH_CHARACTERS_MAX,
    ROOT,
    SEGMENT_CHARACTERS_MAX,
    checked_path,
    lies_below,
    parents,
)
from tests.support.hostile_paths import HOSTILE_PATHS


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/memories", "/memories"),
        ("/memories/", "/memories"),
        ("/memories/a.md", "/memories/a.md"),
        ("/memories//a///b.md/", "/memories/a/b.md"),
        ("/memories/./a/./b", "/memories/a/b"),
        ("/memories/.hidden", "/memories/.hidden"),
        ("/memories/100% sure.md", "/memories/100% sure.md"),
        ("/memories/caf\N{LATIN SMALL LETTER E}\N{COMBINING ACUTE ACCENT}.md", "/memories/café.md"),
        ("/memories/日本語/メモ.md", "/memories/日本語/メモ.md"),
        ("/memories/etc/passwd", "/memories/etc/passwd"),
    ],
)
def test_a_path_inside_is_brought_into_its_one_form(path: str, expected: str) -> None:
    assert checked_path(path) == expected
    assert checked_path(expected) == expected


@pytest.mark.parametrize("path", HOSTILE_PATHS, ids=ascii)
def test_a_path_outside_and_each_of_its_disguises_is_refused(path: str) -> None:
    with pytest.raises(CommandRefused, match=r"^Error: The path .* inside /memories") as refused:
        checked_path(path)

    assert "passwd" not in str(refused.value)


def test_the_longest_path_and_name_are_accepted_and_one_character_more_is_not() -> None:
    name = "/" + "n" * SEGMENT_CHARACTERS_MAX
    longest = ROOT + name + "/" + "m" * (PATH_CHARACTERS_MAX - len(ROOT) - len(name) - 1)

    assert checked_path(longest) == longest
    with pytest.raises(CommandRefused, match="513 characters, and the limit is 512"):
        checked_path(longest + "m")
    with pytest.raises(CommandRefused, match="a name of more than 255"):
        checked_path(ROOT + name + "n")


def test_parents_are_the_directories_from_the_root_down() -> None:
    assert parents("/memories/a/b/c.md") == ["/memories/a", "/memories/a/b"]
    assert parents("/memories/c.md") == parents("/memories") == []


_NASTY = st.sampled_from(
    [
        *("/memories", "memories", "foo", "a", "~", "C:", "/", "\\", ".", "..", "\0", " "),
        *("%2e", "%252e", "%2F", "%5c", "%c0%ae"),
        *("\uff0e", "\uff0f", "\uff05", "\u2025", "\u200b", "\u202e"),
    ]
)
_PATHS = st.one_of(st.text(), st.lists(_NASTY).map("".join), st.lists(_NASTY).map(ROOT.join))


@given(_PATHS)
@example("/memories/%25252e%25252e/x")
def test_whatever_is_sent_lies_inside_or_is_refused(path: str) -> None:
    try:
        checked = checked_path(path)
    except CommandRefused as refused:
        assert str(refused).startswith("Error: The path ")  # noqa: PT017 - both ways are right
        return

    assert checked == ROOT or lies_below(checked, ROOT)
    assert checked_path(checked) == checked
    assert len(checked) <= PATH_CHARACTERS_MAX
    # Nor does it for a reader that decodes escapes, folds widths or takes another separator.
    reading = checked
    for _ in range(4):
        reading = unicodedata.normalize("NFKC", unquote(reading)).replace("\\", "/")
        assert ".." not in reading
        assert reading.split("/")[:2] == ["", "memories"]
        assert "\0" not in reading
