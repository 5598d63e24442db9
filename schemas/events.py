"""Memory events: the decisions that the ledger consists of.

Each event names itself and its version in its own payload, since an outcome holds several. An event
is never changed once it has landed; a new shape is a new version with an upcaster in
:mod:`schemas.registry`.
"""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from schemas.memory import Memory, Record, UtcDatetime
from schemas.proposals import Operation

# Told apart from the events that carry them, and found here by whoever reads these.
from schemas.rejections import LEFT_TO_A_PERSON as LEFT_TO_A_PERSON  # noqa: PLC0414 - as above
from schemas.rejections import RejectionReason as RejectionReason  # noqa: PLC0414 - as above
from schemas.summary_events import SessionNotSummarised, SessionSummarised
from schemas.suppression import SuppressionKey


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


class Renewal(Record):
    """A confirmation moves the time at which a memory ceases by itself.

    Attributes:
        expires_at: when it ceases from now on; ``None`` for never.
    """

    expires_at: UtcDatetime | None


class MemoryConfirmed(Record):
    """The same statement was made again: nothing is added, the last confirmation moves.

    Attributes:
        memory_id: the version that was confirmed.
        turn_id: the turn that confirmed it.
        quote: the words that did.
        confirmed_at: the turn's own time.
        renewal: the expiry that counts from this confirmation on; ``None`` leaves it as it is. Of
            several confirmations the one with the latest ``confirmed_at`` counts.
    """

    event: Literal["memory-confirmed"] = "memory-confirmed"
    version: Literal[2] = 2
    memory_id: UUID
    turn_id: UUID
    quote: str
    confirmed_at: UtcDatetime
    renewal: Renewal | None = None


class MemoriesMerged(Record):
    """One memory stands for several from now on; these stay in the history and are served no more.

    Attributes:
        memory: the version that stands for them, whose ``merged_from`` names them; the first of a
            lineage of its own.
        replaces: merged versions of earlier consolidations that it stands for as well, whose own
            sources are among ``merged_from``.
    """

    event: Literal["memories-merged"] = "memories-merged"
    version: Literal[1] = 1
    memory: Memory
    replaces: tuple[UUID, ...] = ()


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


class MemoryEnded(Record):
    """What was true ceased, and nothing of its own lineage follows it.

    It was true until then: unlike a retracted statement, and unlike a superseded one it has no
    successor, since what speaks against it is of another attribute.

    Attributes:
        memory_id: the version that ceased.
        valid_to: when it ceased.
        because_of: the version that it could not hold beside.
        ended_at: when the ledger learnt it.
    """

    event: Literal["memory-ended"] = "memory-ended"
    version: Literal[1] = 1
    memory_id: UUID
    valid_to: UtcDatetime
    because_of: UUID
    ended_at: UtcDatetime


class MemoryVouched(Record):
    """A person stated what was held already: from now on it stands as that person's own statement.

    Attributes:
        memory_id: the version.
        turn_id: the person's decision.
        actor: who decided.
        vouched_at: when.
    """

    event: Literal["memory-vouched"] = "memory-vouched"
    version: Literal[1] = 1
    memory_id: UUID
    turn_id: UUID
    actor: str
    vouched_at: UtcDatetime


class MemoryPinned(Record):
    """A memory is served whatever is asked, or no longer so; the last word on it counts.

    Attributes:
        memory_id: the version.
        pinned: whether it is pinned.
        turn_id: the record that caused it.
        actor: who decided; ``None`` where the version takes over the pin of the one before it.
        pinned_at: when a person decided so.
    """

    event: Literal["memory-pinned"] = "memory-pinned"
    version: Literal[1] = 1
    memory_id: UUID
    pinned: bool
    turn_id: UUID
    actor: str | None
    pinned_at: UtcDatetime


