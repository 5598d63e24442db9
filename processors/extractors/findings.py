"""What a pattern found in a clause, before it becomes an operation."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto

from schemas.memory import MemoryKind
from schemas.slots import Slot


class Mode(Enum):
    """What the user says about a statement."""

    HOLDS = auto()
    ENDED = auto()
    """It was true and no longer is ("I no longer live in ...")."""
    DENIED = auto()
    """It is not true ("I'm not allergic to ...")."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One statement of a clause.

    Attributes:
        slot: the attribute.
        content: the statement, as of the user and as if it held, whatever the mode.
        value: the part of ``content`` that a correction replaces.
        importance: 1 to 5.
        kind: semantic but for standing orders.
        mode: whether it holds, ended or is denied.
        dated: whether a date in the clause tells since when it holds.
    """

    slot: Slot
    content: str
    value: str
    importance: int = 3
    kind: MemoryKind = MemoryKind.SEMANTIC
    mode: Mode = Mode.HOLDS
    dated: bool = False


def negated(content: str) -> str:
    """Return the statement that "Lives in Pune" or "Is vegan" has ceased to be true."""
    if content.startswith("Is "):
        return f"Is no longer {content[3:]}"
    return f"No longer {content[0].lower()}{content[1:]}"
