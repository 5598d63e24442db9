"""An extractor that writes down each call before it answers, and can be held up from outside.

It runs inside a worker process, chosen by ``MEMLEDGER_EXTRACTOR``; it remembers nothing, and what
it proposes follows from the turn's text alone.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import time
from functools import cached_property
from pathlib import Path
from typing import Final

from schemas.memory import ABOUT_USER, Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.support.journal import Control, read_control

JOURNAL_VARIABLE: Final = "TEST_EXTRACTOR_JOURNAL"
CONTROL_VARIABLE: Final = "TEST_EXTRACTOR_CONTROL"

_CITY: Final = re.compile(r"city=(\w+)")
_BLOCKED_POLL_S: Final = 0.05


class JournalExtractor:
    """Proposes a residence for ``city=X``, and the whole text as an episode otherwise."""

    name = "journal"
    model = "journal"
    prompt_hash = "journal-1"
    known_max = 3

    @cached_property
    def _journal(self) -> int:
        # A single write to a file opened for appending survives the end of the process.
        path = os.environ[JOURNAL_VARIABLE]
        return os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    @cached_property
    def _control(self) -> Path:
        return Path(os.environ[CONTROL_VARIABLE])

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Write the call down, wait as long as the control file says, and propose."""
        call = {"turn_id": str(request.turn.turn_id), "pid": os.getpid(), "began_at": time.time()}
        os.write(self._journal, json.dumps(call).encode() + b"\n")
        text = request.turn.user_text
        control = read_control(self._control)
        if control.delay_s:
            await asyncio.sleep(control.delay_s)
        while _blocked(text, control):
            await asyncio.sleep(_BLOCKED_POLL_S)
            control = read_control(self._control)
        return Extraction(operations=(operation_for(text),))


def operation_for(text: str) -> Operation:
    """Return what is proposed for a text."""
    city = _CITY.search(text)
    return Operation(
        action=Action.ADD,
        kind=MemoryKind.EPISODIC if city is None else MemoryKind.SEMANTIC,
        slot=Slot.EPISODE if city is None else Slot.RESIDENCE,
        about=ABOUT_USER,
        content=text if city is None else f"Lives in {city[1]}",
        importance=2,
        confidence=Confidence.STATED,
        quote=text if city is None else city[0],
    )


def make() -> JournalExtractor:
    """Make the extractor; the files that the environment names are needed when it is asked."""
    return JournalExtractor()


def _blocked(text: str, control: Control) -> bool:
    return any(part in text for part in control.blocked)
