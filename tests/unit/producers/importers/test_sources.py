"""Files as they come: with byte order marks, in UTF-16, zipped as vendors do, or broken."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import gzip
import io
import json
import os
import struct
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers import archives, formats, inflating, sources
from producers.importers.destinations import Nowhere
from producers.importers.formats import IMPORTERS
from producers.importers.report import ImportReport
from producers.importers.run import import_file
from producers.importers.transcoding import utf8_of
from schemas.errors import InvalidInput
from tests.unit.producers.fakes import NOW
from tests.unit.producers.importers.exports import conversation, message

LINE = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}
LINES = json.dumps(LINE).encode()
CLAUDE = {
    "uuid": "c1",
    "account": {"uuid": "ann"},
    "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "hi", "created_at": "2025-05-01T08:00:00Z"}
    ],
}
LIBRECHAT = {
    "conversationId": "c1",
    "messages": [
        {
            "messageId": "m1",
            "text": "hi",
            "isCreatedByUser": True,
            "createdAt": "2025-05-01T08:00:00Z",
        }
    ],
}
SHAREGPT = {"id": "c1", "conversations": [{"from": "human", "value": "hi"}]}
TREE = {"message_tree_id": "t", "prompt": {"message_id": "t", "role": "prompter", "text": "hi"}}
FILES: Mapping[str, bytes] = {
    "chatgpt": json.dumps([conversation(message("user", "hi"))]).encode(),
    "claude": json.dumps([CLAUDE]).encode(),
    "librechat": json.dumps(LIBRECHAT).encode(),
    "sharegpt": json.dumps([SHAREGPT]).encode(),
    "openassistant": json.dumps(TREE).encode() + b"\n",
    "jsonlines": LINES,
    "csv": "user_id,conversation_id,user_text\nu,c,h\u00e9llo".encode(),
}


def imported(path: Path, **options: Any) -> ImportReport:
    return asyncio.run(
        import_file(
            Nowhere(),
            path=path,
            clock=lambda: NOW,
            **{"tenant": "acme", "user": "u", **options},
        )
    )


def zipped(path: Path, files: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def test_the_files_here_are_of_every_format() -> None:
    assert FILES.keys() == {importer.name for importer in IMPORTERS}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("packed", ["not", "gzip", "zip"])
def test_every_format_is_known_by_its_content_however_it_is_packed(
    tmp_path: Path, name: str, encoding: str, packed: str
) -> None:
    raw = FILES[name].decode().encode(encoding)
    if encoding == "utf-16-be":
        raw = b"\xfe\xff" + raw
    path = tmp_path / "a.name.that.tells.nothing"
    if packed == "zip":
        zipped(path, {"inner": raw})
    else:
        path.write_bytes(gzip.compress(raw) if packed == "gzip" else raw)
    report = imported(path)
    assert report.format == name
    assert (report.totals.accepted, report.unreadable.total) == (1, 0)


@pytest.mark.parametrize("name", sorted(set(FILES) - {"csv", "jsonlines", "openassistant"}))
@pytest.mark.parametrize("wrapper", ["conversations", "data", "items"])
def test_a_wrapped_list_is_read_in_every_format(tmp_path: Path, name: str, wrapper: str) -> None:
    held = json.loads(FILES[name])
    elements = held if isinstance(held, list) else [held]
    path = tmp_path / "export"
    path.write_text(json.dumps({"version": 1, wrapper: elements, "more": {}}))
    report = imported(path)
    assert (report.format, report.totals.accepted) == (name, 1)


@given(st.text(st.characters(), max_size=300), st.sampled_from(["utf-16-le", "utf-32-be"]))
def test_a_text_comes_out_as_it_went_in(text: str, encoding: str) -> None:
    mark = {"utf-16-le": b"\xff\xfe", "utf-32-be": b"\x00\x00\xfe\xff"}[encoding]
    # The mark of UTF-32 is that of UTF-16 and a NUL.
    text = text.lstrip("\x00")
    raw = mark + text.encode(encoding, "surrogatepass")
    read = utf8_of(io.BytesIO(raw)).read()
    expected = text.encode(encoding, "surrogatepass").decode(encoding, "surrogatepass")
    assert read == expected.encode("utf-8", "surrogatepass")


def test_half_a_character_in_utf_16_costs_its_element_alone(tmp_path: Path) -> None:
    broken = json.dumps({**LINE, "user_text": "\ud800"}, ensure_ascii=False)
    text = f"{json.dumps(LINE)}\n{broken}\n"
    path = tmp_path / "export"
    path.write_bytes(b"\xff\xfe" + text.encode("utf-16-le", "surrogatepass"))
    report = imported(path)
    assert report.totals.accepted == 1
    (unreadable,) = report.unreadable.first
    assert unreadable.place == "line 2"


def test_utf_16_without_a_mark_is_told(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(LINES.decode().encode("utf-16-le"))
    with pytest.raises(InvalidInput, match="save it as UTF-8"):
        imported(path)


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


def test_one_user_is_never_given_what_several_accounts_said(tmp_path: Path) -> None:
    path = tmp_path / "export"
    other = {**CLAUDE, "uuid": "c2", "account": {"uuid": "ben"}}
    path.write_text(json.dumps([CLAUDE, other]))
    mixed = imported(path, user="u")
    assert mixed.totals.accepted == 1
    assert "import without --user" in mixed.unreadable.first[0].reason
    apart = imported(path, user=None)
    assert [row.user_id for row in apart.conversations.first] == ["ann", "ben"]
    assert apart.unreadable.total == 0


def test_several_formats_in_a_zip_are_told_apart(tmp_path: Path) -> None:
    path = zipped(tmp_path / "a.zip", {"a": FILES["claude"], "b": FILES["jsonlines"]})
    with pytest.raises(InvalidInput, match="claude and jsonlines; import each with --format"):
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


def many_turns() -> bytes:
    """Lines that hardly compress, so that damage leaves what lies in front of it."""
    lines = [{**LINE, "user_text": os.urandom(600).hex()} for _ in range(500)]
    return "\n".join(json.dumps(line) for line in lines).encode()


@pytest.mark.parametrize("packed", ["gzip", "zip"])
def test_what_was_read_of_a_damaged_file_stands(tmp_path: Path, packed: str) -> None:
    path = tmp_path / "export"
    if packed == "zip":
        zipped(path, {"turns.jsonl": many_turns()})
    else:
        path.write_bytes(gzip.compress(many_turns()))
    raw = bytearray(path.read_bytes())
    middle = len(raw) * 9 // 10
    raw[middle : middle + 64] = bytes(64)
    path.write_bytes(raw)
    report = imported(path)
    assert 0 < report.totals.accepted < 500
    assert report.unreadable.first[-1].reason.startswith("breaks off here: cannot be decompressed")


def test_a_gzip_that_was_cut_off_is_told(tmp_path: Path) -> None:
    path = tmp_path / "export"
    path.write_bytes(gzip.compress(many_turns())[:-1000])
    report = imported(path)
    assert 0 < report.totals.accepted < 500
    assert "breaks off here" in report.unreadable.first[0].reason


class FailingFile(io.BytesIO):
    """A file on a disk that fails behind some of its bytes."""

    def __init__(self, raw: bytes, readable: int) -> None:
        super().__init__(raw)
        self._readable = readable

    def read(self, size: int | None = -1) -> bytes:
        if self.tell() >= self._readable:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_what_was_read_of_a_failing_disk_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: Callable[[bytes], bytes]
) -> None:
    raw = packed(many_turns())
    monkeypatch.setattr(sources, "_opened", lambda _path: FailingFile(raw, len(raw) * 9 // 10))
    report = imported(tmp_path / "export")
    assert 0 < report.totals.accepted < 500
    assert report.unreadable.total > 0
    told = report.unreadable.first[-1]
    assert told.place == "the file"
    assert told.reason.startswith("breaks off here: ")
    assert "Input/output error" in told.reason


def test_a_disk_that_fails_at_once_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # What tells a packer can be read, and nothing else.
    class Failing(FailingFile):
        def read(self, size: int | None = -1) -> bytes:
            self._readable, was = 0, self._readable
            if was:
                return io.BytesIO.read(self, size)
            return super().read(size)

    monkeypatch.setattr(sources, "_opened", lambda _path: Failing(many_turns(), 1))
    with pytest.raises(InvalidInput, match="cannot be read on: Input/output error"):
        imported(tmp_path / "export")


@pytest.mark.parametrize("packed", ["gzip", "zip"])
def test_a_bomb_is_told_before_it_fills_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: str
) -> None:
    monkeypatch.setattr(inflating, "RATIO_FREE_BYTES", 512 * 1024)
    raw = LINES + b"\n" + b" " * 40_000_000
    path = tmp_path / "export"
    if packed == "zip":
        zipped(path, {"turns.jsonl": raw})
    else:
        path.write_bytes(gzip.compress(raw))
    report = imported(path)
    assert report.totals.accepted == 1
    assert "200 times its size" in report.unreadable.first[-1].reason


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


@pytest.mark.parametrize(
    ("magic", "packer"),
    [(b"BZh91AY", "bzip2"), (b"\xfd7zXZ\x00", "xz"), (b"7z\xbc\xaf\x27\x1c", "7-Zip")],
)
def test_other_packers_are_told(tmp_path: Path, magic: bytes, packer: str) -> None:
    path = tmp_path / "export"
    path.write_bytes(magic + bytes(100))
    with pytest.raises(InvalidInput, match=f"is packed by {packer}; unpack it"):
        imported(path)


@pytest.mark.parametrize("raw", [b"PK\x03\x04", b"PK\x05\x06" + bytes(18), b"\x1f\x8b", b"\x1f"])
def test_a_few_bytes_that_look_like_a_packer_are_told(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "export"
    path.write_bytes(raw)
    with pytest.raises(InvalidInput):
        imported(path)


@given(st.binary(max_size=200), st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"\xff\xfe"]))
def test_no_bytes_end_an_import_but_with_words(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes, magic: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(magic + rest)
    for name in (formats.AUTO, *FILES):
        try:
            report = imported(path, format_name=name)
        except InvalidInput:
            continue
        assert report.totals.accepted == 0
