"""The floor of an outcome: a successor that reads from it misses no proposal of an open turn."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from processors.known_proposals import KnownProposals

A, B, C = (UUID(int=number) for number in range(3))


def test_a_proposal_is_needed_until_the_outcome_of_its_turn_is_delivered() -> None:
    known = KnownProposals()
    known.appended(A, 0)
    known.appended(B, 1)
    assert known.floor(closing=B) == 0
    assert known.floor(closing=A) == 1
    assert known.floor() == 0
    known.closed(A)
    assert known.floor() == 1
    assert known.floor(closing=B) == 2
    known.closed(B)
    assert known.floor() == 2


def test_a_hole_holds_the_floor_back_until_it_is_read() -> None:
    known = KnownProposals()
    known.appended(A, 0)
    known.appended(C, 2)
    known.closed(A)
    assert known.floor(closing=C) == 1
    known.read([(B, 1), (C, 2)], end=3, turns_end=9)
    assert known.end == 3
    assert known.floor(closing=C) == 1
    known.closed(B)
    assert known.floor(closing=C) == 3


def test_acknowledgements_out_of_order_leave_no_hole() -> None:
    known = KnownProposals()
    known.appended(B, 1)
    assert known.end == 0
    known.appended(A, 0)
    assert known.end == 2
    assert not known.has_hole


def test_what_stood_before_is_needed_until_its_turn_or_all_that_could_be_it_are_closed() -> None:
    known = KnownProposals()
    known.read([(A, 4), (B, 6), (A, 8)], end=9, turns_end=20)
    assert known.floor(closing=B) == 4
    known.closed(A)
    assert known.floor() == 6
    assert known.turns_closed_below(19) == frozenset()
    assert known.floor() == 6
    assert known.turns_closed_below(20) == {A, B}
    assert known.floor() == 9
    assert known.needed == 0


@dataclass
class Holder:
    """A worker that holds the partition, or believes so."""

    known: KnownProposals = field(default_factory=KnownProposals)
    unacknowledged: list[tuple[int, int]] = field(default_factory=list)
    decided: dict[int, int] = field(default_factory=dict)
    proposed: set[int] = field(default_factory=set)


class Takeovers(RuleBasedStateMachine):
    """Holders that crash, that do not know that they were replaced, and whose appends get lost."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = 0
        self.proposals: list[int] = []
        self.closed: set[int] = set()
        self.floor = 0
        self.holders = [Holder()]

    def holder(self, number: int) -> Holder:
        # The last one holds the partition; one of those before is a zombie, and a rare guest.
        return self.holders[-1] if number % 3 else self.holders[max(-3, -len(self.holders))]

    @rule()
    def turn(self) -> None:
        self.turns += 1

    @rule(who=st.integers(0, 5), which=st.integers(0, 1000), told=st.booleans())
    def propose(self, who: int, which: int, told: bool) -> None:
        holder = self.holder(who)
        free = [turn for turn in range(self.turns) if turn not in holder.proposed | self.closed]
        if not free:
            return
        turn = free[which % len(free)]
        offset = len(self.proposals)
        self.proposals.append(turn)
        if told:
            holder.proposed.add(turn)
            holder.known.appended(UUID(int=turn), offset)
        else:
            holder.unacknowledged.append((turn, offset))

    @rule(who=st.integers(0, 5), which=st.integers(0, 1000))
    def acknowledge_late(self, who: int, which: int) -> None:
        holder = self.holder(who)
        if holder.unacknowledged:
            turn, offset = holder.unacknowledged.pop(which % len(holder.unacknowledged))
            holder.proposed.add(turn)
            holder.known.appended(UUID(int=turn), offset)

    @rule(who=st.integers(0, 5), which=st.integers(0, 1000))
    def decide(self, who: int, which: int) -> None:
        holder = self.holder(who)
        if holder.proposed:
            turn = sorted(holder.proposed)[which % len(holder.proposed)]
            holder.decided[turn] = holder.known.floor(closing=UUID(int=turn))

    @rule(who=st.integers(0, 5), which=st.integers(0, 1000))
    def deliver(self, who: int, which: int) -> None:
        holder = self.holder(who)
        if holder.decided:
            turn = sorted(holder.decided)[which % len(holder.decided)]
            self.floor = max(self.floor, holder.decided.pop(turn))
            self.closed.add(turn)
            holder.known.closed(UUID(int=turn))

    @rule(who=st.integers(0, 5), which=st.integers(0, 1000))
    def close(self, who: int, which: int) -> None:
        self.decide(who, which)
        self.deliver(who, which)

    @rule(who=st.integers(0, 5))
    def read(self, who: int) -> None:
        holder = self.holder(who)
        self._read(holder, holder.known.end)

    @rule(who=st.integers(0, 5))
    def advance(self, who: int) -> None:
        head = next((turn for turn in range(self.turns) if turn not in self.closed), self.turns)
        self.holder(who).known.turns_closed_below(head)

    @rule()
    def take_over(self) -> None:
        successor = Holder()
        self._read(successor, self.floor)
        self.holders.append(successor)

    @invariant()
    def no_proposal_of_an_open_turn_lies_below_the_floor(self) -> None:
        first: dict[int, int] = {}
        for offset, turn in enumerate(self.proposals):
            first.setdefault(turn, offset)
        for turn, offset in first.items():
            assert turn in self.closed or offset >= self.floor

    def _read(self, holder: Holder, start: int) -> None:
        found = [
            (UUID(int=turn), start + place) for place, turn in enumerate(self.proposals[start:])
        ]
        holder.known.read(found, end=len(self.proposals), turns_end=self.turns)
        holder.proposed |= set(self.proposals[start:]) - self.closed


TestTakeovers = Takeovers.TestCase
TestTakeovers.settings = settings(max_examples=150, stateful_step_count=40, deadline=None)
