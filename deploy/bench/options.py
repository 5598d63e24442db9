"""How large a bench is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class BenchSize:
    """How much a bench does.

    Attributes:
        turns: turns through the whole pipeline.
        users: users that say them.
        appends: turns of each round of appending.
        probes: turns whose way to recall is timed.
        rows: memories of the large read model; the small one has a hundredth.
        memories_a_user: memories of each user in them.
        recalls: recalls that are timed in each.
    """

    turns: int = 10_000
    users: int = 500
    appends: int = 10_000
    probes: int = 300
    rows: int = 1_000_000
    memories_a_user: int = 1_000
    recalls: int = 1_000
