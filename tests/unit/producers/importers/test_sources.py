"""Files as they come: with byte order marks, in UTF-16, zipped as vendors do, or broken."""

from __future__ import annotations

import contextlib
import errno
import gzip
import io
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers import formats, inflating, sources
from producers.importers.formats import IMPORTERS
from producers.importers.transcoding import utf8_of
from schemas.errors import InvalidInput
from tests.unit.producers.importers.files import (
    CLAUDE,
    FILES,
    LINE,
    LINES,
    imported,
    many_turns,
    zipped,
)


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


@given(
    st.binary(max_size=200),
    st.sampled_from([b"", b"PK\x03\x04", b"\x1f\x8b\x08", b"\xff\xfe"]),
    st.sampled_from([formats.AUTO, *FILES]),
)
def test_no_bytes_end_an_import_but_with_words(
    tmp_path_factory: pytest.TempPathFactory, rest: bytes, magic: bytes, name: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "any"
    path.write_bytes(magic + rest)
    with contextlib.suppress(InvalidInput):
        assert imported(path, format_name=name).totals.accepted == 0
