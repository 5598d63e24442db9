"""What the importers make of exports in small, and a moment in the form that exports have."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime

from producers.importers.records import Conversation, Importer, Part
from tests.unit.producers.fakes import NOW

MORNING = "2025-05-01T08:00:00.000000Z"
"""A moment as most formats write it."""

EIGHT = datetime(2025, 5, 1, 8, tzinfo=UTC)
"""The same moment."""


def parts_of(importer: Importer, export: object) -> list[Part]:
    """What an importer makes of an export, given as bytes or as what is to be JSON."""
    raw = export if isinstance(export, bytes) else json.dumps(export).encode()
    return list(importer.parts(io.BytesIO(raw), now=NOW))


def only(importer: Importer, export: object) -> Conversation:
    """The only conversation of an export."""
    (part,) = parts_of(importer, export)
    assert isinstance(part, Conversation), part
    return part


def lines_of(*values: object) -> bytes:
    """Values as JSON lines."""
    return b"\n".join(json.dumps(value).encode() for value in values)
