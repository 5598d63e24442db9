"""Scripts of recall: what users said over weeks, what was noted of it, what a question must get.

A script is one ``.toml`` file in the directory of its category; ``docs/api.md`` tells how one is
written. Extraction is not measured here: each turn carries the operations that a model would
propose for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Self
from uuid import UUID, uuid5

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, model_validator

from schemas.memory import ABOUT_USER, Confidence, MemoryKind, Precision
from schemas.proposals import Action, Operation, Speaker
from schemas.records import Origin, Turn
from schemas.slots import Slot

TURN_EVERY: Final = timedelta(minutes=2)
"""How far apart the turns of a session are taken to be said."""

_KINDS: Final = {
    Slot.RULE: MemoryKind.PROCEDURAL,
    Slot.EVENT: MemoryKind.EPISODIC,
    Slot.EPISODE: MemoryKind.EPISODIC,
}
"""What sort of statement a slot usually holds, where that is not a fact."""

_NAMES: Final = UUID("6f7a0c58-0f0c-4b5e-9a41-5f0f4a8d6c17")
"""The namespace of the turns' ids, which are the same in each run."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Proposed(_Part):
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

    label: str | None = Field(default=None, pattern=r"^[a-z0-9][a-z0-9-]*$")
    does: Action = Action.ADD
    names: str | None = None
    content: str | None = Field(default=None, min_length=1)
    kind: MemoryKind | None = None
    slot: Slot = Slot.NOTE
    about: str = Field(default=ABOUT_USER, min_length=1)
    importance: int = Field(default=3, ge=1, le=5)
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
            kind=told.kind if told else self.kind or _KINDS.get(self.slot, MemoryKind.SEMANTIC),
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


class ScriptTurn(_Part):
    """What the user said, and what is proposed for it.

    Attributes:
        says: the user's words.
        answer: the assistant's.
        proposes: the operations, in order; none for small talk.
    """

    says: str = Field(min_length=1)
    answer: str | None = None
    proposes: tuple[Proposed, ...] = ()


class Asker(_Part):
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


class Session(Asker):
    """One chat session.

    Attributes:
        at: when its first turn was said; the zone is that of all its turns.
        arrives_at: when the ledger learnt of it; ``at`` where it is not told.
        turns: its turns, ``TURN_EVERY`` apart.
    """

    at: AwareDatetime
    arrives_at: AwareDatetime | None = None
    turns: tuple[ScriptTurn, ...] = Field(alias="turn", min_length=1)

    @property
    def arrived_at(self) -> datetime:
        """When the ledger learnt of its first turn."""
        return self.at if self.arrives_at is None else self.arrives_at


class Question(Asker):
    """One recall, after all sessions, and what it must give.

    Of the memories that it may serve, ``must`` and ``may`` are all that is welcome: any other one
    is an unwanted mention, whether or not ``must_not`` names it.

    Attributes:
        at: when it is asked.
        asks: the question, which is the user's newest message.
        must: labels that must be served.
        may: labels that may be.
        must_not: labels, also of other users, that the question is meant to tempt.
        stale: labels of what no longer holds (replaced, withdrawn, deleted, expired) and must not
            be served.
        never: texts that must not stand in the block of notes.
        empty: whether nothing at all must be served.
        as_of: what was true then is asked for.
        known_at: what the ledger knew then is asked for.
    """

    at: AwareDatetime
    asks: str = Field(min_length=1)
    must: tuple[str, ...] = ()
    may: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    empty: bool = False
    as_of: AwareDatetime | None = None
    known_at: AwareDatetime | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.empty and (self.must or self.may):
            raise ValueError("is 'empty' and names what is welcome: leave out 'must' and 'may'")
        if not (self.empty or self.must or self.must_not or self.stale or self.never):
            raise ValueError("expects nothing: add must, must_not, stale, never or empty = true")
        named = [*self.must, *self.may, *self.must_not, *self.stale]
        repeated = sorted({label for label in named if named.count(label) > 1})
        if repeated:
            raise ValueError(f"names {', '.join(repeated)} more than once: choose one list")
        return self


class RecallScript(_Part):
    """One script.

    Attributes:
        name: the file's name without its ending.
        category: the name of its directory.
        title: what it shows, in one line.
        language: the users', by ISO 639-1.
        held_out: whether it belongs to those that nobody looked at while anything was tuned.
        sessions: what was said.
        questions: what is asked afterwards.
    """

    name: str
    category: str
    title: str = Field(min_length=1)
    language: str = Field(min_length=2, max_length=3)
    held_out: bool = False
    sessions: tuple[Session, ...] = Field(default=(), alias="session")
    questions: tuple[Question, ...] = Field(alias="question", min_length=1)

    def told(self) -> list[ToldTurn]:
        """Return every turn, in the order in which the ledger learns of them."""
        turns = [
            ToldTurn(script=self, session=session, place=(number, index))
            for number, session in enumerate(self.sessions)
            for index in range(len(session.turns))
        ]
        return sorted(turns, key=lambda turn: turn.arrived_at)


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldTurn:
    """One turn of a script.

    Attributes:
        script, session: where it belongs.
        place: the session's place in the script, and the turn's in the session.
    """

    script: RecallScript
    session: Session
    place: tuple[int, int]

    @property
    def told(self) -> ScriptTurn:
        """What the script says of it."""
        return self.session.turns[self.place[1]]

    @property
    def arrived_at(self) -> datetime:
        """When the ledger learns of it."""
        return self.session.arrived_at + self.place[1] * TURN_EVERY

    def turn(self) -> Turn:
        """Return it as the log holds it."""
        zone = self.session.at.utcoffset() or timedelta(0)
        session, index = self.place
        return Turn(
            turn_id=uuid5(_NAMES, f"{self.script.category}/{self.script.name}/{session}/{index}"),
            conversation_id=f"{self.script.name}-{session}",
            user_text=self.told.says,
            assistant_text=self.told.answer,
            occurred_at=self.session.at + index * TURN_EVERY,
            utc_offset_minutes=int(zone.total_seconds() // 60),
            received_at=self.arrived_at,
            origin=Origin.HTTP,
        )
