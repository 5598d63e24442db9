"""Opening an export: a file as it is, compressed by gzip, or the files in a zip."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self, cast

from producers.importers.archives import Archive
from producers.importers.inflating import Inflated, InflationLimit
from producers.importers.transcoding import utf8_of
from schemas.errors import InvalidInput

_MAGIC_BYTES: Final = 262
_ZIP: Final = (b"PK\x03\x04", b"PK\x05\x06")
_GZIP: Final = b"\x1f\x8b"
_OTHER_PACKERS: Final = (
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!", "RAR"),
)
_TAR: Final = (257, b"ustar")


@dataclass(frozen=True, kw_only=True, slots=True)
class Member:
    """One file of an export.

    Attributes:
        index: its place in the archive; 0 for a file that is none.
        name: its name in the archive; ``None`` for a file that is none.
    """

    index: int
    name: str | None


class Export:
    """An export that is open for reading; a context manager.

    Attributes:
        path: the file.
        members: the files that it is or holds, in order.
    """

    def __init__(self, path: Path, opened: BinaryIO | None = None) -> None:
        """Open a file and look at how it is packed.

        Args:
            path: the file.
            opened: the file itself, where it is open already and has no path: ``path`` is only
                what it is called then. It can be read from any place, and is closed with this.

        Raises:
            InvalidInput: it cannot be read, or is packed in a way that is not read here.
        """
        self.path = path
        self._file = _opened(path) if opened is None else opened
        try:
            self._size = self._file.seek(0, 2)
            self._file.seek(0)
            magic = self._file.read(_MAGIC_BYTES)
            _require_known_packer(path, magic)
            self._gzip = magic.startswith(_GZIP)
            self._archive = (
                Archive(path, self._file, self._size) if magic.startswith(_ZIP) else None
            )
        except OSError as error:
            self._file.close()
            raise _unreadable(path, error) from None
        except BaseException:
            self._file.close()
            raise
        self.members: tuple[Member, ...] = (
            (Member(index=0, name=None),)
            if self._archive is None
            else tuple(
                Member(index=index, name=name) for index, name in enumerate(self._archive.names())
            )
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    @property
    def is_archive(self) -> bool:
        """Whether it holds files."""
        return self._archive is not None

    @property
    def position(self) -> int:
        """Up to which byte the file was read, as packed as it is."""
        return self._file.tell()

    @contextmanager
    def open(self, member: Member) -> Iterator[BinaryIO]:
        """Yield a member's text in UTF-8, without a byte order mark, from its beginning.

        Raises:
            InvalidInput: it cannot be opened.
            SourceBroken: it cannot be read; so may every read of it.
        """
        if self._archive is not None:
            raw: BinaryIO | Inflated = self._archive.open(member.index)
        else:
            self._file.seek(0)
            raw = self._file
            if self._gzip:
                unpacked = cast("BinaryIO", gzip.GzipFile(fileobj=self._file, mode="rb"))
                raw = Inflated(unpacked, InflationLimit(self._size))
        try:
            yield utf8_of(raw)
        finally:
            if raw is not self._file:
                raw.close()


def _opened(path: Path) -> BinaryIO:
    # A pipe or a device may never end, and a file is read more than once.
    if path.is_fifo() or path.is_char_device() or path.is_socket():
        raise InvalidInput(
            field="file", problem=f"{path} is no ordinary file", remedy="name the file of an export"
        )
    try:
        return path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from None


def _require_known_packer(path: Path, magic: bytes) -> None:
    packers = [packer for mark, packer in _OTHER_PACKERS if magic.startswith(mark)]
    if magic.startswith(_TAR[1], _TAR[0]):
        packers.append("tar")
    if packers:
        raise InvalidInput(
            field="file",
            problem=f"{path} is packed by {packers[0]}",
            remedy="unpack it; of packed files, zip and gzip are read",
        )


def _unreadable(path: Path, error: OSError) -> InvalidInput:
    return InvalidInput(
        field="file",
        problem=f"{path} cannot be read: {error.strerror or error}",
        remedy="name an ordinary file; it is read more than once",
    )
