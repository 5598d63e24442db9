"""Which importer reads a file, and which files of an archive are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from producers.importers.chatgpt import ChatGptImporter
from producers.importers.claude import ClaudeImporter
from producers.importers.documents import is_lines
from producers.importers.inflating import SourceBroken
from producers.importers.jsonlines import JsonLinesImporter
from producers.importers.librechat import LibreChatImporter
from producers.importers.openassistant import OpenAssistantImporter
from producers.importers.records import Importer
from producers.importers.sharegpt import ShareGptImporter
from producers.importers.sources import Export, Member
from producers.importers.tables import TableImporter, looks_like_table
from schemas.errors import InvalidInput
from schemas.json_text import decode_json

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
        passed_over: those of an archive that are not, and why: what follows "since it is".
        broken: those of an archive that cannot be unpacked, and why.
    """

    importer: Importer
    members: tuple[Member, ...]
    passed_over: tuple[tuple[Member, str], ...] = ()
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
    importers = list(
        dict.fromkeys(one for one in found.values() if one is not None and asked in {None, one})
    )
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
            remedy="import it once for each: "
            f"{', '.join(f'with --format {one.name}' for one in importers)}",
        )
    (importer,) = importers
    return Choice(
        importer=importer,
        members=tuple(member for member, one in found.items() if one is importer),
        passed_over=tuple(
            (member, _foreign(one, importer))
            for member, one in found.items()
            if one is not importer
        ),
        broken=tuple(broken),
    )


def _foreign(found: Importer | None, read: Importer) -> str:
    if found is None:
        return "of no known format"
    return f"of the format {found.name}, not {read.name}"


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
        raise _unrecognised(export, head)
    return found


def _unrecognised(export: Export, head: bytes) -> InvalidInput:
    """Return why a file is of no known format, as far as its beginning tells."""
    problem = _not_json(head)
    if problem is not None:
        return InvalidInput(
            field="file", problem=f"{export.path} {problem}", remedy="mend it, or export it again"
        )
    if looks_like_table(head):
        return InvalidInput(
            field="format",
            problem=f"{export.path} looks like a table without a header",
            remedy="begin with a line that names the columns, at least conversation_id and "
            "user_text",
        )
    return InvalidInput(
        field="format",
        problem=f"{export.path} is of no format that is known here",
        remedy=_remedy(),
    )


def _not_json(head: bytes) -> str | None:
    """Return why a file that looks like JSON is none, or ``None``.

    One that goes on behind its head is not judged by it.
    """
    if len(head) == HEAD_BYTES or head.lstrip()[:1] not in (b"{", b"[") or is_lines(head):
        return None
    try:
        decode_json(head)
    except InvalidInput as error:
        return error.problem
    return None


def _importer_of(export: Export, member: Member, asked: Importer | None) -> Importer | None:
    with export.open(member) as stream:
        head = stream.read(_SCENT_BYTES)
        # An archive may hold thousands of pictures.
        if b"\x00" in head or not head.strip():
            return None
        head += stream.read(HEAD_BYTES - len(head))
    if asked is not None and asked.recognises(head):
        return asked
    return _importer_for(head)


def _importer_for(head: bytes) -> Importer | None:
    return next((importer for importer in IMPORTERS if importer.recognises(head)), None)


def _remedy() -> str:
    return f"name one with --format: {', '.join(importer.name for importer in IMPORTERS)}"
