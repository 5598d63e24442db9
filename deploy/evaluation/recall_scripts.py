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

from pydantic import AwareDatetime, Field, model_validator

from deploy.evaluation.recall_script_parts import Asker, PersonsDecision, Proposed, ScriptPart
from projections.recall import LIMIT_DEFAULT, LIMIT_MAX
from schemas.commands import Curation
from schemas.memory import Memory, Source
from schemas.records import Origin, Turn

TURN_EVERY: Final = timedelta(minutes=2)
"""How far apart the turns of a session are taken to be said."""

_NAMES: Final = UUID("6f7a0c58-0f0c-4b5e-9a41-5f0f4a8d6c17")
"""The namespace of the turns' ids, which are the same in each run."""


class ScriptTurn(ScriptPart):
    """What the user said, and what is proposed for it.

    Attributes:
        says: the user's words.
        answer: the assistant's.
        proposes: the operations, in order; none for small talk.
    """

    says: str = Field(min_length=1)
    answer: str | None = None
    proposes: tuple[Proposed, ...] = ()


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
        limit: the most memories that the question may bring; as in a recall where none is told.
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
    limit: int = Field(default=LIMIT_DEFAULT, ge=1, le=LIMIT_MAX)
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


class RecallScript(ScriptPart):
    """One script.

    Attributes:
        name: the file's name without its ending.
        category: the name of its directory.
        title: what it shows, in one line.
        language: the users', by ISO 639-1.
        held_out: whether it belongs to those that nobody looked at while anything was tuned.
        sessions: what was said.
        curations: what was decided by hand.
        questions: what is asked afterwards.
    """

    name: str
    category: str
    title: str = Field(min_length=1)
    language: str = Field(min_length=2, max_length=3)
    held_out: bool = False
    sessions: tuple[Session, ...] = Field(default=(), alias="session")
    curations: tuple[PersonsDecision, ...] = Field(default=(), alias="curation")
    questions: tuple[Question, ...] = Field(alias="question", min_length=1)

    def told(self) -> list[ToldTurn | ToldDecision]:
        """Return turns and decisions, in the order in which the ledger learns of them."""
        turns: list[ToldTurn | ToldDecision] = [
            ToldTurn(script=self, session=session, place=(number, index))
            for number, session in enumerate(self.sessions)
            for index in range(len(session.turns))
        ]
        turns += (
            ToldDecision(script=self, decided=decided, place=place)
            for place, decided in enumerate(self.curations)
        )
        return sorted(turns, key=lambda told: told.arrived_at)


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
    def who(self) -> tuple[str, str]:
        """Tenant and user."""
        return self.session.who

    @property
    def key(self) -> str:
        """Where it stands in its file."""
        return f"session.{self.place[0]}.turn.{self.place[1]}"

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


@dataclass(frozen=True, kw_only=True, slots=True)
class ToldDecision:
    """One decision of a script.

    Attributes:
        script: where it belongs.
        decided: what the script says of it.
        place: its place in the script.
    """

    script: RecallScript
    decided: PersonsDecision
    place: int

    @property
    def who(self) -> tuple[str, str]:
        """Tenant and user."""
        return self.decided.who

    @property
    def key(self) -> str:
        """Where it stands in its file."""
        return f"curation.{self.place}"

    @property
    def arrived_at(self) -> datetime:
        """When the ledger learns of it."""
        return self.decided.at

    def curation(self, memory: Memory | None) -> Curation:
        """Return it as the log holds it.

        Args:
            memory: the memory that it is about, if it is about one.
        """
        name = f"{self.script.category}/{self.script.name}/curation/{self.place}"
        return Curation(
            turn_id=uuid5(_NAMES, name),
            source=Source.CURATION,
            actor=self.decided.user,
            decision=self.decided.decision(memory),
            occurred_at=self.decided.at,
            received_at=self.decided.at,
        )
