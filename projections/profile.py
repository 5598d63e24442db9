"""The profile: a small block for the part of a prompt that a provider caches.

It holds what bears on any conversation, and changes only when one of its facts does: what the
user's safety asks for, how the assistant should behave, what a person pinned, and the few facts
that stand. Which those are follows from slot and importance alone, since both belong to a version
for good; how often or how lately something was said or served moves nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final
from uuid import UUID

from projections.injection import NoteLine, line_of, note, write_block
from projections.read_model import ReadModel
from projections.reading import Row, read_rows
from projections.recall_selection import tokens_of_frame
from projections.recalled import TokenUse
from schemas.clock import utc_now
from schemas.injection import InjectionForm
from schemas.memory import ABOUT_USER, MemoryKind, Precision, Source
from schemas.ports import TokenCounter
from schemas.queries import load_queries
from schemas.slots import Slot

TOKENS_MAX: Final = 1_499
"""The most tokens of the block: under 1,500, so that it is paid for once and hardly felt."""

SECTION_MAX: Final = 20
"""The most memories of each section: a flood of one kind leaves the others their room."""

SAFETY_SLOTS: Final = (Slot.ALLERGY, Slot.NEED)

CORE_SLOTS: Final = (
    Slot.NAME,
    Slot.LANGUAGE,
    Slot.RESIDENCE,
    Slot.ORIGIN,
    Slot.OCCUPATION,
    Slot.EMPLOYER,
    Slot.BIRTHDAY,
    Slot.DIET,
    Slot.ALLERGY,
    Slot.NEED,
    Slot.RELATION,
)
"""Who somebody is, where, with whom, and what they must not be offered: an answer on any subject
may go wrong without it. In the order in which they are shown."""

CORE_IMPORTANCE: Final = 4
"""From this importance on a fact of another slot stands in the profile too."""

PASSING_SLOTS: Final = (Slot.TASK, Slot.EVENT, Slot.EPISODE)
"""What is done with soon, however important: recall brings it where it bears on a question."""

_QUERIES: Final = load_queries("projections", "sql/profile.sql")


class ProfileSection(StrEnum):
    """Why a memory stands in the profile; in the order of the block."""

    SAFETY = "safety"
    """It is of the highest importance for the user's safety or access."""
    RULES = "rules"
    """It tells how the assistant should behave."""
    PINS = "pins"
    """A person pinned it."""
    CORE = "core"
    """It is a stated fact about the user that stands, and tells who they are or weighs much."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ProfileMemory:
    """A memory of the profile.

    Attributes:
        memory_id: the version.
        section: why it stands there.
        slot, kind, content, about, importance, source: as in a memory.
        valid_from, valid_from_precision: since when it is true, and how exactly that was told.
        valid_to: ``None``: it holds now.
        pinned: whether a person pinned it.
    """

    memory_id: UUID
    section: ProfileSection
    slot: Slot
    kind: MemoryKind
    content: str
    about: str
    importance: int
    source: Source
    valid_from: datetime
    valid_from_precision: Precision
    valid_to: datetime | None
    pinned: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Profile:
    """What stands for a user.

    Attributes:
        memories: in the order of the block.
        left_out: by section, how many more there are for which there was no room.
        digest: of the block, in hexadecimal digits; the block is the same as long as this is.
        tokens: what the block costs.
        generation: the generation that was asked.
        block: the block; empty where there is nothing.
    """

    memories: tuple[ProfileMemory, ...]
    left_out: Mapping[ProfileSection, int]
    digest: str
    tokens: TokenUse
    generation: str
    block: str


class Profiles:
    """Makes profiles from one generation's read model."""

    def __init__(
        self,
        read_model: ReadModel,
        tokens: TokenCounter,
        *,
        tokens_max: int = TOKENS_MAX,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Wire the parts.

        Args:
            read_model: the generation's tables.
            tokens: counts tokens.
            tokens_max: the most tokens of a block.
            clock: the current time, aware.
        """
        self._read_model = read_model
        self._tokens = tokens
        self._tokens_max = tokens_max
        self._clock = clock

    async def profile(
        self, subject: UUID | None, form: InjectionForm = InjectionForm.TEXT
    ) -> Profile:
        """Return a subject's profile.

        Args:
            subject: whose; ``None`` for a user of whom nothing was ever heard.
            form: as text or as XML; for a form that is a message, its text.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        rows = [] if subject is None else await self._candidates(subject)
        taken = self._fitting(list(map(_memory, rows)), form)
        text = _block(taken, form)
        return Profile(
            memories=tuple(taken),
            left_out=_left_out(rows, taken),
            digest=hashlib.sha256(text.encode()).hexdigest(),
            tokens=TokenUse(
                used=self._tokens.count(text) if text else 0,
                budget=self._tokens_max,
                counter=self._tokens.name,
                exact=self._tokens.exact,
            ),
            generation=self._read_model.generation,
            block=text,
        )

    async def _candidates(self, subject: UUID) -> Sequence[Row]:
        asked = {
            "subject": subject,
            "now": self._clock(),
            "about_user": ABOUT_USER,
            "safety_slots": _names(SAFETY_SLOTS),
            "core_slots": _names(CORE_SLOTS),
            "passing_slots": _names(PASSING_SLOTS),
            "core_importance": CORE_IMPORTANCE,
            "section_max": SECTION_MAX,
            "sections": [section.value for section in ProfileSection],
        }
        return await read_rows(self._read_model, subject, _QUERIES["select_profile"], asked)

    def _fitting(
        self, candidates: Sequence[ProfileMemory], form: InjectionForm
    ) -> list[ProfileMemory]:
        """Return those for which there is room, in order; one that is too long costs no other."""
        taken: list[ProfileMemory] = []
        room = self._tokens_max - tokens_of_frame(self._tokens)
        for memory in candidates:
            # Line by line, since to count the block again for each one would keep others waiting.
            cost = self._tokens.count("\n" + note(memory, form))
            if cost <= room:
                taken.append(memory)
                room -= cost
        # A tokenizer may find more in a block than in its lines.
        while taken and self._tokens.count(_block(taken, form)) > self._tokens_max:
            taken.pop()
        return taken


def _names(slots: Sequence[Slot]) -> list[str]:
    return [slot.value for slot in slots]


def _block(memories: Sequence[ProfileMemory], form: InjectionForm) -> str:
    lines: list[NoteLine] = [line_of(memory) for memory in memories]
    return write_block(lines, form)


def _left_out(rows: Sequence[Row], taken: Sequence[ProfileMemory]) -> Mapping[ProfileSection, int]:
    stored = {ProfileSection(row["section"]): row["stored"] for row in rows}
    return {
        section: stored.get(section, 0) - sum(memory.section is section for memory in taken)
        for section in ProfileSection
    }


def _memory(row: Row) -> ProfileMemory:
    return ProfileMemory(
        memory_id=row["memory_id"],
        section=ProfileSection(row["section"]),
        slot=Slot(row["slot"]),
        kind=MemoryKind(row["kind"]),
        content=row["content"],
        about=row["about"],
        importance=row["importance"],
        source=Source(row["source"]),
        valid_from=row["valid_from"].astimezone(UTC),
        valid_from_precision=Precision(row["valid_from_precision"]),
        valid_to=row["valid_to"],
        pinned=row["pinned"],
    )
