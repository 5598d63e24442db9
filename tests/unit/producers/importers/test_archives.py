"""Zips as vendors send them, and zips that are broken or made to do harm."""

from __future__ import annotations

import contextlib
import json
import struct
import zipfile
from pathlib import Path

import pytest

from producers.importers import archives
from schemas.errors import InvalidInput
from tests.unit.producers.importers.exports import conversation, message
from tests.unit.producers.importers.files import (
    FILES,
    LINES,
    imported,
    zipped,
)


def test_the_files_of_a_vendors_zip_are_one_import(tmp_path: Path) -> None:
    chats = {
        f"conversations-00{number}.json": json.dumps(
            [conversation(message("user", "hi"), conversation_id=f"c{number}")]
        ).encode()
        for number in range(3)
    }
    path = zipped(
        tmp_path / "export.zip",
        {
            **chats,
            "user.json": b'{"id": "user-1"}',
            "shared_conversations.json": b'[{"id": "s", "conversation_id": "c"}]',
            "message_feedback.json": b"[]",
            "chat.html": b"<html><script>var jsonData = []</script></html>",
            "picture.png": b"\x89PNG\r\n\x1a\n\x00\x00",
            "__MACOSX/._conversations.json": b"\x00\x05\x16\x07",
            "empty.json": b"",
        },
    )
    report = imported(path)
    assert (report.format, report.totals.accepted) == ("chatgpt", 3)
    assert [row.conversation_id for row in report.conversations.first] == ["c0", "c1", "c2"]
    assert report.passed_over.total == 7
    assert report.unreadable.total == 0


def test_claudes_zip_is_read_beside_its_users_and_projects(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "export.zip",
        {
            "conversations.json": FILES["claude"],
            "users.json": b'[{"uuid": "ann", "full_name": "Ann"}]',
            "projects.json": b'[{"uuid": "p", "docs": [{"content": "x"}]}]',
        },
    )
    report = imported(path, user=None)
    assert (report.format, report.totals.accepted) == ("claude", 1)
    assert report.conversations.first[0].user_id == "ann"


def test_several_formats_in_a_zip_are_told_apart(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a": FILES["claude"], "b": FILES["jsonlines"]})
    with pytest.raises(
        InvalidInput, match="claude and jsonlines; import it once for each: with --format claude"
    ):
        imported(path)
    assert imported(path, format_name="jsonlines").totals.accepted == 1
    with pytest.raises(InvalidInput, match=r"no file of the format csv; name one with --format"):
        imported(path, format_name="csv")


def test_a_zip_without_chats_is_told(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="holds no file of a known format"):
        imported(zipped(tmp_path / "a.zip", {"a.txt": b"hello"}))
    with pytest.raises(InvalidInput, match="holds no file of a known format"):
        imported(zipped(tmp_path / "a.zip", {}))


def test_an_encrypted_zip_is_told(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"conversations.json": FILES["chatgpt"]})
    raw = bytearray(path.read_bytes())
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(mark) + offset] |= 1
    path.write_bytes(raw)
    with pytest.raises(InvalidInput, match="is encrypted; unpack it with its password"):
        imported(path)


def test_a_zip_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"conversations.json": FILES["chatgpt"]})
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(InvalidInput, match="is a broken zip file"):
        imported(path)


def test_a_list_of_files_that_would_fill_memory_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.zip", {f"{number}": b"" for number in range(100)})
    monkeypatch.setattr(archives, "DIRECTORY_BYTES_MAX", 1_000)
    with pytest.raises(InvalidInput, match=r"list of files of .* is longer than 1,000 bytes"):
        imported(path)


def test_a_length_in_the_long_form_of_a_zip_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = zipped(tmp_path / "a.zip", {"conversations.json": FILES["chatgpt"]})
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    length, start = struct.unpack_from("<2L", raw, end + 12)
    end_64 = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, length, start)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    short = bytearray(raw[end:])
    struct.pack_into("<2L", short, 12, 0xFFFFFFFF, 0xFFFFFFFF)
    path.write_bytes(raw[:end] + end_64 + locator + bytes(short))
    assert imported(path).totals.accepted == 1
    monkeypatch.setattr(archives, "DIRECTORY_BYTES_MAX", length - 1)
    with pytest.raises(InvalidInput, match="list of files"):
        imported(path)


@pytest.mark.parametrize("told_by", ["place in front", "locator"])
def test_a_length_in_the_long_form_counts_whatever_the_short_one_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told_by: str
) -> None:
    path = zipped(tmp_path / "a.zip", {"conversations.json": FILES["chatgpt"]})
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    length, start = struct.unpack_from("<2L", raw, end + 12)
    long, short = (
        struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, told, start)
        for told in (length + 1_000, length)
    )
    first, second = (short, long) if told_by == "place in front" else (long, short)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    # With the longest comment, what tells the length lies as far in front as it may.
    comment = bytes(0xFFFF)
    short_end = raw[end:-2] + struct.pack("<H", len(comment))
    path.write_bytes(raw[:end] + first + second + locator + short_end + comment)
    monkeypatch.setattr(archives, "DIRECTORY_BYTES_MAX", length)
    with pytest.raises(InvalidInput, match="list of files"):
        imported(path)


@pytest.mark.parametrize("place", [0, 2**64 - 1])
def test_a_locator_that_points_anywhere_is_told(tmp_path: Path, place: int) -> None:
    path = zipped(tmp_path / "a.zip", {"conversations.json": FILES["chatgpt"]})
    raw = path.read_bytes()
    end = raw.rindex(b"PK\x05\x06")
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, place, 1)
    path.write_bytes(raw[:end] + locator + raw[end:])
    with contextlib.suppress(InvalidInput):
        assert imported(path).totals.accepted == 1


@pytest.mark.parametrize(
    ("method", "packer"), [(zipfile.ZIP_BZIP2, "bzip2"), (zipfile.ZIP_LZMA, "LZMA")]
)
def test_a_compression_in_a_zip_that_no_limit_holds_is_told(
    tmp_path: Path, method: int, packer: str
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.jsonl", LINES)
        archive.writestr("b.jsonl", LINES, compress_type=method)
    report = imported(path)
    assert report.totals.accepted == 1
    (unreadable,) = report.unreadable.first
    assert unreadable.place == "file b.jsonl"
    assert f"is compressed by {packer} in the zip; unpack the zip" in unreadable.reason
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("b.jsonl", LINES)
    with pytest.raises(InvalidInput, match=f"is compressed by {packer} in the zip"):
        imported(path)


def test_a_file_whose_two_names_in_a_zip_cannot_be_compared_is_told(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("t\u00fcns.jsonl", "{}")
    packed = bytearray(path.read_bytes())
    # The name before the file's own bytes; the one in the list of files stays as it is.
    packed[packed.index("\u00fc".encode())] = 0xFF
    path.write_bytes(packed)

    with pytest.raises(InvalidInput, match="cannot be unpacked"), path.open("rb") as stream:
        archives.Archive(path, stream, len(packed)).open(0)
