"""What flags mean: who left what to a person, and which decision about it counts."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, replace
from typing import TypeAlias
from uuid import UUID

from schemas.events import FlagApproved, FlagRefused, ProposalFlagged
from schemas.flags import FlagState
from schemas.records import Outcome

FlagDecision: TypeAlias = FlagApproved | FlagRefused


@dataclass(frozen=True, kw_only=True, slots=True)
class DecidedFlag:
    """A decision about a flag, with the curation that it came in by."""

    decision: FlagDecision
    turn_id: UUID

    @property
    def state(self) -> FlagState:
        """What the decision makes of the flag."""
        approved = isinstance(self.decision, FlagApproved)
        return FlagState.APPROVED if approved else FlagState.REFUSED


@dataclass(frozen=True, kw_only=True, slots=True)
class FlagRow:
    """A flag with the decision that counts; one of the two may be missing.

    A decision may be about a flag that this generation does not have: it is kept, and never shown.

    Attributes:
        raised: what was flagged.
        decided: the first decision.
    """

    raised: ProposalFlagged | None = None
    decided: DecidedFlag | None = None

    @property
    def state(self) -> FlagState:
        """What became of it."""
        return FlagState.OPEN if self.decided is None else self.decided.state


def raised_flags(outcome: Outcome) -> Iterator[ProposalFlagged]:
    """Yield what an outcome leaves to a person."""
    yield from (event for event in outcome.events if isinstance(event, ProposalFlagged))


def decided_flags(outcome: Outcome) -> Iterator[DecidedFlag]:
    """Yield what a person decided, of an outcome of that person's curation."""
    for event in outcome.events:
        if isinstance(event, FlagApproved | FlagRefused):
            yield DecidedFlag(decision=event, turn_id=outcome.turn_id)


def fold_flags(flags: MutableMapping[UUID, FlagRow], outcome: Outcome) -> None:
    """Fold in what an outcome says of flags; the first word counts, on either side."""
    for raised in raised_flags(outcome):
        row = flags.get(raised.flag_id, FlagRow())
        flags[raised.flag_id] = replace(row, raised=row.raised or raised)
    for decided in decided_flags(outcome):
        flag_id = decided.decision.flag_id
        row = flags.get(flag_id, FlagRow())
        flags[flag_id] = replace(row, decided=row.decided or decided)
