"""Which of a subject's memories one consolidation looks through, where not all find room."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from schemas.memory import Memory, MemoryKind


def fill_room(
    live: Iterable[Memory],
    sources: Mapping[UUID, Memory],
    *,
    episodes_max: int,
    facts_max: int,
) -> tuple[Memory, ...]:
    """Return what a consolidation looks through, in the order it was said.

    What stands for none comes first, so that what is new is always looked at; what stands for
    others takes what is left, each with all its sources or not at all: one that is merged again is
    merged from these. Where not all episodes find room, half of it is for those that were recorded
    last and half for the longest true: neither many that belong nowhere nor many that came at once
    keep out the others.

    Args:
        live: the subject's live memories, in any order.
        sources: the versions behind merged ones, by id, where they were not withdrawn.
        episodes_max: how many episodes at most, the versions behind merged ones included.
        facts_max: how many other memories at most, likewise.
    """
    kept: dict[UUID, Memory] = {}
    by_news = sorted(live, key=_recorded, reverse=True)
    for episodic, most in ((True, episodes_max), (False, facts_max)):
        alike = [it for it in by_news if (it.kind is MemoryKind.EPISODIC) is episodic]
        plain = [it for it in alike if not it.merged_from]
        room = _Room(left=most, elsewhere=kept.keys())
        if episodic:
            room.take(sorted(plain, key=_said)[: most // 2], sources)
        room.take(plain, sources)
        room.take([it for it in alike if it.merged_from], sources)
        kept |= room.kept
    return tuple(sorted(kept.values(), key=_said))


@dataclass(kw_only=True, slots=True)
class _Room:
    """Room for so many memories more.

    Attributes:
        left: how many.
        elsewhere: what found room elsewhere, and takes none here.
        kept: what found room here.
    """

    left: int
    elsewhere: Collection[UUID]
    kept: dict[UUID, Memory] = field(default_factory=dict)

    def take(self, memories: Iterable[Memory], sources: Mapping[UUID, Memory]) -> None:
        """Keep those that fit with all their sources, in their order."""
        for memory in memories:
            if memory.memory_id in self.kept:
                continue
            behind = [sources[source] for source in memory.merged_from if source in sources]
            if len(behind) != len(memory.merged_from):
                continue  # what it stood for was withdrawn in part: nobody could merge it truly
            new = [
                it
                for it in (*behind, memory)
                if it.memory_id not in self.kept and it.memory_id not in self.elsewhere
            ]
            if len(new) <= self.left:
                self.left -= len(new)
                self.kept.update((it.memory_id, it) for it in new)


def _said(memory: Memory) -> tuple[datetime, UUID]:
    return memory.valid_from, memory.memory_id


def _recorded(memory: Memory) -> tuple[datetime, UUID]:
    return memory.recorded_at, memory.memory_id
