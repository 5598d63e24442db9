"""Labelled conversations: what was said, and which memories it should give."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from uuid import UUID, uuid5

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from schemas.errors import InvalidInput
from schemas.memory import ABOUT_USER, MemoryKind
from schemas.records import Origin, Turn
from schemas.slots import Slot

DEFAULT_CASES: Final = Path(__file__).parents[2] / "tests" / "labelled" / "conversations"
"""The cases of the source tree; an installed package has none."""

TURN_EVERY: Final = timedelta(minutes=2)
"""How far apart the turns of a conversation are taken to be said."""

_NAMES: Final = UUID("0b5a7f0e-51c4-4c0c-9a0b-1f6f5f0f2d11")
"""The namespace of the turns' ids, which are the same in each run."""


class _Case(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Label(_Case):
    """A memory that a turn should give.

    Attributes:
        kind: what sort of statement it is; figures are told by it, nothing is matched by it.
        slots: the slots under which it may be filed, the best first.
        about: the spellings of whom it may be about.
        words: what its content must hold: of each group at least one, whatever case and accents.
        optional: whether it may be given and need not: it makes a memory right, and is no miss.
    """

    kind: MemoryKind
    slots: tuple[Slot, ...] = Field(min_length=1)
    about: tuple[str, ...] = Field(default=(ABOUT_USER,), min_length=1)
    words: tuple[tuple[str, ...], ...] = Field(min_length=1)
    optional: bool = False


class LabelledTurn(_Case):
    """One turn with its labels.

    Attributes:
        user: what the user said.
        assistant: what the assistant answered.
        memories: what the turn should give; nothing, where there is none.
        never: what no memory of this turn may hold.
        gone: what no live memory of the user may hold at the conversation's end.
    """

    user: str
    assistant: str | None = None
    memories: tuple[Label, ...] = ()
    never: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


class LabelledConversation(_Case):
    """One conversation, of a user of its own.

    Attributes:
        name: the file's name without its ending.
        language: by ISO 639-1.
        domain: what sort of assistant it is with.
        begins_at: when the first turn was said; its zone is that of all turns.
        turns: the turns, in order.
    """

    name: str = Field(min_length=1)
    language: str = Field(min_length=2)
    domain: str = Field(min_length=1)
    begins_at: AwareDatetime
    turns: tuple[LabelledTurn, ...] = Field(min_length=1)

    def said(self) -> list[Turn]:
        """Return the turns as the log would hold them."""
        zone = self.begins_at.utcoffset() or timedelta(0)
        return [
            self._turn(index, labelled, int(zone.total_seconds() // 60))
            for index, labelled in enumerate(self.turns)
        ]

    def _turn(self, index: int, labelled: LabelledTurn, utc_offset_minutes: int) -> Turn:
        said_at: datetime = self.begins_at + index * TURN_EVERY
        return Turn(
            turn_id=uuid5(_NAMES, f"{self.name}/{index}"),
            conversation_id=self.name,
            user_text=labelled.user,
            assistant_text=labelled.assistant,
            occurred_at=said_at,
            utc_offset_minutes=utc_offset_minutes,
            received_at=said_at,
            origin=Origin.IMPORT,
        )


def read_conversations(directory: Path | None) -> list[LabelledConversation]:
    """Return the conversations of a directory: one in each ``.json`` file, by name.

    Args:
        directory: where they are; ``None`` for those of the source tree.

    Raises:
        InvalidInput: there is none, or one does not fit; the message names file and field.
    """
    place = DEFAULT_CASES if directory is None else directory
    paths = sorted(place.glob("*.json"))
    if not paths:
        raise InvalidInput(
            field="--cases",
            problem=f"finds no .json file in {place}",
            remedy="name a directory with labelled conversations, such as tests/labelled/"
            "conversations of the source tree",
        )
    return [_read(path) for path in paths]


def _read(path: Path) -> LabelledConversation:
    class Named(LabelledConversation):
        name: str = path.stem

    try:
        return Named.model_validate_json(path.read_bytes())
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in detail['loc']) or 'the file'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_input=False)
        )
        raise InvalidInput(
            field="--cases", problem=f"holds {path.name}, in which {problems}", remedy="mend it"
        ) from None
