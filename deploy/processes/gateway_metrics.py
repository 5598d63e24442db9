"""What the gateway counts beside what is appended."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter

RATE_LIMITED: Final = Counter(
    "memledger_rate_limited_total",
    "Requests that were refused since the tenant asked too much, by what it asked too much of",
    ["tenant", "policy"],
)
