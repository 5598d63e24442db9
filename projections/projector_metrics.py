"""What the projector tells Prometheus."""

from __future__ import annotations

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

RECORDS_APPLIED: Final = Counter(
    "memledger_projector_records_applied_total",
    "Records of the log whose effect, if they have any, is committed",
    ("generation", "topic"),
)
OUTCOMES: Final = Counter(
    "memledger_projector_outcomes_total",
    "Outcomes that closed a turn, by how it closed",
    ("generation", "closing"),
)
DUPLICATES_IGNORED: Final = Counter(
    "memledger_projector_duplicates_ignored_total",
    "Outcomes that were left out because an earlier one had closed their turn",
    ("generation",),
)
DEAD_LETTERS_APPENDED: Final = Counter(
    "memledger_projector_dead_letters_total",
    "Records that could not be projected and were set aside",
    ("generation", "stage"),
)
VOID_CHANGES: Final = Counter(
    "memledger_projector_void_changes_total",
    "Changes of memories that are not there, such as forgotten ones",
    ("generation",),
)
VECTORS_LEFT_OUT: Final = Counter(
    "memledger_projector_vectors_left_out_total",
    "Memories stored without a vector, since they have none that this read model can hold",
    ("generation",),
)
FAILURES: Final = Counter(
    "memledger_projector_failures_total",
    "Attempts that failed and are tried again",
    ("generation", "error"),
)
POSITIONS_LOST: Final = Counter(
    "memledger_projector_positions_lost_total",
    "Batches rolled back because another projector had moved a position",
    ("generation",),
)
PARTITIONS_PARKED: Final = Gauge(
    "memledger_projector_partitions_parked",
    "Partitions that cannot go on until somebody acts: an alarm above 0",
    ("generation",),
)
APPLY_SECONDS: Final = Histogram(
    "memledger_projector_apply_seconds",
    "Seconds from the first statement of a batch to its commit",
    ("generation",),
    buckets=(0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0),
)
LAG: Final = Gauge(
    "memledger_projector_lag_records",
    "Records of an assigned partition that are not applied",
    ("generation", "topic", "partition"),
)
OPEN_TURNS: Final = Gauge(
    "memledger_projector_open_turns",
    "Turns of an assigned partition that were read and not closed",
    ("generation", "partition"),
)
TURNS_DEFERRED: Final = Gauge(
    "memledger_turns_deferred",
    "Turns of an assigned partition that wait for the end of their session, or for a budget",
    ("generation", "partition", "cause"),
)
DEFERRED_OLDEST_SECONDS: Final = Gauge(
    "memledger_deferred_oldest_seconds",
    "Seconds since the oldest of them was accepted; 0 where none waits",
    ("generation", "partition", "cause"),
)
