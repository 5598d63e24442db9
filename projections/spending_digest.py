"""Comparing the sums of what was spent with a fold of the log."""

from __future__ import annotations

from typing import TypeAlias

from projections.log_fold import FoldedPartition
from projections.spending_fold import Spent

Sums: TypeAlias = dict[tuple[object, ...], tuple[int, ...]]
"""What was spent in a partition, by tenant, day, extractor and model: closings, turns, usage."""


def sums_differ(table: Sums, folded: FoldedPartition) -> bool:
    """Tell whether the sums of a partition are not those of its log.

    What erased outcomes cost was added while they could be read: where there are any, or were until
    compaction removed them, a sum may be greater than what the log still tells.
    """
    log = _sums_of(folded)
    if not (folded.erased_offsets or folded.removed):
        return table != log
    return any(not _covers(table.get(key, ()), sums) for key, sums in log.items())


def _covers(kept: tuple[int, ...], told: tuple[int, ...]) -> bool:
    return len(kept) == len(told) and all(a >= b for a, b in zip(kept, told, strict=True))


def _sums_of(folded: FoldedPartition) -> Sums:
    sums: dict[tuple[object, ...], Spent] = {}
    for subject, state in folded.states.items():
        tenant = folded.tenants.get(subject)
        if tenant is None:  # the system's own subject, about which nobody is asked
            continue
        for on, spent in state.spent.items():
            key = (tenant, *on)
            sums[key] = sums.get(key, Spent()).plus(spent)
    return {
        key: (spent.closings, spent.turns, *spent.usage.model_dump().values())
        for key, spent in sums.items()
    }
