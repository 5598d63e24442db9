"""What a script of recall is made of: operations that a model proposes, decisions by hand."""

from __future__ import annotations

from typing import Annotated, Final, Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from schemas.commands import (
    CuratedMemory,
    Decision,
    PersonCorrects,
    PersonDeletes,
    PersonPins,
    PersonRemembers,
)
from schemas.memory import ABOUT_USER, Confidence, Memory, MemoryKind, Precision
from schemas.proposals import Action, Operation, Speaker
from schemas.slots import Slot

_KINDS: Final = {
    Slot.RULE: MemoryKind.PROCEDURAL,
    Slot.EVENT: MemoryKind.EPISODIC,
    Slot.EPISODE: MemoryKind.EPISODIC,
}
"""What sort of statement a slot usually holds, where that is not a fact."""

Label = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
"""Names a memory within its script."""

IMPORTANCE: Final = 3
"""What is taken where a script tells none."""


def usual_kind(slot: Slot) -> MemoryKind:
    """Return what sort of statement a slot usually holds."""
    return _KINDS.get(slot, MemoryKind.SEMANTIC)


class ScriptPart(BaseModel):
    """The base of everything in a script: frozen, and closed to unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Proposed(ScriptPart):
    """One operation that a model would propose for a turn.

    Attributes:
        label: names the memory that it brings forth (or confirms), for questions and for ``names``.
        does: ``add``, ``update`` or ``retract``.
        names: the label of the memory that is updated or retracted.
        content, kind, slot, about, importance, confidence, said_by, valid_from,
            valid_from_precision, expires_at: as in an operation. Of a retraction that names a
            memory they are that memory's; the kind follows from the slot where it is not told.
        quote: the words that are the evidence; the whole of what was said where it is not told.
        refused: whether the gate must refuse it, so that nothing is stored.
    """

    label: Label | None = None
    does: Action = Action.ADD
    names: str | None = None
    content: str | None = Field(default=None, min_length=1)
    kind: MemoryKind | None = None
    slot: Slot = Slot.NOTE
    about: str = Field(default=ABOUT_USER, min_length=1)
    importance: int = Field(default=IMPORTANCE, ge=1, le=5)
    confidence: Confidence = Confidence.STATED
    said_by: Speaker = Speaker.USER
    quote: str | None = None
    valid_from: AwareDatetime | None = None
    valid_from_precision: Precision = Precision.DAY
    expires_at: AwareDatetime | None = None
    refused: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.does not in {Action.ADD, Action.UPDATE, Action.RETRACT}:
            raise ValueError(f"does {self.does.value!r}: use add, update or retract")
        if self.does is Action.ADD and self.names is not None:
            raise ValueError("an add names no memory: use does = 'update', or leave out 'names'")
        if self.does is not Action.ADD and self.names is None:
            raise ValueError(f"an {self.does.value} needs the label of its memory in 'names'")
        if self.does is not Action.RETRACT and self.content is None:
            raise ValueError("needs 'content', the statement that is noted")
        return self

    def operation(self, says: str, *, named: Operation | None, reference: UUID | None) -> Operation:
        """Return the operation as a model would answer it.

        Args:
            says: what the user said.
            named: the operation that ``names`` means, if it names one.
            reference: the memory of that label, if there is one.
        """
        told = named if named is not None and self.does is Action.RETRACT else None
        return Operation(
            action=self.does,
            kind=told.kind if told else self.kind or usual_kind(self.slot),
            slot=told.slot if told else self.slot,
            about=told.about if told else self.about,
            content=told.content if told else self.content or "",
            importance=self.importance,
            confidence=self.confidence,
            quote=says if self.quote is None else self.quote,
            said_by=self.said_by,
            reference=reference,
            valid_from=self.valid_from,
            valid_from_precision=self.valid_from_precision
            if self.valid_from is not None
            else Precision.MOMENT,
            expires_at=self.expires_at,
        )


class Asker(ScriptPart):
    """Who talks or asks.

    Attributes:
        user: the user's id, exactly as an application would send it.
        tenant: the tenant's name.
    """

    user: str = Field(default="ann", min_length=1)
    tenant: str = Field(default="acme", min_length=1)

    @property
    def who(self) -> tuple[str, str]:
        """Tenant and user."""
        return (self.tenant, self.user)


class PersonsDecision(Asker):
    """What the user decides by hand about what is remembered of them.

    Attributes:
        at: when.
        does: ``remember`` something, ``correct``, ``pin``, ``unpin`` or ``delete`` a memory.
        names: the label of the memory, but for ``remember``.
        label: names the memory that stands there afterwards, of ``remember`` and ``correct``.
        content, kind, slot, about, importance, expires_at: what is to be remembered; of
            ``correct`` what is to change.
        pinned: whether what is remembered is to be served whatever is asked.
    """

    at: AwareDatetime
    does: Literal["remember", "correct", "pin", "unpin", "delete"]
    names: str | None = None
    label: Label | None = None
    content: str | None = Field(default=None, min_length=1)
    kind: MemoryKind | None = None
    slot: Slot | None = None
    about: str | None = Field(default=None, min_length=1)
    importance: int | None = Field(default=None, ge=1, le=5)
    expires_at: AwareDatetime | None = None
    pinned: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.does == "remember" and (self.content is None or self.names is not None):
            raise ValueError("remembers something new: give 'content', and leave out 'names'")
        if self.does != "remember" and self.names is None:
            raise ValueError(f"needs the label of the memory to {self.does} in 'names'")
        if self.does not in {"remember", "correct"} and self.label is not None:
            raise ValueError(f"a {self.does} gives no memory: leave out 'label'")
        return self

    def decision(self, memory: Memory | None) -> Decision:
        """Return the decision as the log holds it.

        Args:
            memory: the memory that it is about; ``None`` of ``remember`` alone.
        """
        if memory is None:
            slot = self.slot or Slot.NOTE
            return PersonRemembers(
                kind=self.kind or usual_kind(slot),
                slot=slot,
                about=self.about or ABOUT_USER,
                content=self.content or "",
                importance=self.importance or IMPORTANCE,
                expires_at=self.expires_at,
                pinned=self.pinned,
            )
        carried = CuratedMemory.model_validate(
            memory.model_dump(include=set(CuratedMemory.model_fields))
        )
        match self.does:
            case "delete":
                return PersonDeletes(memory=carried)
            case "pin" | "unpin":
                return PersonPins(memory=carried, pinned=self.does == "pin")
        return PersonCorrects(
            memory=carried,
            content=self.content,
            slot=self.slot,
            about=self.about,
            importance=self.importance,
            kind=self.kind,
            pinned=self.pinned or None,
        )
