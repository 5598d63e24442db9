"""What was spent, added up for ``memledger costs``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from schemas.prices import Prices, cost
from schemas.proposals import Usage
from schemas.spending import Spend


@dataclass(kw_only=True, slots=True)
class _Sum:
    """A sum of rows.

    Attributes:
        closings, turns, usage: as in a row.
        money: what of it has a known price; ``unpriced`` tells whether that is not all.
    """

    closings: int = 0
    turns: int = 0
    usage: Usage = field(default_factory=Usage)
    money: Decimal = Decimal(0)
    unpriced: bool = False

    def add(self, row: Spend, prices: Prices | None) -> None:
        """Add a row."""
        self.closings += row.closings
        self.turns += row.turns
        self.usage = self.usage + row.usage
        money = cost(prices, row.usage, row.model)
        if money is None:
            self.unpriced = True
        else:
            self.money += money

    def as_json(self) -> dict[str, Any]:
        """Return the sum; money that is not all known is ``None``, never less than it was."""
        money = None if self.unpriced else self.money
        per_turn = None if money is None or not self.turns else money / self.turns
        return {
            "closings": self.closings,
            "turns": self.turns,
            "usage": self.usage.model_dump(),
            "money": None if money is None else str(money),
            "money_per_turn": None if per_turn is None else str(per_turn),
        }


def spent_json(
    rows: Iterable[Spend], prices: Prices | None, *, since: date, tenant: str | None
) -> dict[str, Any]:
    """Return what was spent by tenant and model, by day, and in all.

    Args:
        rows: what the ledger tells.
        prices: what models cost, if that is known.
        since: the first day.
        tenant: the tenant that was asked about, or ``None``.
    """
    by_model: defaultdict[tuple[str, str, str], _Sum] = defaultdict(_Sum)
    by_day: defaultdict[tuple[date, str], _Sum] = defaultdict(_Sum)
    total = _Sum()
    unpriced: set[str] = set()
    for row in rows:
        for into in (
            by_model[row.tenant, row.extractor, row.model],
            by_day[row.day, row.tenant],
            total,
        ):
            into.add(row, prices)
        if cost(prices, row.usage, row.model) is None:
            unpriced.add(row.model)
    return {
        "since": since.isoformat(),
        "tenant": tenant,
        "currency": None if prices is None else prices.currency,
        "models": [
            {"tenant": of, "extractor": extractor, "model": model, **found.as_json()}
            for (of, extractor, model), found in sorted(by_model.items())
        ],
        "days": [
            {"day": day.isoformat(), "tenant": of, **found.as_json()}
            for (day, of), found in sorted(by_day.items())
        ],
        "total": total.as_json(),
        "unpriced_models": sorted(unpriced),
    }
