"""What the making of lacking vectors tells Prometheus."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge

WAITING: Final = Gauge(
    "memledger_embeddings_waiting",
    "Memories of the read model that wait for a vector, whichever worker tells it; 100000 means "
    "that many or more",
    ("generation",),
)
MADE: Final = Counter(
    "memledger_embeddings_made_later_total",
    "Vectors that were made for memories stored without one",
    ("generation",),
)
FAILED: Final = Counter(
    "memledger_embeddings_failed_total",
    "Attempts to make a vector later that failed, by what was wrong",
    ("generation", "fault"),
)
