"""Memory events: the decisions that the ledger consists of.

Each event names itself and its version in its own payload, since an outcome holds several. An event
is never changed once it has landed; a new shape is a new version with an upcaster in
:mod:`schemas.registry`.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.memory import Memory, Record, UtcDatetime


class MemoryAdded(Record):
    """A statement that the ledger did not hold: the first version of a new lineage."""

    event: Literal["memory-added"] = "memory-added"
    version: Literal[1] = 1
    memory: Memory


class MemorySuperseded(Record):
    """What was true is replaced: one version closes, the next of the same lineage opens.

    Attributes:
        closes: the version that ceased to be true at ``memory.valid_from``.
        memory: the version that holds from then on.
    """

    event: Literal["memory-superseded"] = "memory-superseded"
    version: Literal[1] = 1
    closes: UUID
    memory: Memory


class MemoryBackfilled(Record):
    """A turn that arrived late gives a version of the past; what is live stays live.

    Attributes:
        after: the version in front of it, which ceased at ``memory.valid_from``; ``None`` where
            the new version is the oldest of its lineage.
        memory: the version of the past; its ``valid_to`` is where the next one begins.
    """

    event: Literal["memory-backfilled"] = "memory-backfilled"
    version: Literal[1] = 1
    after: UUID | None
    memory: Memory


class MemoryConfirmed(Record):
    """The same statement was made again: nothing is added, the last confirmation moves.

    Attributes:
        memory_id: the version that was confirmed.
        turn_id: the turn that confirmed it.
        quote: the words that did.
        confirmed_at: the turn's own time.
    """

    event: Literal["memory-confirmed"] = "memory-confirmed"
    version: Literal[1] = 1
    memory_id: UUID
    turn_id: UUID
    quote: str
    confirmed_at: UtcDatetime


class MemoryRetracted(Record):
    """A statement turned out to be wrong: it never was true, unlike a superseded one.

    Attributes:
        memory_id: the version that is withdrawn.
        turn_id: the turn that withdrew it.
        quote: the words that did.
        retracted_at: when the ledger learnt it.
    """

    event: Literal["memory-retracted"] = "memory-retracted"
    version: Literal[1] = 1
    memory_id: UUID
    turn_id: UUID
    quote: str
    retracted_at: UtcDatetime


class RejectionReason(StrEnum):
    """Why code refused what the model proposed."""

    EVIDENCE_NOT_IN_USER_TEXT = "evidence_not_in_user_text"
    CONTENT_TOO_LONG = "content_too_long"
    CONTENT_EMPTY = "content_empty"
    UNKNOWN_REFERENCE = "unknown_reference"
    INVALID_ITEM = "invalid_item"
    NOTHING_TO_RETRACT = "nothing_to_retract"


class ProposalRejected(Record):
    """Code refused one operation of a proposal.

    Attributes:
        operation: the operation's place in the proposal, from 0.
        reasons: every rule that refused it, so that one hit never hides another.
    """

    event: Literal["proposal-rejected"] = "proposal-rejected"
    version: Literal[1] = 1
    operation: int = Field(ge=0)
    reasons: tuple[RejectionReason, ...] = Field(min_length=1)


MemoryEvent = Annotated[
    MemoryAdded
    | MemorySuperseded
    | MemoryBackfilled
    | MemoryConfirmed
    | MemoryRetracted
    | ProposalRejected,
    Field(discriminator="event"),
]
"""Any event of an outcome, told apart by its ``event`` field."""
