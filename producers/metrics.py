"""What the producers count."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter

TURNS_ACCEPTED: Final = Counter(
    "memledger_turns_accepted_total", "Turns that the log acknowledged, by door", ["origin"]
)
TURNS_REFUSED: Final = Counter(
    "memledger_turns_refused_total",
    "Turns that were not appended, by door and error",
    ["origin", "error"],
)
