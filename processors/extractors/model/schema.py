"""The shape of an answer: what a model is asked to keep to, and one item as it is checked here.

Every field is required and none may be null, since providers limit optional and nullable ones; what
there is nothing to say for is an empty text. The checks of ranges and lengths are repeated here:
not every provider enforces them, and some servers ignore the schema altogether.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action, Speaker
from schemas.slots import Slot

TURN: Final = "turn_operations"
SESSION: Final = "session_operations"
CONSOLIDATION: Final = "consolidation"
SUMMARY: Final = "session_summary"

_TEXT: Final[Mapping[str, Any]] = {"type": "string"}
_IMPORTANCE: Final[Mapping[str, Any]] = {"type": "integer", "enum": [1, 2, 3, 4, 5]}
_CHARACTERS_MAX: Final = 20_000
"""Of one text of an item: ten times what the gate lets pass, so that it is the one to refuse."""


def _choice(*values: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(values)}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(items: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": dict(items)}


_OPERATION: Final[Mapping[str, Any]] = {
    "action": _choice("add", "update", "retract"),
    "ref": _TEXT,
    "kind": _choice(*MemoryKind),
    "slot": _choice(*Slot),
    "about": _TEXT,
    "content": _TEXT,
    "importance": _IMPORTANCE,
    "confidence": _choice(*Confidence),
    "said_by": _choice(*Speaker),
    "quote": _TEXT,
    "valid_from": _TEXT,
    "expires": _TEXT,
}

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    TURN: _object({"operations": _list(_object(_OPERATION))}),
    SESSION: _object({"operations": _list(_object({"turn": _TEXT, **_OPERATION}))}),
    SUMMARY: _object({"sentences": _list(_TEXT)}),
    CONSOLIDATION: _object(
        {
            "merges": _list(
                _object(
                    {
                        "refs": _list(_TEXT),
                        "kind": _choice(MemoryKind.EPISODIC, MemoryKind.SEMANTIC),
                        "content": _TEXT,
                        "importance": _IMPORTANCE,
                    }
                )
            ),
            "contradictions": _list(_object({"first": _TEXT, "second": _TEXT, "why": _TEXT})),
        }
    ),
}
"""By its name, the JSON Schema of an answer."""


def _trimmed(value: object) -> object:
    """Return a text without blanks around it, in Unicode normal form C."""
    return unicodedata.normalize("NFC", value).strip() if isinstance(value, str) else value


def _folded(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _or_empty(value: object) -> object:
    return "" if value is None else value


_Text = Annotated[str, BeforeValidator(_trimmed), Field(max_length=_CHARACTERS_MAX)]
_Stated = Annotated[_Text, Field(min_length=1)]
_Optional = Annotated[_Text, BeforeValidator(_or_empty)]
_Fold = BeforeValidator(_folded)


class _Item(BaseModel):
    # What else an item holds is of no use, and no reason to lose it.
    model_config = ConfigDict(frozen=True, extra="ignore", hide_input_in_errors=True)


class OperationItem(_Item):
    """One operation of an answer, its fields as the schema names them.

    ``turn`` is of a session's answer alone.
    """

    action: Annotated[Literal[Action.ADD, Action.UPDATE, Action.RETRACT], _Fold]
    ref: _Optional = ""
    kind: Annotated[MemoryKind, _Fold]
    slot: Annotated[Slot, _Fold]
    about: _Stated
    content: _Text
    importance: int = Field(ge=1, le=5)
    confidence: Annotated[Confidence, _Fold]
    said_by: Annotated[Speaker, _Fold] = Speaker.USER
    quote: str = Field(max_length=_CHARACTERS_MAX)
    valid_from: _Optional = ""
    expires: _Optional = ""
    turn: _Optional = ""


class MergeItem(_Item):
    """One merge of a consolidation's answer."""

    refs: list[_Stated] = Field(min_length=2, max_length=200)
    kind: Annotated[Literal[MemoryKind.EPISODIC, MemoryKind.SEMANTIC], _Fold]
    content: _Stated
    importance: int = Field(ge=1, le=5)


class ContradictionItem(_Item):
    """One contradiction of a consolidation's answer; why is for the model to have thought of."""

    first: _Stated
    second: _Stated
