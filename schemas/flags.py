"""The flag queue: operations of a proposal that code left to a person, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from schemas.events import RejectionReason
from schemas.proposals import Operation


class FlagState(StrEnum):
    """What became of a flag."""

    OPEN = "open"
    APPROVED = "approved"
    REFUSED = "refused"


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """How a person decided.

    Attributes:
        actor: who decided.
        reason: why.
        decided_at: when.
        turn_id: the curation that the decision came in by.
    """

    actor: str
    reason: str
    decided_at: datetime
    turn_id: UUID


@dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """An operation that a person must decide about, or has decided about.

    Attributes:
        flag_id: names it.
        subject: whose memory it would change.
        state: what became of it.
        reasons: why a person must decide.
        operation: what was proposed.
        turn_id: the turn whose words are its evidence.
        conversation_id: the conversation of that turn; empty without one.
        said_at: when they were said, in UTC.
        utc_offset_minutes: the zone that they were said in.
        flagged_at: when it was flagged, in UTC.
        verdict: how it was decided; ``None`` while it is open.
    """

    flag_id: UUID
    subject: UUID
    state: FlagState
    reasons: tuple[RejectionReason, ...]
    operation: Operation
    turn_id: UUID
    conversation_id: str
    said_at: datetime
    utc_offset_minutes: int
    flagged_at: datetime
    verdict: Verdict | None


class Flags(Protocol):
    """Finds a flag for those who decide about it."""

    async def get(self, tenant: str, flag_id: UUID) -> Flag | None:
        """Return a flag, as far as the projection has come.

        Args:
            tenant: the tenant whose staff asks.
            flag_id: the flag.

        Returns:
            The flag; ``None`` where no user of this tenant has it, which is also the answer for a
            flag of another tenant's user.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        ...
