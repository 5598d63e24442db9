"""What an outcome adds to what was spent."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from schemas.proposals import Usage
from schemas.records import Closing, Outcome


class SpentOn(NamedTuple):
    """What is added up: the UTC day of the decision, and who was asked."""

    day: date
    extractor: str
    model: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """A sum; its fields as in :class:`~schemas.spending.Spend`."""

    closings: int = 0
    turns: int = 0
    usage: Usage = field(default_factory=Usage)

    def plus(self, other: Spent) -> Spent:
        """Return the sum of two."""
        usage = {
            name: getattr(self.usage, name) + getattr(other.usage, name)
            for name in Usage.model_fields
        }
        return Spent(
            closings=self.closings + other.closings,
            turns=self.turns + other.turns,
            usage=Usage(**usage),
        )


def spent_by(outcome: Outcome) -> tuple[SpentOn, Spent] | None:
    """Return what one outcome cost, an outcome that counts; ``None`` where nobody was asked."""
    if outcome.extractor is None or outcome.model is None:
        return None
    on = SpentOn(day=outcome.decided_at.date(), extractor=outcome.extractor, model=outcome.model)
    return on, Spent(closings=1, turns=_turns(outcome), usage=outcome.usage)


def add_spending(spent: MutableMapping[SpentOn, Spent], outcome: Outcome) -> None:
    """Add what an outcome cost."""
    found = spent_by(outcome)
    if found is not None:
        on, cost = found
        spent[on] = spent.get(on, Spent()).plus(cost)


def _turns(outcome: Outcome) -> int:
    """Return for how many turns somebody was asked; a deferred one counts when it is settled."""
    if outcome.settled:
        return len(outcome.settled)
    return int(outcome.closes == "turn" and outcome.closing is not Closing.DEFERRED)
