"""What asking models has cost, as the ledger has it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Protocol

from schemas.proposals import Usage


@dataclass(frozen=True, kw_only=True, slots=True)
class Spend:
    """What one tenant had one model asked on one day.

    Attributes:
        day: the UTC day on which it was decided.
        tenant: the tenant's name.
        extractor: the extractor's name.
        model: the model's name.
        closings: how many turns, sessions and consolidations it was asked for.
        turns: how many turns that stands for: the end of a session for all that it settled, a turn
            that was deferred for none, and neither does a consolidation.
        usage: what it cost, in all.
    """

    day: date
    tenant: str
    extractor: str
    model: str
    closings: int
    turns: int
    usage: Usage


class Spending(Protocol):
    """Tells what was spent; rows of other tenants are never in an answer that names one."""

    async def spent(self, *, since: date, tenant: str | None = None) -> tuple[Spend, ...]:
        """Return what was spent from a UTC day on, of one tenant or of all.

        Raises:
            ReadModelUnavailable: the read model cannot be reached.
        """
        ...
