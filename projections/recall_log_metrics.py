"""What recording recalls tells Prometheus."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter

RECORDED: Final = Counter(
    "memledger_recalls_recorded_total",
    "Recalls whose record the log has: what they served can be told later",
)
UNRECORDED: Final = Counter(
    "memledger_recalls_unrecorded_total",
    "Recalls that were answered and not recorded, by why: their recall_id tells nothing later",
    ("cause",),
)
