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
_COMMENT_BYTES_MAX: Final = 0xFFFF
_IN_ZIP64: Final = 0xFFFFFFFF
_LOCATOR: Final = struct.Struct("<4sLQL")
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_ENCRYPTED: Final = 0x1


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
            InvalidInput: it cannot be opened.
        """
        info = self._files[index]
        try:
            stream = self._zip.open(info)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError) as error:
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
    tail_start = max(0, size - _END.size - _COMMENT_BYTES_MAX)
    stream.seek(tail_start)
    tail = stream.read(_END.size + _COMMENT_BYTES_MAX)
    at = tail.rfind(_END_MARK)
    if at < 0 or len(tail) - at < _END.size:
        raise zipfile.BadZipFile("its end is missing")
    length = _END.unpack_from(tail, at)[5]
    if length == _IN_ZIP64 and at >= _LOCATOR.size:
        _, _, end_64, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
        stream.seek(end_64)
        length = _END_64.unpack(stream.read(_END_64.size))[8]
    stream.seek(0)
    if length > DIRECTORY_BYTES_MAX:
        raise InvalidInput(
            field="file",
            problem=f"the list of files of {path} is longer than {DIRECTORY_BYTES_MAX:,} bytes",
            remedy="unpack it, and name the file of the chats in it",
        )


def _broken(path: Path, problem: str) -> InvalidInput:
    return InvalidInput(
        field="file",
        problem=f"{path} is a broken zip file: {problem}",
        remedy="fetch it again, or unpack what is left of it",
    )
