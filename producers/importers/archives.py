"""Zip files, as the vendors of chats send them: the chats beside pictures and accounts."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from producers.importers.inflating import Inflated, InflationLimit
from schemas.errors import InvalidInput

DIRECTORY_BYTES_MAX: Final = 8 * 1024 * 1024
"""The longest list of files of a zip, which is held in memory: about 80,000 files."""

_END: Final = struct.Struct("<4s4H2LH")
_END_MARK: Final = b"PK\x05\x06"
_IN_ZIP64: Final = 0xFFFFFFFF
_LOCATOR: Final = struct.Struct("<4sLQL")
_LOCATOR_MARK: Final = b"PK\x06\x07"
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_END_64_MARK: Final = b"PK\x06\x06"
# Beside the longest comment and what lies around it: as far back as zipfile looks.
_TAIL_BYTES: Final = _LOCATOR.size + _END.size + 0x10000
_ENCRYPTED: Final = 0x1
# Others decompress a few bytes into any number at once, which no limit holds.
_METHODS_READ: Final = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_METHOD_NAMES: Final = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 93: "zstd", 95: "xz"}


class Archive:
    """The files in a zip."""

    def __init__(self, path: Path, stream: BinaryIO, size: int) -> None:
        """Read the list of files.

        Args:
            path: its name, for people.
            stream: the zip, which is closed by whoever opened it.
            size: its length in bytes.

        Raises:
            InvalidInput: it is no whole zip, encrypted, or its list of files is too long.
        """
        self._limit = InflationLimit(size)
        try:
            _require_short_directory(path, stream, size)
            self._zip = zipfile.ZipFile(stream)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            struct.error,
            ValueError,
            OSError,
        ) as error:
            raise _broken(path, str(error)) from None
        files = [info for info in self._zip.infolist() if not info.is_dir()]
        encrypted = next((info for info in files if info.flag_bits & _ENCRYPTED), None)
        if encrypted is not None:
            raise InvalidInput(
                field="file",
                problem=f"{path} is encrypted",
                remedy="unpack it with its password, and name the file of the chats in it",
            )
        self._files = sorted(files, key=lambda info: info.filename)

    def names(self) -> Iterator[str]:
        """Yield the name of every file, in order; a name may come twice."""
        yield from (info.filename for info in self._files)

    def open(self, index: int) -> Inflated:
        """Open the file at an index of the names.

        Raises:
            InvalidInput: it cannot be opened, or is compressed in a way that is not read here.
        """
        info = self._files[index]
        if info.compress_type not in _METHODS_READ:
            method = _METHOD_NAMES.get(info.compress_type, f"method {info.compress_type}")
            raise InvalidInput(
                field="file",
                problem=f"{info.filename} is compressed by {method} in the zip",
                remedy="unpack the zip, and name the file of the chats in it; of compressed files, "
                "those by deflate are read",
            )
        try:
            stream = self._zip.open(info)
        except (
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            OSError,
            ValueError,
        ) as error:
            raise InvalidInput(
                field="file",
                problem=f"{info.filename} cannot be unpacked: {error}",
                remedy="unpack the zip with another program",
            ) from None
        return Inflated(stream, self._limit)


def _require_short_directory(path: Path, stream: BinaryIO, size: int) -> None:
    """Refuse a list of files that would fill memory, before it is read.

    Raises:
        InvalidInput: it is too long.
        BadZipFile: there is none.
    """
    tail_start = max(0, size - _TAIL_BYTES)
    stream.seek(tail_start)
    tail = stream.read(_TAIL_BYTES)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise zipfile.BadZipFile("its end is missing")
    length = _END.unpack_from(tail, at)[5]
    locator_at = at - _LOCATOR.size
    if locator_at >= 0 and tail.startswith(_LOCATOR_MARK, locator_at):
        # Some versions of zipfile look right in front of the locator, others where it says.
        in_front = _long_length(stream, tail_start + locator_at - _END_64.size, size)
        told = _long_length(stream, _LOCATOR.unpack_from(tail, locator_at)[2], size)
        if length == _IN_ZIP64 and in_front is not None:
            length = in_front
        length = max(length, in_front or 0, told or 0)
    stream.seek(0)
    if length > DIRECTORY_BYTES_MAX:
        raise InvalidInput(
            field="file",
            problem=f"the list of files of {path} is longer than {DIRECTORY_BYTES_MAX:,} bytes",
            remedy="unpack it, and name the file of the chats in it",
        )


def _long_length(stream: BinaryIO, place: int, size: int) -> int | None:
    """Return the length of the list of files as the zip64 record at a place tells it, if one is."""
    if not 0 <= place <= size - _END_64.size:
        return None
    stream.seek(place)
    record = stream.read(_END_64.size)
    return int(_END_64.unpack(record)[8]) if record.startswith(_END_64_MARK) else None


def _broken(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        field="file",
        problem=f"{path} is a broken zip file: {problem}",
        remedy="fetch it again, or unpack what is left of it",
    )
