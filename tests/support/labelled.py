"""The labelled turns: what was said, in which language, and whether it held something."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal
from uuid import uuid4

from schemas.records import Origin, Turn

LABELLED = Path(__file__).parents[1] / "labelled"


@dataclass(frozen=True, kw_only=True, slots=True)
class LabelledTurn:
    """One turn of ``labelled/turns.jsonl``.

    Attributes:
        part: ``open``, which the check was written with, or ``held_out``, which it never saw.
        kind: whether it states a fact, is small talk, or asks for something and states nothing.
        language: its language by ISO 639-1.
        text: what the user said.
    """

    part: Literal["open", "held_out"]
    kind: Literal["fact", "small_talk", "request"]
    language: str
    text: str


def labelled_turns() -> list[LabelledTurn]:
    """Return every labelled turn."""
    lines = (LABELLED / "turns.jsonl").read_text(encoding="utf-8").splitlines()
    return [LabelledTurn(**json.loads(line)) for line in lines]


def as_turn(text: str, *, assistant_text: str | None = None) -> Turn:
    """Return a turn in which this was said."""
    said_at = datetime(2026, 3, 1, 9, tzinfo=UTC)
    return Turn(
        turn_id=uuid4(),
        conversation_id="conversation",
        user_text=text,
        assistant_text=assistant_text,
        occurred_at=said_at,
        utc_offset_minutes=0,
        received_at=said_at,
        origin=Origin.HTTP,
    )
