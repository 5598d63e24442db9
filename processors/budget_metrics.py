"""What a worker tells of its tenants' budgets. Only tenants with a limit appear."""

from __future__ import annotations

from typing import Final

from prometheus_client import Gauge

EXHAUSTED: Final = Gauge(
    "memledger_budget_exhausted",
    "1 where a limit of the tenant's budget is reached and its turns wait, else 0",
    ["tenant"],
)
USED: Final = Gauge(
    "memledger_budget_used_ratio",
    "Share of the limit that the tenant has used most of, what is in flight included",
    ["tenant"],
)
