"""Which importer reads a file."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import BinaryIO, Final

from producers.importers.chatgpt import ChatGptImporter
from producers.importers.jsonlines import JsonLinesImporter
from producers.importers.records import Importer
from schemas.errors import InvalidInput

IMPORTERS: Final[tuple[Importer, ...]] = (ChatGptImporter(), JsonLinesImporter())
"""Every format, in the order in which a file is tried."""

AUTO: Final = "auto"
_HEAD_BYTES: Final = 256 * 1024


def importer_for(path: Path, format_name: str = AUTO) -> Importer:
    """Return the importer of a format, or the one that recognises the file.

    Raises:
        InvalidInput: there is no such format, none recognises the file, or it cannot be read.
    """
    if format_name == AUTO:
        return detect(path)
    for importer in IMPORTERS:
        if importer.name == format_name:
            return importer
    raise InvalidInput(
        field="format", problem=f"{format_name!a} is not a known format", remedy=_remedy()
    )


def detect(path: Path) -> Importer:
    """Return the importer that recognises the content of a file; its name does not matter.

    Raises:
        InvalidInput: none recognises it, it is empty, or it cannot be read.
    """
    with open_export(path) as stream:
        head = stream.read(_HEAD_BYTES)
    if not head.strip():
        raise InvalidInput(
            field="file", problem=f"{path} is empty", remedy="name the file of an export"
        )
    for importer in IMPORTERS:
        if importer.recognises(head):
            return importer
    raise InvalidInput(
        field="format", problem=f"{path} is of no format that is known here", remedy=_remedy()
    )


def open_export(path: Path) -> BinaryIO:
    """Open an export behind its byte order mark.

    Raises:
        InvalidInput: it cannot be read.
    """
    # A pipe or a device may never end, and a file is read more than once.
    if path.is_fifo() or path.is_char_device() or path.is_socket():
        raise InvalidInput(
            field="file", problem=f"{path} is no ordinary file", remedy="name the file of an export"
        )
    try:
        stream = path.open("rb")
        stream.seek(len(codecs.BOM_UTF8) if _has_mark(stream) else 0)
    except OSError as error:
        raise InvalidInput(
            field="file",
            problem=f"{path} cannot be read: {error.strerror or error}",
            remedy="name an ordinary file; it is read more than once",
        ) from None
    return stream


def _has_mark(stream: BinaryIO) -> bool:
    return stream.read(len(codecs.BOM_UTF8)) == codecs.BOM_UTF8


def _remedy() -> str:
    return f"name one with --format: {', '.join(importer.name for importer in IMPORTERS)}"
