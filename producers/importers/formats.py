"""Which importer reads a file, and which files of an archive are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from producers.importers.chatgpt import ChatGptImporter
from producers.importers.claude import ClaudeImporter
from producers.importers.inflating import SourceBroken
from producers.importers.jsonlines import JsonLinesImporter
from producers.importers.librechat import LibreChatImporter
from producers.importers.openassistant import OpenAssistantImporter
from producers.importers.records import Importer
from producers.importers.sharegpt import ShareGptImporter
from producers.importers.sources import Export, Member
from producers.importers.tables import TableImporter
from schemas.errors import InvalidInput

IMPORTERS: Final[tuple[Importer, ...]] = (
    ChatGptImporter(),
    ClaudeImporter(),
    LibreChatImporter(),
    ShareGptImporter(),
    OpenAssistantImporter(),
    JsonLinesImporter(),
    TableImporter(),
)
"""Every format, in the order in which a file is tried."""

AUTO: Final = "auto"
HEAD_BYTES: Final = 256 * 1024
"""How much of a file is looked at to tell its format."""

_SCENT_BYTES: Final = 64


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What is read of an export.

    Attributes:
        importer: reads each of the members.
        members: those that are read, in order.
        passed_over: those of an archive that are not, since they are of no known format.
        broken: those of an archive that cannot be unpacked, and why.
    """

    importer: Importer
    members: tuple[Member, ...]
    passed_over: tuple[Member, ...] = ()
    broken: tuple[tuple[Member, str], ...] = ()


def named(format_name: str) -> Importer | None:
    """Return the importer of a format; ``None`` for ``auto``.

    Raises:
        InvalidInput: there is no such format.
    """
    if format_name == AUTO:
        return None
    for importer in IMPORTERS:
        if importer.name == format_name:
            return importer
    raise InvalidInput(
        field="format", problem=f"{format_name!a} is not a known format", remedy=_remedy()
    )


def choose(export: Export, asked: Importer | None = None) -> Choice:
    """Return how an export is read; its content decides, its name does not matter.

    Args:
        export: the export.
        asked: the importer to use, or ``None`` for the one that recognises it.

    Raises:
        InvalidInput: no importer recognises the file, it is empty, or an archive holds files of
            several formats.
    """
    if not export.is_archive:
        return Choice(importer=asked or _recognised(export), members=export.members)
    found: dict[Member, Importer | None] = {}
    broken: list[tuple[Member, str]] = []
    for member in export.members:
        try:
            found[member] = _importer_of(export, member, asked)
        except (SourceBroken, InvalidInput) as error:
            broken.append((member, str(error)))
    importers = list(dict.fromkeys(one for one in found.values() if one is not None))
    if not importers:
        wanted = "a known format" if asked is None else f"the format {asked.name}"
        unpacked = f"; of {broken[0][0].name}: {broken[0][1]}" if broken else ""
        raise InvalidInput(
            field="format",
            problem=f"{export.path} holds no file of {wanted}{unpacked}",
            remedy=_remedy(),
        )
    if len(importers) > 1:
        raise InvalidInput(
            field="format",
            problem=f"{export.path} holds files of the formats "
            f"{' and '.join(one.name for one in importers)}",
            remedy="import each with --format and its name",
        )
    return Choice(
        importer=importers[0],
        members=tuple(member for member, one in found.items() if one is not None),
        passed_over=tuple(member for member, one in found.items() if one is None),
        broken=tuple(broken),
    )


def _recognised(export: Export) -> Importer:
    (member,) = export.members
    try:
        with export.open(member) as stream:
            head = stream.read(HEAD_BYTES)
    except SourceBroken as error:
        raise InvalidInput(
            field="file", problem=f"{export.path} {error}", remedy="fetch or unpack it again"
        ) from None
    if not head.strip():
        raise InvalidInput(
            field="file", problem=f"{export.path} is empty", remedy="name the file of an export"
        )
    found = _importer_for(head)
    if found is None:
        if b"\x00" in head[:_SCENT_BYTES]:
            raise InvalidInput(
                field="file",
                problem=f"{export.path} is no text in UTF-8",
                remedy="save it as UTF-8; UTF-16 is read where it begins with a byte order mark",
            )
        raise InvalidInput(
            field="format",
            problem=f"{export.path} is of no format that is known here",
            remedy=_remedy(),
        )
    return found


def _importer_of(export: Export, member: Member, asked: Importer | None) -> Importer | None:
    with export.open(member) as stream:
        head = stream.read(_SCENT_BYTES)
        # An archive may hold thousands of pictures.
        if b"\x00" in head or not head.strip():
            return None
        head += stream.read(HEAD_BYTES - len(head))
    if asked is not None:
        return asked if asked.recognises(head) else None
    return _importer_for(head)


def _importer_for(head: bytes) -> Importer | None:
    return next((importer for importer in IMPORTERS if importer.recognises(head)), None)


def _remedy() -> str:
    return f"name one with --format: {', '.join(importer.name for importer in IMPORTERS)}"
