"""The labelled pairs.

``pairs.jsonl`` holds four sets. ``first`` was written before any code that compares words;
``later``, ``last`` and ``signs_and_names`` after it, to break it: what they found was mended, so
that for them, too, the figures say how the code does on what it was made for.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PAIRS = Path(__file__).with_name("pairs.jsonl")


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Two statements of one slot.

    Attributes:
        one, other: the statements.
        same: whether they say the same.
        trap: in what they differ, where they do not.
        slot: the slot.
        set: which of the sets it belongs to.
    """

    one: str
    other: str
    same: bool
    trap: str | None
    slot: str
    set: str

    def __str__(self) -> str:
        """Return the pair as a test is called."""
        return f"{self.one} / {self.other}"


def read_pairs() -> list[Pair]:
    """Return every pair."""
    lines = _PAIRS.read_text(encoding="utf-8").splitlines()
    return [_pair(json.loads(line)) for line in lines]


def _pair(fields: dict[str, Any]) -> Pair:
    return Pair(**fields)
