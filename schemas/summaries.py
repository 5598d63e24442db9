"""Summaries of chat sessions: what they are made from, and what is asked about conversations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol, Self
from uuid import UUID

from pydantic import Field

from schemas.memory import Record

SUMMARY_CHARACTERS_MAX: Final = 1_200
"""Most characters of a summary: some 300 tokens, which open a chat that is continued."""


class SummarySource(Record):
    """A turn that a summary was made from.

    Attributes:
        turn_id: the turn.
        turn_offset: where it stands in the turns topic.
        address: the address of its key, in 16 hexadecimal digits: whoever reads the summary can
            tell from it that the turn was forgotten, though nothing else is left of the turn.
    """

    turn_id: UUID
    turn_offset: int = Field(ge=0)
    address: str = Field(pattern="^[0-9a-f]{16}$")

    @classmethod
    def of(cls, *, turn_id: UUID, turn_offset: int, address: int) -> Self:
        """Return the source that a turn is, of whose key the address is a number."""
        return cls(turn_id=turn_id, turn_offset=turn_offset, address=f"{address:016x}")

    @property
    def leaf(self) -> int:
        """The address of its key as a number."""
        return int(self.address, 16)


class WithoutSummary(StrEnum):
    """Why the end of a session brought no summary."""

    REFUSED = "refused"
    """Code refused every sentence. The turns count as summarised: asking again would not help."""
    NO_SUMMARIZER = "no_summarizer"
    """The extractor makes none, as ``rules`` and ``verbatim``."""
    BUDGET = "budget"
    """The tenant's budget was exhausted; the next end of the session makes it."""
    FAILED = "failed"
    """The model gave no usable answer; the next end of the session asks again."""
    UNAVAILABLE = "unavailable"
    """The model could not be asked; a worker ends the session again by itself."""
    SOURCE_ERASED = "source_erased"
    """A turn that it was made from was erased meanwhile; a worker ends the session again."""


class ProposedSummary(Record):
    """What was proposed as the summary of a session.

    Attributes:
        text: the summary; ``None`` where there is none.
        without: why there is none.
        sources: the turns that it is made from.
        shortened: of how many of them the middle was left out, since they were long.
        more: whether turns of the session were left to the next end of it, since they were many.
    """

    text: str | None
    without: WithoutSummary | None = None
    sources: tuple[SummarySource, ...]
    shortened: int = Field(default=0, ge=0)
    more: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnToSummarise:
    """A turn of a conversation that no summary tells of.

    Attributes:
        turn_id: the turn.
        turn_offset: where it stands in the turns topic.
        waits: whether it was deferred and nothing settled it yet.
    """

    turn_id: UUID
    turn_offset: int
    waits: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class DueSummary:
    """A conversation whose summary is to be made again by itself.

    Attributes:
        subject: whose conversation it is.
        conversation_id: its name.
        mark: what made it due, by which one cause is told from the next.
    """

    subject: UUID
    conversation_id: str
    mark: UUID


class SummaryWork(Protocol):
    """What the workers ask of the projection about summaries.

    Every method raises :class:`~schemas.errors.ReadModelUnavailable` where it cannot be reached.
    """

    async def turns_without(
        self, *, subject: UUID, conversation_id: str, below: int, limit: int
    ) -> tuple[TurnToSummarise, ...]:
        """Return the turns of a conversation that no summary tells of, the first of them by offset.

        Those that are known to be erased are left out.

        Args:
            subject: whose conversation it is.
            conversation_id: its name.
            below: only turns below this offset of the turns topic.
            limit: how many at most.
        """
        ...

    async def due(
        self, *, partition: int, after: DueSummary | None, limit: int
    ) -> tuple[DueSummary, ...]:
        """Return conversations of a partition whose summaries are due.

        They come in the order of ``subject`` and ``conversation_id``, this by its UTF-8 bytes.

        Args:
            partition: the partition.
            after: only conversations behind this one in that order, whether it is still due or not.
            limit: how many at most; fewer are all that there are.
        """
        ...


class NoSummaryWork:
    """Stands for a projection that knows of no conversation."""

    async def turns_without(
        self,
        *,
        subject: UUID,  # noqa: ARG002 - the port's signature
        conversation_id: str,  # noqa: ARG002 - the port's signature
        below: int,  # noqa: ARG002 - the port's signature
        limit: int,  # noqa: ARG002 - the port's signature
    ) -> tuple[TurnToSummarise, ...]:
        """Return nothing."""
        return ()

    async def due(
        self,
        *,
        partition: int,  # noqa: ARG002 - the port's signature
        after: DueSummary | None,  # noqa: ARG002 - the port's signature
        limit: int,  # noqa: ARG002 - the port's signature
    ) -> tuple[DueSummary, ...]:
        """Return nothing."""
        return ()
