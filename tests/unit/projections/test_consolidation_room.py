"""Which memories one consolidation looks through, where not all find room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from projections.consolidation_room import fill_room
from schemas.memory import Memory, MemoryKind
from tests.support.log_writer import NOON, memory

EPISODES_MAX = 80
FACTS_MAX = 45
TURN = UUID(int=1)


class Held:
    """What a subject holds: as many memories as a test says."""

    def __init__(self) -> None:
        self.live: list[Memory] = []
        self.sources: dict[UUID, Memory] = {}
        self._count = 0

    def said(self, count: int, *, day: int, kind: MemoryKind = MemoryKind.EPISODIC) -> list[Memory]:
        """Hold memories for which none stands, a second apart."""
        return [self._held(kind, day) for _ in range(count)]

    def merged(
        self, count: int, *, day: int, kind: MemoryKind = MemoryKind.EPISODIC
    ) -> tuple[Memory, list[Memory]]:
        """Hold a memory that stands for so many; return it and these."""
        sources = [self._made(MemoryKind.EPISODIC, day) for _ in range(count)]
        self.sources.update((it.memory_id, it) for it in sources)
        merged = self._made(kind, day).model_copy(
            update={
                "merged_from": tuple(it.memory_id for it in sources),
                # True since the first of them, and recorded when they were merged: behind all else.
                "valid_from": sources[0].valid_from,
                "recorded_at": NOON + timedelta(days=30 + day),
            }
        )
        self.live.append(merged)
        return merged, sources

    def looked_through(
        self, *, episodes_max: int = EPISODES_MAX, facts_max: int = FACTS_MAX
    ) -> set[UUID]:
        """Return the ids of what finds room."""
        found = fill_room(self.live, self.sources, episodes_max=episodes_max, facts_max=facts_max)
        assert list(found) == sorted(found, key=lambda it: (it.valid_from, it.memory_id))
        assert len({it.memory_id for it in found}) == len(found)
        return {it.memory_id for it in found}

    def _held(self, kind: MemoryKind, day: int) -> Memory:
        self.live.append(self._made(kind, day))
        return self.live[-1]

    def _made(self, kind: MemoryKind, day: int) -> Memory:
        self._count += 1
        moment = NOON + timedelta(days=day, seconds=self._count)
        return memory(
            UUID(int=1000 + self._count), TURN, kind=kind, valid_from=moment, recorded_at=moment
        )


def ids_of(memories: Sequence[Memory]) -> set[UUID]:
    return {it.memory_id for it in memories}


def test_what_was_merged_before_keeps_out_nothing_that_is_new() -> None:
    held = Held()
    for day in (0, 1):
        held.merged(39, day=day)
    new = held.said(78, day=2)
    assert held.looked_through() == ids_of(new)


def test_merged_ones_take_what_room_is_left_whole_or_not_at_all() -> None:
    held = Held()
    older, behind_older = held.merged(9, day=0)
    held.merged(40, day=1)
    latest, behind_latest = held.merged(39, day=2)
    new = held.said(29, day=3)
    # Of 51 the latest takes 40, the one before it would need 41, and the oldest 10.
    assert held.looked_through() == ids_of([*new, latest, *behind_latest, older, *behind_older])


def test_a_merged_one_whose_source_was_withdrawn_is_not_merged_again() -> None:
    held = Held()
    _, behind = held.merged(3, day=0)
    new = held.said(2, day=1)
    del held.sources[behind[1].memory_id]
    assert held.looked_through() == ids_of(new)


def test_episodes_that_belong_nowhere_leave_half_of_the_room_to_new_ones() -> None:
    held = Held()
    old = held.said(80, day=0)
    new = held.said(30, day=9)
    assert held.looked_through() == ids_of([*old[:40], *old[-10:], *new])
    # What is told late of long ago is new, too.
    late = held.said(1, day=-9)[0].model_copy(update={"recorded_at": NOON + timedelta(days=10)})
    held.live[-1] = late
    assert late.memory_id in held.looked_through()


def test_facts_count_with_what_stands_behind_them() -> None:
    held = Held()
    merged, behind = held.merged(4, day=0, kind=MemoryKind.SEMANTIC)
    facts = held.said(40, day=1, kind=MemoryKind.SEMANTIC)
    assert held.looked_through(facts_max=45) == ids_of([*facts, merged, *behind])
    assert held.looked_through(facts_max=44) == ids_of(facts)
    assert held.looked_through(facts_max=30) == ids_of(facts[-30:])


@given(
    episodes=st.integers(0, 100),
    facts=st.integers(0, 60),
    merged=st.lists(st.tuples(st.integers(2, 45), st.booleans()), max_size=5),
    room=st.tuples(st.integers(0, 90), st.integers(0, 50)),
)
def test_the_room_holds_and_a_merged_one_is_never_without_its_sources(
    episodes: int, facts: int, merged: list[tuple[int, bool]], room: tuple[int, int]
) -> None:
    held = Held()
    held.said(episodes, day=0)
    held.said(facts, day=0, kind=MemoryKind.SEMANTIC)
    for day, (count, episodic) in enumerate(merged):
        kind = MemoryKind.EPISODIC if episodic else MemoryKind.SEMANTIC
        held.merged(count, day=day, kind=kind)
    found = held.looked_through(episodes_max=room[0], facts_max=room[1])
    assert len(found) <= sum(room)
    for live in held.live:
        assert live.memory_id not in found or found.issuperset(live.merged_from)
    plain = [it for it in held.live if not it.merged_from]
    assert len(found & ids_of(plain)) == min(episodes, room[0]) + min(facts, room[1])
