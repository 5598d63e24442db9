"""Labelled cases of the gate: one operation, what was said, and the reasons it must be refused for.

A case is one line of JSON:

- ``id``: unique among all cases.
- ``rule``: what the case is about, for people.
- ``language``: the user's, as an ISO 639-1 code.
- ``expect``: every reason for which the gate must refuse; an empty list where it must pass.
- ``user_text``, ``assistant_text``: the turn.
- ``source``: ``turn`` (the default), or ``system`` for a fact of the operator's own systems.
- ``operation``: what was proposed; what is left out is as usual: it adds a semantic note about the
  user, of importance 3, and quotes the whole of ``user_text``.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from processors.gate import Said
from schemas.errors import InvalidInput
from schemas.events import RejectionReason
from schemas.memory import ABOUT_USER, Confidence, MemoryKind
from schemas.proposals import Action, Operation, Speaker
from schemas.records import Origin, Turn
from schemas.slots import Slot

CASES: Final = Path(__file__).parents[2] / "tests" / "gate_cases"
"""Where a checkout has its cases; an installation has none."""

_MOMENT: Final = datetime(2025, 1, 1, tzinfo=UTC)
_TURN_ID: Final = UUID("00000000-0000-4000-8000-000000000000")


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProposedOperation(_Line):
    """The operation of a case; fields as in :class:`~schemas.proposals.Operation`."""

    action: Action = Action.ADD
    kind: MemoryKind = MemoryKind.SEMANTIC
    slot: Slot = Slot.NOTE
    about: str = ABOUT_USER
    content: str
    importance: int = Field(default=3, ge=1, le=5)
    quote: str | None = None
    said_by: Speaker = Speaker.USER
    reference: UUID | None = None


class GateCase(_Line):
    """One labelled case; what its fields mean is told with the module."""

    id: str = Field(min_length=1)
    rule: str = Field(min_length=1)
    language: str = Field(min_length=2, max_length=3)
    expect: tuple[RejectionReason, ...]
    user_text: str
    assistant_text: str | None = None
    source: Literal["turn", "system"] = "turn"
    operation: ProposedOperation

    def said(self) -> Said:
        """Return what the operation rests on."""
        if self.source == "system":
            return Said.by_system()
        return Said(
            Turn(
                turn_id=_TURN_ID,
                conversation_id="case",
                user_text=self.user_text,
                assistant_text=self.assistant_text,
                occurred_at=_MOMENT,
                utc_offset_minutes=0,
                received_at=_MOMENT,
                origin=Origin.HTTP,
            )
        )

    def proposed(self) -> Operation:
        """Return the operation, with what the case leaves out."""
        values = self.operation.model_dump()
        if values["quote"] is None:
            values["quote"] = self.user_text
        return Operation(confidence=Confidence.STATED, **values)


def read_cases(files: Iterable[Path]) -> list[GateCase]:
    """Read the cases of files in JSON lines.

    Raises:
        InvalidInput: a file is not there or not UTF-8, a line is no case, an id stands twice, or
            there is no case at all.
    """
    cases: list[GateCase] = []
    seen: set[str] = set()
    for file in files:
        for number, line in enumerate(_lines(file), start=1):
            if not line.strip():
                continue
            case = _case(file, number, line)
            if case.id in seen:
                raise InvalidInput(
                    field=f"{file.name}, line {number}",
                    problem=f"repeats the id {case.id!r}",
                    remedy="give each case an id of its own",
                )
            seen.add(case.id)
            cases.append(case)
    if not cases:
        raise InvalidInput(
            field="the cases", problem="are none", remedy="give --cases a file in JSON lines"
        )
    return cases


def default_files() -> list[Path]:
    """Return the files of this checkout's cases.

    Raises:
        InvalidInput: there is no checkout.
    """
    files = sorted(CASES.glob("*.jsonl"))
    if not files:
        raise InvalidInput(
            field="the cases",
            problem=f"are not beside this program ({CASES} is of a checkout)",
            remedy="give the files with --cases",
        )
    return files


def _lines(file: Path) -> list[str]:
    try:
        # Split at newlines alone: a text may hold other separators of lines.
        return file.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise InvalidInput(
            field=str(file), problem="is not there", remedy="give a file in JSON lines"
        ) from None
    except UnicodeDecodeError:
        raise InvalidInput(
            field=str(file), problem="is not UTF-8", remedy="save it as UTF-8"
        ) from None


def _case(file: Path, number: int, line: str) -> GateCase:
    try:
        return GateCase.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the line"
        raise InvalidInput(
            field=f"{file.name}, line {number}",
            problem=f"is no case: {where}: {first['msg']}",
            remedy="see deploy/evaluation/gate_cases.py for what a case holds",
        ) from None
