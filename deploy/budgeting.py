"""Make what holds tenants to their budgets."""

from __future__ import annotations

from collections.abc import Callable

from processors.budget import Budgets
from processors.budget_limits import BudgetLimits, require_price
from processors.ports import Budget, Unlimited
from processors.small_talk import skip_reason
from schemas.ports import Extractor
from schemas.prices import Prices
from schemas.records import Turn
from schemas.settings import Settings
from schemas.spending import Spending


def budgets_of(settings: Settings, extractor: Extractor, spending: Spending) -> Budget:
    """Return what tells whether a tenant may have a model asked.

    An extractor behind which there is no model costs nothing: its turns never wait.

    Raises:
        ConfigurationError: the file of budgets or of prices cannot be used, or money is limited and
            no price of the extractor's model is known.
    """
    limits, prices = BudgetLimits.read(settings.budgets), Prices.read(settings.prices)
    if extractor.model == extractor.name:
        return Unlimited()
    priced = prices is not None and extractor.model in prices.models
    require_price(limits, model=extractor.model, priced=priced)
    return Budgets(limits, spending, prices)


def costs_nothing_of(settings: Settings) -> Callable[[Turn], bool]:
    """Return what tells whether a turn is small talk, of which no model is asked anyway.

    Such a turn waits for no budget. What the assistant said counts only where it may be kept, as
    for the extractor itself.
    """

    def costs_nothing(turn: Turn) -> bool:
        if not settings.extractor_keep_assistant_statements:
            turn = turn.model_copy(update={"assistant_text": None})
        return skip_reason(turn) is not None

    return costs_nothing
