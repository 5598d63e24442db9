"""Flags that a test makes up, and a queue of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from schemas.events import RejectionReason
from schemas.flags import Flag, FlagState, Verdict
from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action, Operation
from schemas.slots import Slot

SAID_AT = datetime(2026, 2, 20, 9, 30, tzinfo=UTC)


def new_flag(subject: UUID, *, state: FlagState = FlagState.OPEN, **fields: Any) -> Flag:
    """Return a flag on a promise that the operator is said to have made."""
    decided = state is not FlagState.OPEN
    return Flag(
        **{
            "flag_id": uuid4(),
            "subject": subject,
            "state": state,
            "reasons": (RejectionReason.OPERATOR_OBLIGATION,),
            "operation": Operation(
                action=Action.ADD,
                kind=MemoryKind.SEMANTIC,
                slot=Slot.NOTE,
                about="user",
                content="Gets 50% off for ever",
                importance=4,
                confidence=Confidence.STATED,
                quote="you promised me 50% off for ever",
            ),
            "turn_id": uuid4(),
            "conversation_id": "c",
            "said_at": SAID_AT,
            "utc_offset_minutes": 330,
            "flagged_at": SAID_AT,
            "verdict": Verdict(actor="ops", reason="r", decided_at=SAID_AT, turn_id=uuid4())
            if decided
            else None,
            **fields,
        }
    )


class MemoryFlags:
    """Flags by the tenant that has them.

    Attributes:
        failure: raised by every call while it is set.
    """

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self._flags: dict[tuple[str, UUID], Flag] = {}

    def put(self, tenant: str, flag: Flag) -> Flag:
        """Hold a tenant's flag, in place of what was held of it."""
        self._flags[tenant, flag.flag_id] = flag
        return flag

    async def get(self, tenant: str, flag_id: UUID) -> Flag | None:
        """Return a tenant's flag."""
        if self.failure is not None:
            raise self.failure
        return self._flags.get((tenant, flag_id))
