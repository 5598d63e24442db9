"""Finding one branch in messages that name their parents.

Every edit and every new attempt at an answer begins a branch, so a message may have several
children. What is read is one branch, from its beginning to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """How a message is tied to the others.

    Attributes:
        name: its id; ``None`` where it has none.
        parent: the id of the message before it; ``None`` where that is not told.
        begins: whether it says that nothing comes before it.
        moment: when it was said, in UTC; ``None`` where it is not told.
    """

    name: str | None
    parent: str | None
    begins: bool = False
    moment: datetime | None = None


def parents_of(links: Sequence[Link]) -> list[int | None]:
    """Return, for each message, the index of the one before it, or ``None`` at a beginning.

    A message that tells no parent, or one that is not there, follows the one in front of it in the
    file: exports list messages as they came.
    """
    indexes: dict[str, int] = {}
    for index, link in enumerate(links):
        if link.name is not None:
            indexes.setdefault(link.name, index)
    parents: list[int | None] = []
    for index, link in enumerate(links):
        found = None if link.parent is None else indexes.get(link.parent)
        if found is None and not link.begins and index:
            found = index - 1
        parents.append(found)
    return parents


def path_to(end: int, parents: Sequence[int | None]) -> list[int]:
    """Return the indexes from the beginning of a branch to its end.

    Where parents form a circle, the branch begins behind it.
    """
    path: list[int] = []
    seen: set[int] = set()
    index: int | None = end
    while index is not None and index not in seen:
        seen.add(index)
        path.append(index)
        index = parents[index]
    path.reverse()
    return path


def newest_end(links: Sequence[Link], parents: Sequence[int | None]) -> int:
    """Return the index of the newest message that no other follows.

    Of messages of the same or of no time it is the last one in the file.
    """
    followed = {parent for parent in parents if parent is not None}
    # In a circle every message is followed.
    ends = [index for index in range(len(links)) if index not in followed] or range(len(links))

    def age(index: int) -> tuple[float, int]:
        moment = links[index].moment
        return (float("-inf") if moment is None else moment.timestamp(), index)

    return max(ends, key=age)
