"""What a worker counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Protocol
from weakref import WeakSet

from prometheus_client import Counter, Gauge, Histogram

CLOSED: Final = Counter(
    "memledger_turns_closed_total",
    "Turns whose outcome was appended, by how they closed",
    ["closing"],
)
DEFERRED: Final = Counter(
    "memledger_deferrals_total",
    "Turns whose deferral was appended, by what they wait for",
    ["cause"],
)
SESSIONS_ENDED: Final = Counter(
    "memledger_sessions_ended_total",
    "Ends of chat sessions whose outcome was appended, by result",
    ["result"],
)
CONSOLIDATIONS: Final = Counter(
    "memledger_consolidations_total",
    "Consolidations whose outcome was appended, by result",
    ["result"],
)
SKIPPED: Final = Counter(
    "memledger_turns_skipped_total", "Turn records that needed no work, by reason", ["reason"]
)
EXTRACTIONS: Final = Counter(
    "memledger_extractions_total", "Calls of the extractor, by result", ["result"]
)
EXTRACTION_SECONDS: Final = Histogram(
    "memledger_extraction_seconds",
    "Duration of one call of the extractor",
    buckets=(0.001, 0.01, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60),
)
PROPOSALS_REUSED: Final = Counter(
    "memledger_proposals_reused_total", "Turns that were decided from a proposal that stood already"
)
INVALID_ITEMS: Final = Counter(
    "memledger_proposal_items_invalid_total", "Items of extractor answers that could not be read"
)
EVENTS: Final = Counter("memledger_memory_events_total", "Memory events appended", ["event"])
REJECTIONS: Final = Counter(
    "memledger_proposals_rejected_total",
    "Proposed operations that code refused, by each reason for it",
    ["reason"],
)
FLAGS: Final = Counter(
    "memledger_proposals_flagged_total",
    "Proposed operations that were left to a person, by each reason for it",
    ["reason"],
)
DEAD_LETTERS: Final = Counter(
    "memledger_dead_letters_total", "Records given up, by stage and error", ["stage", "error"]
)
EMBEDDINGS_MISSING: Final = Counter(
    "memledger_embeddings_missing_total", "Memories appended without a vector, which is made later"
)
RETRIES: Final = Counter(
    "memledger_worker_retries_total", "Steps tried again since a part was unavailable", ["error"]
)
IN_FLIGHT: Final = Gauge("memledger_extractions_in_flight", "Turns in the extractor now")
WAITING: Final = Gauge("memledger_turns_waiting", "Turns that this worker holds and has not closed")
PARTITIONS: Final = Gauge(
    "memledger_partitions_held", "Partitions that this worker holds, by state", ["state"]
)


class Holder(Protocol):
    """What holds partitions: one for each worker of the process."""

    @property
    def waiting(self) -> int:
        """How many turns are held and not closed."""
        ...

    @property
    def ready(self) -> Mapping[int, bool]:
        """By partition that is held, whether it is caught up with."""
        ...


_HOLDERS: Final[WeakSet[Holder]] = WeakSet()


def watch(holder: Holder) -> None:
    """Let the gauges tell of a worker, too, for as long as it lives."""
    _HOLDERS.add(holder)


def _held(*, ready: bool) -> int:
    return sum(list(holder.ready.values()).count(ready) for holder in list(_HOLDERS))


WAITING.set_function(lambda: sum(holder.waiting for holder in list(_HOLDERS)))
PARTITIONS.labels("ready").set_function(lambda: _held(ready=True))
PARTITIONS.labels("catching_up").set_function(lambda: _held(ready=False))