class MemoryCorrected(Record):
    """A person said what a memory should have been.

    The version that was wrong never was true, as one that was retracted; the one that is right
    stands in its lineage, in its place in time. That is one decision, so it is one event: a
    retraction and an addition would not tell that the one took the place of the other.

    Attributes:
        corrects: the version that was wrong; ``None`` where this generation holds none.
        memory: the version that is right; its ``curated_at`` is when the person decided.
        actor: who decided.
        suppresses: the keys of what was wrong: said before the decision, it is not stored again.
    """

    event: Literal["memory-corrected"] = "memory-corrected"
    version: Literal[1] = 1
    corrects: UUID | None
    memory: Memory
    actor: str
    suppresses: tuple[SuppressionKey, ...] = ()


class MemoriesDeleted(Record):
    """A person had a memory deleted: its versions are to be gone from wherever they are held.

    It tells nothing of what they said.

    Attributes:
        memory_ids: the versions; those that stand or stood for any of them go with them, whether
            they are named or not. None where this generation holds none.
        suppresses: the keys of what they said: said before the decision, it is not stored again.
        turn_id: the person's decision.
        actor: who decided.
        deleted_at: when.
    """

    event: Literal["memories-deleted"] = "memories-deleted"
    version: Literal[1] = 1
    memory_ids: tuple[UUID, ...]
    suppresses: tuple[SuppressionKey, ...]
    turn_id: UUID
    actor: str
    deleted_at: UtcDatetime


class ProposalRejected(Record):
    """Code refused one operation of a proposal.

    Attributes:
        operation: the operation's place in the proposal, from 0.
        reasons: every rule that refused it, so that one hit never hides another.
        turn_id: the turn whose words it rests on, which of a session is one of many; ``None`` where
            that cannot be told, and in what was recorded before it was.
    """

    event: Literal["proposal-rejected"] = "proposal-rejected"
    version: Literal[1] = 1
    operation: int = Field(ge=0)
    reasons: tuple[RejectionReason, ...] = Field(min_length=1)
    turn_id: UUID | None = None


class ProposalFlagged(Record):
    """Code leaves one operation of a proposal to a person.

    Attributes:
        flag_id: names it in the queue; derived from the outcome and the operation's place, of a
            contradiction from its two memories: of equal ones the first counts.
        operation: the operation's place in the proposal, from 0.
        reasons: why a person must decide, each in ``LEFT_TO_A_PERSON``.
        proposed: the operation itself, which the person is shown.
        turn_id: the turn whose words are its evidence.
        conversation_id: the conversation of that turn; empty without one.
        said_at: when they were said.
        utc_offset_minutes: the zone that they were said in.
        flagged_at: when it was flagged.
    """

    event: Literal["proposal-flagged"] = "proposal-flagged"
    version: Literal[1] = 1
    flag_id: UUID
    operation: int = Field(ge=0)
    reasons: tuple[RejectionReason, ...] = Field(min_length=1)
    proposed: Operation
    turn_id: UUID
    conversation_id: str
    said_at: UtcDatetime
    utc_offset_minutes: int = Field(ge=-24 * 60, le=24 * 60)
    flagged_at: UtcDatetime


class FlagApproved(Record):
    """A person had a flagged operation carried out; what that did are the events behind this one.

    Attributes:
        flag_id: the flag; the first decision about it counts.
        actor: who decided.
        reason: why.
        decided_at: when.
    """

    event: Literal["flag-approved"] = "flag-approved"
    version: Literal[1] = 1
    flag_id: UUID
    actor: str
    reason: str
    decided_at: UtcDatetime


class FlagRefused(Record):
    """A person refused a flagged operation.

    Attributes:
        flag_id, actor, reason, decided_at: as in an approval.
    """

    event: Literal["flag-refused"] = "flag-refused"
    version: Literal[1] = 1
    flag_id: UUID
    actor: str
    reason: str
    decided_at: UtcDatetime


MemoryEvent = Annotated[
    MemoryAdded
    | MemorySuperseded
    | MemoryBackfilled
    | MemoryConfirmed
    | MemoriesMerged
    | MemoryRetracted
    | MemoryEnded
    | MemoryVouched
    | MemoryPinned
    | MemoryCorrected
    | MemoriesDeleted
    | ProposalRejected
    | ProposalFlagged
    | FlagApproved
    | FlagRefused
    | SessionSummarised
    | SessionNotSummarised,
    Field(discriminator="event"),
]
"""Any event of an outcome, told apart by its ``event`` field."""
