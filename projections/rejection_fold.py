"""What refusals mean: which operations code refused, and by which rules."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias
from uuid import UUID

from schemas.events import ProposalRejected, RejectionReason
from schemas.records import Outcome


@dataclass(frozen=True, kw_only=True, slots=True)
class Rejection:
    """An operation that was refused.

    Attributes:
        record_id: the record whose outcome refused it: the turn itself, the end of its session, a
            curation or a consolidation.
        place: the operation's place in the proposal for that record, from 0.
        turn_id: the turn whose words it rests on; ``None`` where the outcome does not tell it.
        reasons: every rule that refused it.
        rejected_at: when.
    """

    record_id: UUID
    place: int
    turn_id: UUID | None
    reasons: tuple[RejectionReason, ...]
    rejected_at: datetime

    @property
    def key(self) -> RejectionKey:
        """What names it among those of its subject."""
        return self.record_id, self.place


RejectionKey: TypeAlias = tuple[UUID, int]
"""The record, and the operation's place."""


def rejections(outcome: Outcome) -> Iterator[Rejection]:
    """Yield what an outcome refused."""
    for event in outcome.events:
        if isinstance(event, ProposalRejected):
            yield Rejection(
                record_id=outcome.turn_id,
                place=event.operation,
                turn_id=event.turn_id,
                reasons=event.reasons,
                rejected_at=outcome.decided_at,
            )


def fold_rejections(found: MutableMapping[RejectionKey, Rejection], outcome: Outcome) -> None:
    """Fold in what an outcome refused; the first word about an operation counts."""
    for rejection in rejections(outcome):
        found.setdefault(rejection.key, rejection)
