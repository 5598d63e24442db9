"""Let the rules read a text, and tell what they propose in one line each."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from processors.extractors.rules import RulesExtractor
from schemas.memory import ABOUT_USER, Confidence, Memory, MemoryKind, Source
from schemas.ports import Extraction, ExtractionRequest, KnownMemory
from schemas.proposals import Operation
from schemas.slots import Slot
from tests.support.deciding import FIRST_DAY, NOW, day, turn

SAID_AT = day(163)  # Wednesday, 12 June 2024


def extract(
    text: str, *known: KnownMemory, assistant_text: str | None = None, offset: int = 0
) -> Extraction:
    """Return what the rules propose for a turn of 12 June 2024, midnight UTC."""
    said = turn(text, at=SAID_AT, assistant_text=assistant_text, utc_offset_minutes=offset)
    return asyncio.run(RulesExtractor().extract(ExtractionRequest(turn=said, known=known)))


def read(text: str, *known: KnownMemory) -> list[str]:
    """Return the operations as "slot: content", with whom and what where it is not the usual."""
    return [told(one) for one in extract(text, *known).operations]


def told(one: Operation) -> str:
    """Return one operation as text."""
    action = "" if one.action.value == "add" else f"{one.action.value} "
    whom = "" if one.about == ABOUT_USER else f" of {one.about}"
    return f"{action}{one.slot.value}{whom}: {one.content}"


def knows(content: str, slot: Slot, about: str = ABOUT_USER) -> KnownMemory:
    """Return a memory that the extractor is shown."""
    memory_id = uuid4()
    memory = Memory(
        memory_id=memory_id,
        lineage_id=memory_id,
        kind=MemoryKind.SEMANTIC,
        content=content,
        slot=slot,
        about=about,
        importance=3,
        confidence=Confidence.STATED,
        source=Source.USER,
        turn_id=uuid4(),
        conversation_id="conversation",
        quote=content,
        valid_from=FIRST_DAY,
        recorded_at=NOW,
    )
    return KnownMemory(reference="m1", memory=memory)
