"""What deletions mean: versions are gone, and with them what was derived of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, MutableMapping, Sequence
from uuid import UUID

from projections.flag_fold import FlagRow
from projections.opening import OpenedOutcome
from schemas.events import MemoriesDeleted
from schemas.proposals import Operation
from schemas.records import Outcome


def deletions(outcome: Outcome) -> Iterator[UUID]:
    """Yield the versions that an outcome deletes, once all else that it says is carried out."""
    for event in outcome.events:
        if isinstance(event, MemoriesDeleted):
            yield from event.memory_ids


def up_to_deletions(counted: Sequence[OpenedOutcome]) -> Iterator[list[OpenedOutcome]]:
    """Yield outcomes in stretches, of which the last one alone may delete.

    What a stretch says may be carried out kind by kind, and its deletions behind all else.
    """
    stretch: list[OpenedOutcome] = []
    for opened in counted:
        stretch.append(opened)
        if any(deletions(opened.outcome)):
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def delete_flags(
    flags: MutableMapping[UUID, FlagRow], gone: Collection[UUID], contents: Collection[str]
) -> None:
    """Delete what was left to a person of versions that are deleted.

    Args:
        flags: the flags of their subject.
        gone: the versions.
        contents: what they said.
    """
    for flag_id, row in list(flags.items()):
        if row.raised is not None and _is_of(row.raised.proposed, gone, contents):
            del flags[flag_id]


def _is_of(proposed: Operation, gone: Collection[UUID], contents: Collection[str]) -> bool:
    named = (proposed.reference, proposed.against, *proposed.merges)
    return proposed.content in contents or any(memory_id in gone for memory_id in named)
